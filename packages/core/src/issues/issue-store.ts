import {
  type Expression,
  type Generated,
  type RawBuilder,
  type Selectable,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely'
import { allowedInProject, asSeenBy } from '../access/visible-store.ts'
import type { Actor, Reading, Tx } from '../kit/context.ts'
import { nextIid } from '../kit/internal-id.ts'
import {
  type KeysetPage,
  type KeysetRequest,
  keysetPageOf,
  noKeysetInThisOrder,
  type Page,
  type PageRequest,
  pageOf,
} from '../kit/page.ts'
import type { CoreTables } from '../kit/tables.ts'
import type { Project } from '../projects/project.ts'
import { conditionsOf, type IssuableTables, issuablesOf, labelPriorityOf, personCondition } from './issuable-store.ts'
import type { Issue, IssueFilter, IssueOrder, IssueState, IssueStateEvent } from './issue.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    issues: IssuesTable
    issue_state_events: IssueStateEventsTable
    issue_labels: { issue_id: number; label_id: number }
    issue_assignees: { issue_id: number; user_id: number }
  }
}

interface IssuesTable {
  id: Generated<number>
  project_id: number
  iid: number
  title: string
  description: string | null
  state: IssueState
  author_id: number | null
  milestone_id: number | null
  due_date: string | null
  is_confidential: number
  is_discussion_locked: number | null
  weight: number | null
  closed_by_id: number | null
  closed_at_ms: number | null
  created_at_ms: number
  updated_at_ms: number
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
} as const satisfies IssuableTables

type IssueRow = Selectable<IssuesTable> & { project_path: string }

/**
 * Of the issues that the actor may see.
 *
 * @see spec/rest-part2-details.md 8.8
 */
export async function pageOfIssues(
  reading: Reading,
  actor: Actor,
  filter: IssueFilter,
  page: PageRequest,
): Promise<Page<Issue>> {
  const rows = await pageOf(reading, ordered(wantedIssues(reading, actor, filter), filter), page)
  return { ...rows, items: await issuesOf(reading, rows.items) }
}

const keysetColumns: Partial<Record<IssueOrder, keyof IssuesTable>> = {
  created_at: 'created_at_ms',
  updated_at: 'updated_at_ms',
  title: 'title',
}

/** @throws DomainError `no_keyset_in_order` for an order whose column may hold nothing */
export async function keysetPageOfIssues(
  reading: Reading,
  actor: Actor,
  filter: IssueFilter,
  page: KeysetRequest,
): Promise<KeysetPage<Issue>> {
  const key = keysetColumns[filter.orderBy ?? 'created_at']
  if (key === undefined) throw noKeysetInThisOrder()
  const direction = filter.sort ?? 'desc'
  const rows = await keysetPageOf<'issues' | 'projects', IssueRow>(wantedIssues(reading, actor, filter), page, [
    { column: `issues.${key}`, key, direction },
    { column: 'issues.id', key: 'id', direction },
  ])
  return { ...rows, items: await issuesOf(reading, rows.items) }
}

/** By its number in its project, if the actor may see it. */
export async function findIssue(
  reading: Reading,
  actor: Actor,
  projectId: number,
  iid: number,
): Promise<Issue | undefined> {
  const rows = await wantedIssues(reading, actor, { within: { projectId }, iids: [iid] }).execute()
  const [issue] = await issuesOf(reading, rows)
  return issue
}

export type IssueDraft = Pick<Issue, 'title' | 'description' | 'dueDate' | 'isConfidential' | 'weight'> & {
  readonly milestoneId: number | undefined
}

/** Its id and its number in the project. */
export async function insertIssue(tx: Tx, project: Project, authorId: number, draft: IssueDraft) {
  return tx.db
    .insertInto('issues')
    .values({
      project_id: project.id,
      iid: await nextIid(tx, { projectId: project.id }, 'issues'),
      ...columnsOf(draft),
      state: 'opened',
      author_id: authorId,
      is_discussion_locked: null,
      closed_by_id: null,
      closed_at_ms: null,
      created_at_ms: tx.nowMs,
      updated_at_ms: tx.nowMs,
    })
    .returning(['id', 'iid'])
    .executeTakeFirstOrThrow()
}

export async function updateIssueRow(
  { db, nowMs }: Tx,
  id: number,
  draft: IssueDraft & Pick<Issue, 'isDiscussionLocked'>,
): Promise<void> {
  await db
    .updateTable('issues')
    .set({
      ...columnsOf(draft),
      is_discussion_locked: draft.isDiscussionLocked === undefined ? null : Number(draft.isDiscussionLocked),
      updated_at_ms: nowMs,
    })
    .where('id', '=', id)
    .execute()
}

/** With the event that it happened. */
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

export async function deleteIssue({ db }: Tx, id: number): Promise<void> {
  await db.deleteFrom('issues').where('id', '=', id).execute()
}

/** Those that the actor may see, as a query over `issues` and `projects`. */
export function wantedIssues(reading: Reading, actor: Actor, filter: IssueFilter) {
  const { state = 'all', confidential, weight } = filter
  return reading.db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .selectAll('issues')
    .select('projects.full_path as project_path')
    .where((eb) => eb.and(conditionsOf(issueTables, filter)))
    .where(isVisibleIssue(reading, actor))
    .$if(state !== 'all', (all) => all.where('issues.state', '=', state as IssueState))
    .$if(confidential !== undefined, (all) => all.where('issues.is_confidential', '=', Number(confidential)))
    .$if(weight !== undefined, (all) => all.where(weightCondition(weight!)))
    .where((eb) =>
      eb.and(
        (filter.assigneeUsername ?? []).map((username) =>
          personCondition(issueTables, 'issue_assignees', { username }),
        ),
      ),
    )
}

/** For a query over `issues` and `projects`. */
function isVisibleIssue(reading: Reading, actor: Actor): Expression<SqlBool> {
  return asSeenBy(actor, (viewer) => {
    const readable = allowedInProject(reading, viewer, 'read_issue')
    if (viewer === undefined) return sql<SqlBool>`(${readable} and issues.is_confidential = 0)`
    return sql<SqlBool>`(${readable} and (issues.is_confidential = 0 or issues.author_id = ${viewer.id}
      or ${personCondition(issueTables, 'issue_assignees', viewer.id)}
      or ${allowedInProject(reading, viewer, 'read_confidential_issue')}))`
  })
}

function weightCondition(weight: NonNullable<IssueFilter['weight']>): RawBuilder<SqlBool> {
  if (weight === 'none') return sql<SqlBool>`issues.weight is null`
  if (weight === 'any') return sql<SqlBool>`issues.weight is not null`
  return sql<SqlBool>`issues.weight = ${weight}`
}

function ordered(
  query: SelectQueryBuilder<CoreTables, 'issues' | 'projects', IssueRow>,
  { orderBy = 'created_at', sort = orderBy === 'label_priority' ? 'asc' : 'desc' }: IssueFilter,
) {
  const column = { ...keysetColumns, due_date: 'due_date', weight: 'weight' }[orderBy]
  if (column === undefined) return query.orderBy(labelPriorityOf(issueTables), sort).orderBy('issues.id', 'desc')
  const value = sql.ref(`issues.${column}`)
  // The databases differ in where nothing comes.
  const withValueFirst = orderBy in keysetColumns ? query : query.orderBy(sql`${value} is null`)
  return withValueFirst.orderBy(value, sort).orderBy('issues.id', sort)
}

async function issuesOf(reading: Reading, rows: readonly IssueRow[]): Promise<Issue[]> {
  const { of } = await issuablesOf(reading, issueTables, rows)
  return rows.map((row) => ({
    ...of(row),
    state: row.state,
    dueDate: row.due_date ?? undefined,
    isConfidential: row.is_confidential === 1,
    weight: row.weight ?? undefined,
  }))
}

const columnsOf = (draft: IssueDraft) => ({
  title: draft.title,
  description: draft.description ?? null,
  milestone_id: draft.milestoneId ?? null,
  due_date: draft.dueDate ?? null,
  is_confidential: Number(draft.isConfidential),
  weight: draft.weight ?? null,
})
