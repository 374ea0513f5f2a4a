import { z } from 'zod'
import { can } from '../../base/access/can.ts'
import { standingOf } from '../../base/access/subject.ts'
import { DomainError, notFound } from '../../base/kit/domain-error.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { command } from '../../base/operations/operation.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { findProject } from '../../identity/projects/project-store.ts'
import { setMetadata } from './issuable-changes.ts'
import type { ShownIssue } from './issue.ts'
import { canAdminister, draftOf, getIssue, issueEvents, oneIssue, shownIssue, subject } from './issue-changes.ts'
import { copyIssueDetails } from './issue-move-store.ts'
import { insertIssue, issueTables, setIssueState, setMovedTo } from './issue-store.ts'

const refused = (message: string) => new DomainError({ code: 'refused', message })

/**
 * Continues an issue in another project: copies it with its assignees, time, subscriptions, and the labels and the
 * milestone that the other project has under the same names, then closes it.
 */
export const moveIssue = command(
  {
    name: 'moveIssue',
    input: z.object({ ...oneIssue, toProject: namespaceRef }),
    permission: 'read_issue',
    subject,
  },
  async (tx, { issueIid, toProject }): Promise<ShownIssue> => {
    const before = await getIssue(tx, tx.actor, tx.subject, issueIid)
    const target = await findProject(tx, toProject)
    if (target === undefined || !can(await standingOf(tx, tx.actor, target), 'read_project')) {
      throw notFound('Project')
    }
    if (target.id === tx.subject.id) throw refused('Cannot move issue to project it originates from!')
    const mayMove = (await canAdminister(tx, tx.subject)) && (await canAdminister(tx, target))
    if (!mayMove || before.movedToId !== undefined) {
      throw refused('Cannot move issue due to insufficient permissions!')
    }
    const draft = { ...draftOf(before), milestoneId: undefined }
    const { id, iid } = await insertIssue(tx, target, before.author?.id, draft, { createdAtMs: before.createdAtMs })
    await copyIssueDetails(tx, before, { id, project: target })
    const assigneeIds = before.assignees.map((user) => user.id)
    await setMetadata(tx, issueTables, target, id, { assigneeIds })
    if (before.state === 'closed') await setIssueState(tx, id, 'closed', tx.actor!.id)
    else await setIssueState(tx, before.id, 'closed', tx.actor!.id)
    await setMovedTo(tx, before.id, id)
    const moved = await getIssue(tx, tx.actor, target, iid)
    await recordChange(tx, issueEvents, 'created', { after: moved, projectId: target.id })
    const left = await getIssue(tx, tx.actor, tx.subject, issueIid)
    const change = { before, after: left, projectId: tx.subject.id }
    await recordChange(tx, issueEvents, 'moved', change)
    if (before.state !== 'closed') await recordChange(tx, issueEvents, 'closed', change)
    return shownIssue(tx, moved)
  },
)
