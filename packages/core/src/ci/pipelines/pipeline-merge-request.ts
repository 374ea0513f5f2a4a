import type { ExpressionBuilder } from 'kysely'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import type { RecordedMergeRequest } from './passed-on.ts'

/** The refs of pipelines for a merge request: of its head, of the result of its merge, and of its place in a merge train. */
const mergeRequestRef = /^refs\/merge-requests\/([1-9]\d{0,15})\/(head|merge|train)$/
const mergeRequestRefs = (iid: number): string[] =>
  ['head', 'merge', 'train'].map((kind) => `refs/merge-requests/${iid}/${kind}`)

/** The title of the commit that GitLab makes to test the result of a merge. */
const mergeResultTitle = /^Merge ([0-9a-f]{40}) into [0-9a-f]{40}$/

/**
 * Returns the iid of the merge request for which a recorded pipeline ran; `undefined` for a pipeline of a branch or a tag, and for
 * a merge request of another project.
 *
 * @param projectId the id of the pipeline's project as the record has it
 */
export function mergeRequestIid(
  ref: string | undefined,
  mergeRequest: RecordedMergeRequest | undefined,
  projectId: number | undefined,
): number | undefined {
  const target = mergeRequest?.targetProjectId
  if (target !== undefined && projectId !== undefined && target !== projectId) return undefined
  if (mergeRequest?.iid !== undefined) return mergeRequest.iid
  const iid = Number(mergeRequestRef.exec(ref ?? '')?.[1])
  return Number.isSafeInteger(iid) ? iid : undefined
}

/** A pipeline for a merge request, before it is stored. */
interface MergeRequestPipeline {
  readonly mergeRequestIid: number
  readonly sha: string | undefined
  readonly ref: string | undefined
  readonly commit: { readonly title: string | undefined } | undefined
}

/**
 * Returns the commit of the source branch that a pipeline for a merge request tests. A pipeline of the result of a merge runs on a
 * commit that exists only at the forge. If the title of that commit does not name the commit of the source branch, it is the head
 * at the time of the first record.
 */
export async function findSourceSha(
  { db }: ReadContext,
  projectId: number,
  { mergeRequestIid: iid, sha, ref, commit }: MergeRequestPipeline,
): Promise<string | undefined> {
  const stated = statedSourceSha({ sha, ref, commit })
  if (stated !== undefined) return stated
  const former = await db
    .selectFrom('merge_requests')
    .innerJoin('merge_request_versions', 'merge_request_versions.merge_request_id', 'merge_requests.id')
    .select('head_sha')
    .where('merge_requests.project_id', '=', projectId)
    .where('merge_requests.iid', '=', iid)
    .orderBy((eb) =>
      eb
        .case()
        .when('head_sha', '=', sha ?? '')
        .then(0)
        .else(1)
        .end(),
    )
    .orderBy('merge_request_versions.id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return former?.head_sha
}

/** Returns the commit of the source branch if the record states it, at any time. */
export function statedSourceSha({
  sha,
  ref,
  commit,
}: Omit<MergeRequestPipeline, 'mergeRequestIid'>): string | undefined {
  const named = mergeResultTitle.exec(commit?.title ?? '')?.[1]
  return named ?? (mergeRequestRef.exec(ref ?? '')?.[2] === 'head' ? sha : undefined)
}

/** A merge request with its source branch, by which its pipelines are found. */
export interface MergeRequestHead {
  readonly iid: number
  readonly sourceBranch: string
  /** Only pipelines that test this commit of the source branch are searched, if it is given. */
  readonly sha?: string | undefined
}

/** Matches the pipelines for a merge request, and those of its source branch. */
export const isForMergeRequest =
  ({ iid, sourceBranch, sha }: MergeRequestHead) =>
  (eb: ExpressionBuilder<CoreTables, 'pipelines'>) => {
    const byMergeRequest = [
      eb('pipelines.merge_request_iid', '=', iid),
      eb('pipelines.ref', 'in', [sourceBranch, ...mergeRequestRefs(iid)]),
    ]
    const byBranch = [eb('pipelines.merge_request_iid', 'is', null), eb('pipelines.ref', '=', sourceBranch)]
    if (sha !== undefined) {
      byMergeRequest.push(eb.or([eb('pipelines.sha', '=', sha), eb('pipelines.source_sha', '=', sha)]))
      byBranch.push(eb('pipelines.sha', '=', sha))
    }
    return eb.or([eb.and(byMergeRequest), eb.and(byBranch)])
  }
