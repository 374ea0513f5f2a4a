import { type Expression, type Generated, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import { can } from '../../base/access/can.ts'
import { allowedInProject, asSeenBy } from '../../base/access/visible-store.ts'
import { always, isOneOf, never } from '../../base/kit/conditions.ts'
import { dayAt } from '../../base/kit/day.ts'
import { nextIid, useIid } from '../../base/kit/internal-id.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { Actor } from '../../base/model/user.ts'
import type { Tx } from '../../base/operations/context.ts'
import type { DescribedRow } from '../../base/operations/description-store.ts'
import { dueDateCondition } from './due-date-condition.ts'
import {
  type Comparison,
  comparisonsOf,
  conditionsOf,
  isNot,
  peopleCondition,
  personCondition,
  standingWithin,
  subscriptionCondition,
} from './issuable-conditions.ts'
import { issuablesOf, withDescriptions } from './issuable-store.ts'
import type { IssuableTables } from './issuable-tables.ts'
import type {
  DescribedIssue,
  Issue,
  IssueFilter,
  IssueSeverity,
  IssueState,
  IssueStateEvent,
  IssueType,
} from './issue.ts'
import { isMentionedBy } from './mentioned-issues.ts'
import { reactionConditions } from './reaction-conditions.ts'
import { releaseConditions } from './release-conditions.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    issues: IssuesTable
    issue_state_events: IssueStateEventsTable
    issue_labels: { issue_id: number; label_id: number }
    issue_assignees: { issue_id: number; user_id: number }
    issue_subscriptions: { issue_id: number; user_id: number; is_subscribed: number }
  }
}

interface IssuesTable {
  id: Generated<number>
  project_id: number
  iid: number
  title: string
  description: string | null
  type: Generated<IssueType>
  severity: Generated<IssueSeverity>
  state: IssueState
  author_id: number | null
  milestone_id: number | null
  due_date: string | null
  /** The due date for which an event was recorded. */
  due_announced_for: Generated<string | null>
  is_confidential: number
  is_discussion_locked: number | null
  weight: number | null
  moved_to_id: number | null
  closed_by_id: number | null
  closed_at_ms: number | null
  created_at_ms: number
  updated_at_ms: number
  time_estimate_seconds: Generated<number>
  time_spent_seconds: Generated<number>
  user_notes_count: Generated<number>
  upvotes: Generated<number>
  downvotes: Generated<number>
}

interface IssueStateEventsTable {
  id: Generated<number>
  issue_id: number
  action: IssueStateEvent['action']
  user_id: number | null
  at_ms: number
}

export const issueTables = {
  items: 'issues',
  itemId: 'issue_id',
  labels: 'issue_labels',
  assignees: 'issue_assignees',
  subscriptions: 'issue_subscriptions',
} as const satisfies IssuableTables

/** Every column but the description. */
const listedColumns = [
  'issues.id',
  'issues.project_id',
  'issues.iid',
  'issues.title',
  'issues.type',
  'issues.severity',
  'issues.state',
  'issues.author_id',
  'issues.milestone_id',
  'issues.due_date',
  'issues.is_confidential',
  'issues.is_discussion_locked',
  'issues.weight',
  'issues.moved_to_id',
  'issues.closed_by_id',
  'issues.closed_at_ms',
  'issues.created_at_ms',
  'issues.updated_at_ms',
  'issues.time_estimate_seconds',
  'issues.time_spent_seconds',
  'issues.user_notes_count',
  'issues.upvotes',
  'issues.downvotes',
] as const

export type IssueRow = Omit<Selectable<IssuesTable>, 'description' | 'due_announced_for'> & { project_path: string }

/** Returns the given issues that the actor may see, by id. */
export async function findIssuesById(
  context: ReadContext,
  actor: Actor,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Issue>> {
  const rows = await issueQuery(context, actor, {})
    .where('issues.id', 'in', [...ids])
    .execute()
  const issues = await issuesOf(context, rows)
  return new Map(issues.map((issue) => [issue.id, issue]))
}

/** Returns the issue with this iid, if the actor may see it. */
export async function findIssue(
  context: ReadContext,
  actor: Actor,
  projectId: number,
  iid: number,
): Promise<DescribedIssue | undefined> {
  const rows = await issueQuery(context, actor, { within: { projectId }, iids: [iid] })
    .select('issues.description')
    .execute()
  const [issue] = await describedIssuesOf(context, rows)
  return issue
}

/** Returns the issue with this id, if the actor may see it. */
export async function findDescribedIssueById(
  context: ReadContext,
  actor: Actor,
  id: number,
): Promise<DescribedIssue | undefined> {
  const rows = await issueQuery(context, actor, {}).where('issues.id', '=', id).select('issues.description').execute()
  const [issue] = await describedIssuesOf(context, rows)
  return issue
}

/** Returns whether any issue of the project has this iid. */
export async function isIssueIidTaken({ db }: ReadContext, projectId: number, iid: number): Promise<boolean> {
  const query = db.selectFrom('issues').select('id').where('project_id', '=', projectId).where('iid', '=', iid)
  return (await query.executeTakeFirst()) !== undefined
}

type IssueDraft = Pick<
  DescribedIssue,
  'title' | 'description' | 'type' | 'severity' | 'dueDate' | 'isConfidential' | 'weight' | 'isDiscussionLocked'
> & {
  readonly milestoneId: number | undefined
}

/** Inserts an issue and returns its id and iid. `given` holds an iid and a time of creation that the caller chose. */
export async function insertIssue(
  tx: Tx,
  project: Pick<Project, 'id'>,
  authorId: number | undefined,
  draft: IssueDraft,
  given: { readonly iid?: number | undefined; readonly createdAtMs?: number | undefined } = {},
) {
  const parent = { projectId: project.id }
  return tx.db
    .insertInto('issues')
    .values({
      project_id: project.id,
      iid:
        given.iid === undefined ? await nextIid(tx, parent, 'issues') : await useIid(tx, parent, 'issues', given.iid),
      ...columnsOf(draft),
      state: 'opened',
      author_id: authorId ?? null,
      moved_to_id: null,
      closed_by_id: null,
      closed_at_ms: null,
      created_at_ms: given.createdAtMs ?? tx.nowMs,
      updated_at_ms: tx.nowMs,
    })
    .returning(['id', 'iid'])
    .executeTakeFirstOrThrow()
}

export async function updateIssueRow({ db }: Tx, id: number, draft: IssueDraft, updatedAtMs: number): Promise<void> {
  await db
    .updateTable('issues')
    .set({ ...columnsOf(draft), updated_at_ms: updatedAtMs })
    .where('id', '=', id)
    .execute()
}

/** Stores the state of an issue, and the event of the change. */
export async function setIssueState({ db, nowMs }: Tx, id: number, state: IssueState, userId: number): Promise<void> {
  const closes = state === 'closed'
  await db
    .updateTable('issues')
    .set({ state, closed_at_ms: closes ? nowMs : null, closed_by_id: closes ? userId : null, updated_at_ms: nowMs })
    .where('id', '=', id)
    .execute()
  await db
    .insertInto('issue_state_events')
    .values({ issue_id: id, action: closes ? 'closed' : 'reopened', user_id: userId, at_ms: nowMs })
    .execute()
}

export async function setMovedTo({ db }: Tx, id: number, successorId: number): Promise<void> {
  await db.updateTable('issues').set({ moved_to_id: successorId }).where('id', '=', id).execute()
}

export async function deleteIssue({ db }: Tx, id: number): Promise<void> {
  await db.deleteFrom('issues').where('id', '=', id).execute()
}

/** Returns the query over `issues` and `projects` for the issues that the actor may see and that match the filter. */
export function issueQuery(context: ReadContext, actor: Actor, filter: IssueFilter) {
  return context.db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select(listedColumns)
    .select('projects.full_path as project_path')
    .where((eb) => eb.and([...conditionsOf(context, issueTables, filter), ...ownConditions(context, actor, filter)]))
    .where(isVisibleIssue(context, actor, filter))
}

/** Returns the conditions of filters that only issues have. */
function ownConditions(
  { nowMs }: Pick<ReadContext, 'nowMs'>,
  actor: Actor,
  { state, weight, types, dueDate, not = {}, ...filter }: IssueFilter,
): RawBuilder<SqlBool>[] {
  const type = sql.ref('issues.type')
  return [
    ...comparisonsOf(issueTables, { ...filter, state: state === 'all' ? undefined : state }, comparisons),
    weight !== undefined && weightCondition(weight),
    types !== undefined && isOneOf(type, types),
    not.types !== undefined && sql<SqlBool>`not ${isOneOf(type, not.types)}`,
    not.weight !== undefined && isNot(sql.ref('issues.weight'), not.weight),
    ...reactionConditions(issueTables, actor, { ...filter, not }),
    ...releaseConditions(issueTables, { ...filter, not }),
    filter.subscribed !== undefined && subscriptionCondition(issueTables, actor, filter.subscribed),
    dueDate !== undefined && dueDateCondition(dueDate, dayAt(nowMs)),
    filter.mentionedBy !== undefined && isMentionedBy(filter.mentionedBy),
    peopleCondition(issueTables, 'issue_assignees', filter.assigneeUsername ?? []),
  ].filter((condition) => condition !== false)
}

const comparisons: readonly Comparison<
  Pick<IssueFilter, 'confidential' | 'dueAfter' | 'dueBefore'> & { readonly state: IssueState | undefined }
>[] = [
  ['state', 'state', '='],
  ['confidential', 'is_confidential', '='],
  ['dueAfter', 'due_date', '>='],
  ['dueBefore', 'due_date', '<='],
]

/** Returns the condition, for a query over `issues` and `projects`, that the viewer may see an issue. */
function isVisibleIssue(context: ReadContext, actor: Actor, filter: IssueFilter): Expression<SqlBool> {
  const standing = standingWithin(filter)
  if (standing !== undefined) {
    if (!can(standing, 'read_issue')) return never
    if (can(standing, 'read_confidential_issue')) return always
    return isOpenOrOwn(standing.isSignedIn ? actor : undefined)
  }
  return asSeenBy(actor, (viewer) => {
    const readable = allowedInProject(context, viewer, 'read_issue')
    if (viewer === undefined) return sql<SqlBool>`(${readable} and ${isOpenOrOwn(viewer)})`
    return sql<SqlBool>`(${readable} and (${isOpenOrOwn(viewer)}
      or ${allowedInProject(context, viewer, 'read_confidential_issue')}))`
  })
}

/** Selects the issues that are not confidential, or of which the viewer is the author or an assignee. */
function isOpenOrOwn(viewer: Actor): RawBuilder<SqlBool> {
  if (viewer === undefined) return sql`issues.is_confidential = 0`
  return sql`(issues.is_confidential = 0 or issues.author_id = ${viewer.id}
    or ${personCondition(issueTables, 'issue_assignees', viewer.id)})`
}

function weightCondition(weight: NonNullable<IssueFilter['weight']>): RawBuilder<SqlBool> {
  if (weight === 'none') return sql<SqlBool>`issues.weight is null`
  if (weight === 'any') return sql<SqlBool>`issues.weight is not null`
  return sql<SqlBool>`issues.weight = ${weight}`
}

export async function issuesOf(context: ReadContext, rows: readonly IssueRow[]): Promise<Issue[]> {
  const { of } = await issuablesOf(context, issueTables, rows)
  // A literal that spreads a large object and adds members to it takes 60 times as long in V8.
  return rows.map((row) =>
    Object.assign(of(row), {
      type: row.type,
      severity: row.severity,
      state: row.state,
      dueDate: row.due_date ?? undefined,
      isConfidential: row.is_confidential === 1,
      weight: row.weight ?? undefined,
      movedToId: row.moved_to_id ?? undefined,
    }),
  )
}

export async function describedIssuesOf(
  context: ReadContext,
  rows: readonly DescribedRow<IssueRow>[],
): Promise<DescribedIssue[]> {
  return withDescriptions(context, await issuesOf(context, rows), rows)
}

const columnsOf = (draft: IssueDraft) => ({
  title: draft.title,
  description: draft.description ?? null,
  type: draft.type,
  severity: draft.type === 'incident' ? draft.severity : 'unknown',
  milestone_id: draft.milestoneId ?? null,
  due_date: draft.dueDate ?? null,
  is_confidential: Number(draft.isConfidential),
  weight: draft.weight ?? null,
  is_discussion_locked: draft.isDiscussionLocked === undefined ? null : Number(draft.isDiscussionLocked),
})
