import { z } from 'zod'
import { can } from '../../base/access/can.ts'
import { standingOf } from '../../base/access/subject.ts'
import { DomainError } from '../../base/kit/domain-error.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { InProject, OperationContext, Tx } from '../../base/operations/context.ts'
import { steps } from '../../base/operations/operation.ts'
import { isComplete } from '../../ci/pipelines/pipeline-status.ts'
import { canMergeInto, defaultBranchRules } from '../../code/repositories/branch-protection.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { addSystemNote } from '../notes/system-notes.ts'
import { type AutoMerge, deleteAutoMerge, type MergeOptions, setAutoMerge } from './auto-merge-store.ts'
import { findHeadPipelines } from './head-pipelines.ts'
import type { DescribedMergeRequest } from './merge-request.ts'
import { getMergeRequest } from './merge-request-changes.ts'
import { type ShownMergeRequest, shownMergeRequest } from './merge-request-details.ts'
import { touchMergeRequest } from './merge-request-store.ts'

export const notAllowed = () => new DomainError({ code: 'protected', message: '405 Method Not Allowed' })

/** @throws DomainError `unauthenticated` if the actor may not merge, as on GitLab */
export async function requireMerger(
  context: InProject,
  { targetBranch }: Pick<DescribedMergeRequest, 'targetBranch'>,
): Promise<void> {
  const { actor, subject } = context
  const standing = await standingOf(context, actor, subject)
  const rules = await defaultBranchRules(context, subject)
  const branch = { isDefault: targetBranch === subject.defaultBranch }
  if (!canMergeInto(standing, rules, branch) || !can(standing, 'read_merge_request')) {
    throw new DomainError({ code: 'unauthenticated' })
  }
}

interface WantedAutoMerge {
  readonly mergeRequestIid: number
  /** The head of the source branch that the caller has seen. */
  readonly expectedSha: string | undefined
  readonly options: MergeOptions
}

/**
 * Lets a merge request be merged when its pipeline succeeds. Returns `undefined`, and does nothing, if no pipeline runs.
 *
 * @throws DomainError `unauthenticated`, `protected`, `conflict`
 */
export async function scheduleMerge(
  tx: Tx & InProject,
  { mergeRequestIid, expectedSha, options }: WantedAutoMerge,
): Promise<DescribedMergeRequest | undefined> {
  const before = await getMergeRequest(tx, tx.actor, tx.subject, mergeRequestIid)
  await requireMerger(tx, before)
  if (before.state !== 'opened') throw notAllowed()
  const [pipeline] = await findHeadPipelines(tx, [before])
  if (before.sha === undefined || pipeline === undefined || isComplete(pipeline.status)) return undefined
  if (expectedSha !== undefined && expectedSha !== before.sha) {
    throw new DomainError({ code: 'conflict', reason: `SHA does not match HEAD of source branch: ${before.sha}` })
  }
  await setAutoMerge(tx, { mergeRequestId: before.id, userId: tx.actor!.id, sha: before.sha, options })
  const note = `enabled an automatic merge when the pipeline for ${before.sha} succeeds`
  await recordAutoMerge(tx, before, { what: 'auto_merge_enabled', note })
  return getMergeRequest(tx, tx.actor, tx.subject, before.iid)
}

/** Cancels the automatic merge of a merge request. */
export const cancelAutoMerge = steps(
  {
    name: 'cancelAutoMerge',
    input: z.object({ project: namespaceRef, mergeRequestIid: z.int() }),
    permission: 'read_merge_request',
    subject: (context: ReadContext, { project }) => getProject(context, project),
  },
  async (context, { mergeRequestIid }): Promise<ShownMergeRequest> => {
    const canceled = await context.write(async (tx) => {
      const there = { ...tx, subject: await getProject(tx, context.subject.id) }
      const before = await getMergeRequest(tx, tx.actor, there.subject, mergeRequestIid)
      await requireMerger(there, before)
      if (!(await deleteAutoMerge(tx, before.id))) {
        throw new DomainError({ code: 'not_acceptable', message: "Can't cancel the automatic merge" })
      }
      await recordAutoMerge(tx, before, { what: 'auto_merge_canceled', note: 'canceled the automatic merge' })
      return getMergeRequest(tx, tx.actor, there.subject, before.iid)
    })
    return shownMergeRequest(context, context.subject, canceled)
  },
)

/** Ends an automatic merge for a reason, unless it has ended already. */
export async function abortAutoMerge(tx: Tx & OperationContext, merge: AutoMerge, reason: string): Promise<void> {
  if (!(await deleteAutoMerge(tx, merge.mergeRequestId))) return
  const item = { id: merge.mergeRequestId, iid: merge.mergeRequestIid, projectId: merge.projectId }
  await recordAutoMerge(tx, item, {
    what: 'auto_merge_aborted',
    note: `aborted the automatic merge because ${reason}`,
  })
}

async function recordAutoMerge(
  tx: Tx & OperationContext,
  { id, iid, projectId }: Pick<DescribedMergeRequest, 'id' | 'iid' | 'projectId'>,
  { what, note }: { readonly what: string; readonly note: string },
): Promise<void> {
  await addSystemNote(tx, 'merge_request', { id, projectId }, note)
  await touchMergeRequest(tx, id)
  await tx.recordEvent({ type: `merge_request.${what}`, objectId: id, projectId, details: { iid } })
}
