/** Statuses after which nothing runs any more. */
export const completeStatuses = ['success', 'failed', 'canceled', 'skipped'] as const

/** Every status a pipeline or a job can have today; records may tell others. @see spec/pipeline-telemetry.md 1.4 */
export const pipelineStatuses = [
  'created',
  'waiting_for_resource',
  'preparing',
  'waiting_for_callback',
  'pending',
  'running',
  ...completeStatuses,
  'canceling',
  'manual',
  'scheduled',
] as const
export type PipelineStatus = (typeof pipelineStatuses)[number]

const canonical: ReadonlyMap<string, PipelineStatus> = new Map([
  ...pipelineStatuses.map((status) => [status, status] as const),
  ['failure', 'failed'],
  ['cancelled', 'canceled'],
])

/** The word for a status in any case or spelling; an unknown word stays as it is. */
export const canonicalStatus = (status: string): string => canonical.get(status.trim().toLowerCase()) ?? status

export const isComplete = (status: string): boolean => (completeStatuses as readonly string[]).includes(status)
