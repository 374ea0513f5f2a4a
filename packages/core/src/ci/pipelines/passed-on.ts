import { z } from 'zod'
import { flag, lenient, moment, replaceInvalid, someId, text, textsUpTo } from './record-fields.ts'

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

const MAX_URL_LENGTH = 2_048
const MAX_STAGES = 1_000

/** A URL is kept whole or not at all. A user and password in it are removed. */
const webUrl = lenient(
  z
    .string()
    .max(MAX_URL_LENGTH)
    .transform((given) => replaceInvalid(given.trim().replace(/^(https?:\/\/)[^/?#]*@/i, '$1')))
    .refine((given) => /^https?:\/\/\S+$/i.test(given)),
)

const mergeRequest = z.object({
  id: someId,
  iid: someId,
  title: text,
  sourceBranch: text,
  sourceProjectId: someId,
  targetBranch: text,
  targetProjectId: someId,
  state: text,
  mergeStatus: text,
  detailedMergeStatus: text,
  draft: flag,
  workInProgress: flag,
  url: webUrl,
})
export type RecordedMergeRequest = z.output<typeof mergeRequest>

/** The schemas of these members in a record. */
export const passedOnMembers = {
  objectAttributes: {
    url: webUrl,
    protectedRef: flag,
    refStatusName: text,
    failureReason: text,
    rootPipelineId: someId,
    updatedAt: moment,
    stages: textsUpTo(MAX_STAGES),
  },
  mergeRequest: lenient(mergeRequest),
}

interface Recorded {
  readonly pipelineId: number
  readonly objectAttributes: z.output<z.ZodObject<typeof passedOnMembers.objectAttributes>>
  readonly sourcePipeline?: { readonly pipelineId?: number | undefined } | undefined
  readonly mergeRequest?: RecordedMergeRequest | undefined
  readonly bridges?: readonly unknown[] | undefined
}

export function toPassedOn(record: Recorded): PassedOn {
  const { pipelineId, objectAttributes: run, sourcePipeline, mergeRequest, bridges } = record
  const ownRoot = sourcePipeline?.pipelineId === pipelineId ? pipelineId : undefined
  return {
    url: run.url,
    isRefProtected: run.protectedRef,
    refStatusName: run.refStatusName,
    failureReason: run.failureReason,
    rootPipelineId: run.rootPipelineId ?? ownRoot,
    updatedAtMs: run.updatedAt,
    stages: run.stages ?? [],
    listsBridges: bridges !== undefined,
    mergeRequest,
  }
}
