import type { Job, Pipeline } from './pipeline.ts'
import type { PipelineStatus } from './pipeline-status.ts'

/** The words and the icon that show a status to people. */
export interface StatusWording {
  readonly text: string
  readonly label: string
  /** The status as one word for programs; a success with warnings has a word of its own. */
  readonly group: string
  readonly icon: string
}

/** The text, and the label if it differs. */
const wording: Readonly<Record<PipelineStatus, readonly [text: string, label?: string]>> = {
  created: ['Created'],
  waiting_for_resource: ['Waiting', 'waiting for resource'],
  preparing: ['Preparing'],
  waiting_for_callback: ['Waiting', 'waiting for callback'],
  pending: ['Pending'],
  running: ['Running'],
  success: ['Passed'],
  failed: ['Failed'],
  canceled: ['Canceled'],
  skipped: ['Skipped'],
  canceling: ['Canceling'],
  manual: ['Blocked', 'waiting for manual action'],
  scheduled: ['Delayed', 'waiting for delayed job'],
}
const WITH_WARNINGS = 'passed with warnings'

export function pipelineStatusWording(pipeline: Pick<Pipeline, 'status' | 'detailedStatus'>): StatusWording {
  const { label, ...words } = statusWording(pipeline.status, hasWarnings(pipeline))
  return { ...words, label: pipeline.detailedStatus ?? label }
}

/** Returns whether jobs failed that were allowed to fail. */
export const hasWarnings = ({ status, detailedStatus }: Pick<Pipeline, 'status' | 'detailedStatus'>): boolean =>
  status === 'success' && detailedStatus === WITH_WARNINGS

export function jobStatusWording({ status, allowFailure }: Pick<Job, 'status' | 'allowFailure'>): StatusWording {
  if (status !== 'failed' || !allowFailure) return statusWording(status)
  return {
    text: 'Failed',
    label: 'failed (allowed to fail)',
    group: 'failed-with-warnings',
    icon: 'status_warning',
  }
}

export function statusWording(status: string, isWithWarnings = false): StatusWording {
  if (status === 'success' && isWithWarnings) {
    return { text: 'Warning', label: WITH_WARNINGS, group: 'success-with-warnings', icon: 'status_warning' }
  }
  const [text, label = text.toLowerCase()] = Object.hasOwn(wording, status)
    ? wording[status as PipelineStatus]
    : ([status, status] as const)
  return { text, label, group: status.replaceAll('_', '-'), icon: `status_${status}` }
}

/** Returns the path of the icon of a status at GitLab. Typed clients expect one, although it is not served here. */
export const faviconOfStatus = ({ icon }: Pick<StatusWording, 'icon'>): string =>
  `/assets/ci_favicons/favicon_${encodeURIComponent(icon)}.png`
