import { z } from 'zod'
import { moveReference } from '../../base/git/git-reference.ts'
import { DomainError } from '../../base/kit/domain-error.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { CallContext, InProject } from '../../base/operations/context.ts'
import { steps } from '../../base/operations/operation.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { changeProjectRepository } from '../../code/repositories/change-project-repository.ts'
import { MAX_MESSAGE_LENGTH, requireCommitter } from '../../code/repositories/commit-operations.ts'
import { planPush } from '../../code/repositories/commit-to-branch.ts'
import { recordPush } from '../../code/repositories/repository-store.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { addSystemNotes } from '../notes/system-notes.ts'
import { notAllowed, requireMerger, scheduleMerge } from './auto-merge.ts'
import { deleteAutoMerge, type MergeOptions } from './auto-merge-store.ts'
import { closeMentionedIssues } from './close-issues.ts'
import { notMergeable, writeMergeCommits } from './merge-commits.ts'
import type { DescribedMergeRequest } from './merge-request.ts'
import { getMergeRequest, mergeRequestEvents } from './merge-request-changes.ts'
import { type ShownMergeRequest, shownMergeRequest } from './merge-request-details.ts'
import { setMerged } from './merge-request-store.ts'
import { mergeBlocker } from './merge-status.ts'

const message = z.string().max(MAX_MESSAGE_LENGTH).nullish()

/**
 * Merges the source branch into the target branch, as the project's merge method says. The branches, the state of the merge
 * request and its events become effective together.
 */
export const mergeMergeRequest = steps(
  {
    name: 'mergeMergeRequest',
    input: z.object({
      project: namespaceRef,
      mergeRequestIid: z.int(),
      mergeCommitMessage: message,
      squashCommitMessage: message,
      squash: z.boolean().nullish(),
      shouldRemoveSourceBranch: z.boolean().nullish(),
      /** The head of the source branch that the caller has seen. */
      sha: z.string().max(64).nullish(),
      /** Waits for the pipeline of the source branch to succeed, if it has not ended. */
      autoMerge: z.boolean().nullish(),
      /** The former name of `autoMerge`. */
      mergeWhenPipelineSucceeds: z.boolean().nullish(),
    }),
    permission: 'read_merge_request',
    subject: (context: ReadContext, { project }) => getProject(context, project),
  },
  async (context, input): Promise<ShownMergeRequest> => {
    if (input.autoMerge ?? input.mergeWhenPipelineSucceeds) {
      const waiting = await context.write(async (tx) => {
        const there = { ...tx, subject: await getProject(tx, context.subject.id) }
        return scheduleMerge(there, { ...input, expectedSha: input.sha ?? undefined, options: optionsOf(input) })
      })
      if (waiting !== undefined) return shownMergeRequest(context, context.subject, waiting)
    }
    const before = await getMergeable(context, input.mergeRequestIid)
    const { mergeMethod: method } = context.subject.settings
    const committer = await requireCommitter(context)
    const isSquashed = isSquashedBy(context.subject, input.squash ?? before.isSquashed)
    const merged = await changeProjectRepository(context, context.subject, async (writable) => {
      const branches = await writeMergeCommits(writable, {
        mergeRequest: before,
        method,
        committer,
        nowMs: context.core.clock.nowMs(),
        expectedSha: input.sha ?? undefined,
        mergeMessage: input.mergeCommitMessage || mergeMessageOf(before),
        squashMessage: isSquashed ? input.squashCommitMessage || before.title : undefined,
      })
      const { source, target, after } = branches
      const place = { project: context.subject, committer, branch: before.targetBranch }
      const push = await planPush(writable, { ...place, before: target, after, since: target })
      const removes =
        (input.shouldRemoveSourceBranch ?? before.removesSourceBranch ?? false) &&
        before.sourceBranch !== context.subject.defaultBranch
      if (removes) await moveReference(writable, 'heads', { name: before.sourceBranch, from: source, to: undefined })
      return async (tx) => {
        const there = { ...tx, subject: await getProject(tx, context.subject.id) }
        // The merge request, the role or the project may have changed in between.
        const now = await getMergeable(there, before.iid)
        if (now.sourceBranch !== before.sourceBranch || now.targetBranch !== before.targetBranch) throw notMergeable()
        // Before the source branch is removed, which would end the automatic merge.
        await deleteAutoMerge(tx, before.id)
        await recordPush(tx, push)
        if (removes) {
          const name = before.sourceBranch
          const removed = { kind: 'heads', name, before: source, after: undefined } as const
          await recordPush(tx, { projectId: there.subject.id, actorId: committer.id, ...removed })
        }
        await setMerged(tx, before.id, { userId: committer.id, ...branches })
        const mergedNow = await getMergeRequest(tx, tx.actor, there.subject, before.iid)
        await addSystemNotes(tx, 'merge_request', now, mergedNow)
        const change = { before: now, after: mergedNow, projectId: there.subject.id }
        await recordChange(tx as CallContext & typeof tx, mergeRequestEvents, 'merged', change)
        await closeMentionedIssues(there, mergedNow)
        return mergedNow
      }
    })
    return shownMergeRequest(context, context.subject, merged)
  },
)

/**
 * Returns a merge request that the actor may merge now.
 *
 * @throws DomainError `not_found`; `unauthenticated` without the permission, and `protected` if it cannot be merged, as
 *   on GitLab
 */
async function getMergeable(context: InProject, iid: number): Promise<DescribedMergeRequest> {
  const mergeRequest = await getMergeRequest(context, context.actor, context.subject, iid)
  await requireMerger(context, mergeRequest)
  if (mergeBlocker(mergeRequest) !== undefined) throw notAllowed()
  return mergeRequest
}

const optionsOf = ({ mergeCommitMessage, squashCommitMessage, squash, shouldRemoveSourceBranch }: MergeOptions) => ({
  mergeCommitMessage,
  squashCommitMessage,
  squash,
  shouldRemoveSourceBranch,
})

/** @throws DomainError `impossible` */
function isSquashedBy({ settings: { squashOption } }: Project, wanted: boolean): boolean {
  if (squashOption === 'always') return true
  if (squashOption === 'never' && wanted) {
    throw new DomainError({ code: 'impossible', message: 'Squashing is not allowed in this project' })
  }
  return wanted
}

const mergeMessageOf = ({ sourceBranch, targetBranch, title, projectPath, iid }: DescribedMergeRequest): string =>
  `Merge branch '${sourceBranch}' into '${targetBranch}'\n\n${title}\n\nSee merge request ${projectPath}!${iid}`
