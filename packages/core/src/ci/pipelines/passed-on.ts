import type { MergeRequestDetails, PipelineDetails, PipelineRecord } from '@penstock/forges'
import { storedInteger, storedMs, storedText, storedTexts, storedUrl } from './stored-values.ts'

/**
 * The values of a record that the APIs do not show. Hooks pass them on, so that another service makes the
 * same telemetry of a hook as of the record.
 */
export interface PassedOn {
  /** The page of the pipeline at its forge. */
  readonly url: string | undefined
  readonly isRefProtected: boolean | undefined
  /** Compared with the previous pipeline of the ref: `fixed`, `still_failing`, … */
  readonly refStatusName: string | undefined
  readonly failureReason: string | undefined
  /** The root that the record names. A pipeline that names itself as its source is its own root. */
  readonly rootPipelineId: number | undefined
  /** The last update according to the record. Missing in records of earlier versions. */
  readonly updatedAtMs?: number | undefined
  /** The declared stages in order, including those without jobs. */
  readonly stages: readonly string[]
  /** Whether the record lists bridges, even if there are none. */
  readonly listsBridges: boolean
  readonly mergeRequest: RecordedMergeRequest | undefined
}

const MAX_STAGES = 1_000

export const toPassedOn = (record: PipelineRecord, { url, mergeRequest }: PipelineDetails): PassedOn => ({
  url: storedUrl(url),
  isRefProtected: record.protectedRef,
  refStatusName: storedText(record.refStatusName),
  failureReason: storedText(record.failureReason),
  rootPipelineId: storedInteger(record.rootPipelineId),
  updatedAtMs: storedMs(record.updatedAtNs),
  stages: storedTexts(record.stages, MAX_STAGES),
  listsBridges: record.bridgesListed,
  mergeRequest: mergeRequest && toMergeRequest(mergeRequest),
})

export type RecordedMergeRequest = ReturnType<typeof toMergeRequest>

const toMergeRequest = (given: MergeRequestDetails) => ({
  id: storedInteger(given.id),
  iid: storedInteger(given.iid),
  title: storedText(given.title),
  sourceBranch: storedText(given.sourceBranch),
  sourceProjectId: storedInteger(given.sourceProjectId),
  targetBranch: storedText(given.targetBranch),
  targetProjectId: storedInteger(given.targetProjectId),
  state: storedText(given.state),
  mergeStatus: storedText(given.mergeStatus),
  detailedMergeStatus: storedText(given.detailedMergeStatus),
  draft: given.draft,
  workInProgress: given.workInProgress,
  url: storedUrl(given.url),
})
