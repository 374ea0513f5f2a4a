/** The meaning of a status for a reader. Each has its own colour and shape. */
export type Meaning = 'passed' | 'failed' | 'running' | 'warning' | 'queued' | 'canceled' | 'skipped' | 'manual'

interface StatusWord {
  readonly meaning: Meaning
  readonly label: string
}

const words: Readonly<Record<string, StatusWord>> = {
  success: { meaning: 'passed', label: 'Passed' },
  failed: { meaning: 'failed', label: 'Failed' },
  failure: { meaning: 'failed', label: 'Failed' },
  error: { meaning: 'failed', label: 'Failed' },
  timeout: { meaning: 'failed', label: 'Timed out' },
  running: { meaning: 'running', label: 'Running' },
  canceling: { meaning: 'canceled', label: 'Canceling' },
  canceled: { meaning: 'canceled', label: 'Canceled' },
  cancellation: { meaning: 'canceled', label: 'Canceled' },
  skipped: { meaning: 'skipped', label: 'Skipped' },
  skip: { meaning: 'skipped', label: 'Skipped' },
  manual: { meaning: 'manual', label: 'Manual' },
  created: { meaning: 'queued', label: 'Created' },
  pending: { meaning: 'queued', label: 'Pending' },
  preparing: { meaning: 'queued', label: 'Preparing' },
  scheduled: { meaning: 'queued', label: 'Scheduled' },
  waiting_for_resource: { meaning: 'queued', label: 'Waiting' },
  waiting_for_callback: { meaning: 'queued', label: 'Waiting' },
}

/** Returns the meaning and the label of a status word of the service. Unknown words are shown as they are. */
export function statusWord(status: string | null | undefined): StatusWord {
  if (status == null || status === '') return { meaning: 'skipped', label: 'Unknown' }
  return words[status] ?? { meaning: 'manual', label: status }
}

/** The statuses that filters offer, with their labels. */
export const filterStatuses = ['success', 'failed', 'canceled', 'skipped', 'running'].map((value) => ({
  value,
  label: statusWord(value).label,
}))
