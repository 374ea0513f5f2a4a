import type { PipelineRecord, UpstreamPipeline, Warnings } from '@penstock/forges'
import type { Signal } from '@penstock/otlp'
import { skipCauses } from './admission.ts'
import type { ReceivedBody } from './received-body.ts'

export interface ExportPlan {
  readonly signals: readonly Signal[]
  /** Identifies the endpoint and the credential without containing a secret. */
  readonly destination: string
  readonly identity?: ExportIdentity | undefined
}

/**
 * The parts of a pipeline's identity that its record does not contain. They have the same meaning as in
 * `PipelineRecord` and its `upstream`.
 */
export interface ExportIdentity extends Pick<PipelineRecord, 'instance'> {
  readonly upstream?: Pick<UpstreamPipeline, 'instance' | 'standing'> | undefined
  /** The attempt that was found for the run. */
  readonly attempt?: number | undefined
}

export const DEFAULT_SETTLE_MS = 60_000

export interface IntakeRequest {
  /** The scope of all stored facts: pipelines of one scope are unknown in another. Contains no blanks. */
  readonly scope: string
  readonly body: ReceivedBody
  readonly receivedAtNs: bigint
  /**
   * How long the export of a run waits after the latest job hook, if the hook of the run lists no jobs. Default:
   * `DEFAULT_SETTLE_MS`.
   */
  readonly settleMs?: number | undefined
  /** Set if the run is to be read from the REST API of its forge, should its hook list no jobs. JSON for `readRun` of the forge. */
  readonly runReference?: string | undefined
  /** Set if the body is the answer of the forge's REST API: it lists all jobs, so that hooks of these jobs add nothing. */
  readonly isFetched?: true | undefined
  /** The scope of the upstream pipeline's project, if that is not `scope`; null if there is no such project. */
  readonly upstreamScope?: string | null | undefined
  /** Plans the export; called only if the pipeline is to be exported now. */
  readonly plan: (record: PipelineRecord) => Promise<ExportPlan>
}

export const notEnqueuedReasons = [
  ...skipCauses,
  'being_fetched',
  'job_hook',
  'late_job_lost',
  'nothing_to_export',
] as const
export type NotEnqueuedReason = (typeof notEnqueuedReasons)[number]

export type IntakeResult =
  | { readonly kind: 'enqueued'; readonly signals: readonly Signal[]; readonly warnings: Warnings }
  /**
   * The request was accepted, but nothing was enqueued: there is nothing to export, it cannot be exported yet, or it
   * was exported before.
   */
  | { readonly kind: 'kept'; readonly code: NotEnqueuedReason; readonly reason: string; readonly warnings: Warnings }
