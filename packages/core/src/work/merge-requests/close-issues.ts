import { DomainError } from '../../base/kit/domain-error.ts'
import type { Project } from '../../base/model/project.ts'
import type { InProject, OperationContext, Tx } from '../../base/operations/context.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { changeIssue, getIssueToUpdate, type IssueToUpdate } from '../issues/issue-changes.ts'
import { pageOfIssues } from '../issues/issue-list-store.ts'
import type { DescribedMergeRequest } from './merge-request.ts'

/** The limit of issues that one merge closes, because other writers wait for it. Further issues stay open. */
const MAX_CLOSED = 100

/**
 * Closes the open issues that a merged merge request says to close, if its target is the default branch. Issues that the actor may
 * not close stay open, and so do those of projects that switched this off.
 */
export async function closeMentionedIssues(
  tx: Tx & InProject,
  { id, iid, projectPath, projectId, targetBranch }: DescribedMergeRequest,
): Promise<void> {
  if (targetBranch !== tx.subject.defaultBranch) return
  const filter = { mentionedBy: { id, onlyClosing: true }, state: 'opened', sort: 'asc' } as const
  const issues = await pageOfIssues(tx, tx.actor, filter, { page: 1, perPage: MAX_CLOSED })
  for (const issue of issues.items) {
    const project = await getProject(tx, issue.projectId)
    if (!project.settings.autocloseReferencedIssues) continue
    const target = await findIssueToUpdate(tx, project, issue.iid)
    const via = `merge request ${issue.projectId === projectId ? '' : projectPath}!${iid}`
    if (target !== undefined) await changeIssue(tx, project, target, { stateEvent: 'close' }, { via })
  }
}

/** Returns `undefined` if the actor may not update the issue. */
async function findIssueToUpdate(
  tx: Tx & OperationContext,
  project: Project,
  issueIid: number,
): Promise<IssueToUpdate | undefined> {
  try {
    return await getIssueToUpdate(tx, project, { issueIid })
  } catch (error) {
    if (error instanceof DomainError && ['forbidden', 'not_found'].includes(error.failure.code)) return undefined
    throw error
  }
}
