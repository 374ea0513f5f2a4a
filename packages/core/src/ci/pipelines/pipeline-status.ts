/** The final statuses. */
export const completeStatuses = ['success', 'failed', 'canceled', 'skipped'] as const

/** The known statuses of pipelines and jobs. Records may contain others, from newer versions of GitLab. */
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

export const isComplete = (status: string): boolean => (completeStatuses as readonly string[]).includes(status)
