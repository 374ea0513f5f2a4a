import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { can } from '../../base/access/can.ts'
import { requirePermission, standingOf } from '../../base/access/subject.ts'
import { forbidden, invalid, notFound } from '../../base/kit/domain-error.ts'
import { instant, namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { Actor } from '../../base/model/user.ts'
import type { OperationContext, Tx } from '../../base/operations/context.ts'
import { comparedMembers, type RecordedKind, recordChange } from '../../base/operations/record-change.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { addSystemNotes } from '../notes/system-notes.ts'
import { comparedIssuable, issuableChanges, issuableFields, issuableTitle, MAX_LABELS } from './issuable.ts'
import { milestoneIdAfter, setMetadata } from './issuable-changes.ts'
import { type DescribedIssue, type Issue, issueFields, issueSeverities, type ShownIssue } from './issue.ts'
import { findIssue, issueTables, setIssueState, updateIssueRow } from './issue-store.ts'
import { isClosedBySome, withClosingCounts } from './mentioned-issues.ts'
import { subscribedItems } from './participants.ts'
import { changeEstimate } from './time-estimate.ts'

export const inProject = { project: namespaceRef }
export const oneIssue = { ...inProject, issueIid: z.int() }
export const subject = (context: ReadContext, { project }: { readonly project: z.output<typeof namespaceRef> }) =>
  getProject(context, project)

export const labelIds = z.array(z.int()).max(MAX_LABELS).optional()

export const changes = {
  title: issuableTitle.optional(),
  ...issuableFields,
  ...issueFields,
  ...issuableChanges,
  /** Only of incidents. */
  severity: z.enum(issueSeverities).optional(),
  /** Such as `3h 30m`; an empty text or 0 removes the estimate. */
  timeEstimate: z.string().max(255).optional(),
  labelIds,
  addLabelIds: labelIds,
  removeLabelIds: labelIds,
  /** Only for administrators and owners. */
  updatedAt: instant.optional(),
}
type Changes = Partial<z.output<z.ZodObject<typeof changes>>>

export interface IssueToUpdate {
  readonly before: DescribedIssue
  /** Whether the actor may change metadata too, not only title and description. */
  readonly administers: boolean
}

/** @throws DomainError `not_found`, `forbidden` */
export async function getIssueToUpdate(
  context: ReadContext & OperationContext,
  project: Project,
  { issueIid, updatedAt }: { readonly issueIid: number; readonly updatedAt?: number | undefined },
): Promise<IssueToUpdate> {
  const before = await getIssue(context, context.actor, project, issueIid)
  const administers = await canAdminister(context, project)
  if (!administers) await requireAuthor(context, project, before)
  if (updatedAt !== undefined) await requirePermission(context, project, 'set_issue_numbers')
  return { before, administers }
}

/** @param how what changed the state, if it was not the actor alone: `merge request !1` */
export async function changeIssue(
  tx: Tx & OperationContext,
  project: Project,
  { before, administers }: IssueToUpdate,
  input: Changes,
  how?: { readonly via: string },
): Promise<DescribedIssue> {
  const metadata: Changes = administers ? input : {}
  const draft = {
    ...draftAfter(before, input, administers),
    milestoneId: await milestoneIdAfter(tx, project, metadata.milestoneId, before),
  }
  if (metadata.severity !== undefined && draft.type !== 'incident' && metadata.severity !== 'unknown') {
    throw invalid({ severity: ['is only available for incidents'] })
  }
  const hasNewMetadata = await setMetadata(tx, issueTables, project, before.id, metadata, before)
  const hasNewEstimate = await changeEstimate(tx, issueTables, before, metadata.timeEstimate)
  const isUpdated =
    hasNewMetadata || hasNewEstimate || input.updatedAt !== undefined || !isDeepStrictEqual(draft, draftOf(before))
  if (isUpdated) await updateIssueRow(tx, before.id, draft, input.updatedAt ?? tx.nowMs)
  const state = input.stateEvent === undefined ? before.state : stateAfter[input.stateEvent]
  if (state !== before.state) await setIssueState(tx, before.id, state, tx.actor!.id)
  if (!isUpdated && state === before.state) return before
  const issue = await getIssue(tx, tx.actor, project, before.iid)
  await addSystemNotes(tx, 'issue', before, issue, how)
  const change = { before, after: issue, projectId: project.id }
  if (isUpdated) await recordChange(tx, issueEvents, 'updated', change)
  if (state !== before.state) {
    await recordChange(tx, issueEvents, state === 'closed' ? 'closed' : 'reopened', change)
  }
  return issue
}

/** Returns the fields of the issue's own row after the change. */
export function draftAfter(before: DescribedIssue, input: Changes, administers: boolean) {
  const metadata: Changes = administers ? input : {}
  return {
    title: input.title ?? before.title,
    description: input.description === undefined ? before.description : (input.description ?? undefined),
    type: metadata.issueType ?? before.type,
    severity: metadata.severity ?? before.severity,
    isConfidential: input.confidential ?? before.isConfidential,
    dueDate: metadata.dueDate === undefined ? before.dueDate : (metadata.dueDate ?? undefined),
    weight: metadata.weight === undefined ? before.weight : (metadata.weight ?? undefined),
    isDiscussionLocked: metadata.discussionLocked ?? before.isDiscussionLocked,
  }
}

const stateAfter = { close: 'closed', reopen: 'opened' } as const

export const draftOf = (issue: DescribedIssue) => ({
  title: issue.title,
  description: issue.description,
  type: issue.type,
  severity: issue.severity,
  isConfidential: issue.isConfidential,
  dueDate: issue.dueDate,
  weight: issue.weight,
  isDiscussionLocked: issue.isDiscussionLocked,
  milestoneId: issue.milestone?.id,
})

/** @throws DomainError `not_found`, also if the actor may not see the issue */
export async function getIssue(
  context: ReadContext,
  actor: Actor,
  { id }: Pick<Project, 'id'>,
  iid: number,
): Promise<DescribedIssue> {
  const issue = await findIssue(context, actor, id, iid)
  if (issue === undefined) throw notFound()
  return issue
}

/** Returns the issue in the form that a request for a single issue gets, with the actor's subscription. */
export async function shownIssue(
  context: ReadContext & { readonly actor: Actor },
  issue: DescribedIssue,
): Promise<ShownIssue> {
  const subscribed = await subscribedItems(context, issueTables, context.actor, [issue])
  const closed = (await isClosedBySome(context, issue)) ? [issue.id] : []
  const [counted] = await withClosingCounts(context, context.actor, [issue], closed)
  return { ...counted!, isSubscribed: subscribed.has(issue.id) }
}

export const canAdminister = async (context: ReadContext & OperationContext, project: Project) =>
  can(await standingOf(context, context.actor, project), 'update_issue')

async function requireAuthor(
  context: ReadContext & OperationContext,
  project: Project,
  { author }: Issue,
): Promise<void> {
  if (author?.id !== context.actor!.id) throw forbidden()
  await requirePermission(context, project, 'update_own_issue')
}

export const issueEvents: RecordedKind<DescribedIssue> = {
  noun: 'issue',
  compared: {
    ...comparedIssuable,
    ...comparedMembers<DescribedIssue>()(
      'iid',
      'type',
      'severity',
      'state',
      'isConfidential',
      'dueDate',
      'weight',
      'movedToId',
    ),
  },
  detailsOf: ({ iid, title }) => ({ iid, title }),
}
