import type { CoreTables } from '@penstock/core'
import { openDatabase } from '@penstock/db'
import type { Insertable } from 'kysely'
import type { PenstockCore } from './penstock-core.ts'

export const FEW = 1_000
export const MANY = 100_000

export interface Stock {
  /** The token of a developer in all groups and projects, and the developer's id. */
  readonly token: string
  readonly userId: number
  /** The path of the milestones of another group, and of one of them. */
  readonly milestones: string
  readonly milestone: string
  /** The ids by the number of milestones of the group, or issues of the project. */
  readonly groups: Readonly<Record<number, number>>
  readonly projects: Readonly<Record<number, number>>
}

const DEVELOPER = 30
const ROWS_AT_A_TIME = 500
const DAY_MS = 86_400_000

/** Creates a developer, groups with milestones and projects with issues in a running core. */
export async function stock(core: PenstockCore): Promise<Stock> {
  const group = await core.call('POST', '/groups', { name: 'Orchard', path: 'orchard' })
  const login = { username: 'mira', name: 'Mira Holt', email: 'mira@example.test', password: 'eight-green-apples' }
  const user = await core.call('POST', '/users', login)
  await core.call('POST', `/groups/${group.id}/members`, { user_id: user.id, access_level: DEVELOPER })
  const issued = await core.call('POST', `/users/${user.id}/personal_access_tokens`, { name: 'load', scopes: ['api'] })
  const milestones = `/groups/${group.id}/milestones`
  const { id } = await core.call('POST', milestones, { title: 'Spring', due_date: '2026-05-01' })
  const groups: Record<number, number> = {}
  const projects: Record<number, number> = {}
  for (const count of [FEW, MANY]) {
    groups[count] = (await core.call('POST', '/groups', of('Milestones', count, { parent_id: group.id }))).id
    projects[count] = (await core.call('POST', '/projects', of('Issues', count, { namespace_id: group.id }))).id
    await fill(core.location, 'milestones', `group:${groups[count]}`, count, milestone(groups[count]))
    await fill(core.location, 'issues', `project:${projects[count]}`, count, issue(projects[count], user.id))
  }
  return {
    token: String(issued.token),
    userId: user.id,
    milestones,
    milestone: `${milestones}/${id}`,
    groups,
    projects,
  }
}

const of = (what: string, count: number, parent: object) => ({
  name: `${what}, ${count}`,
  path: `${what.toLowerCase()}-${count}`,
  ...parent,
})

/** Inserts numbered rows of a group or project, and stores their last number. */
async function fill<Table extends 'milestones' | 'issues'>(
  location: string,
  table: Table,
  parent: string,
  count: number,
  row: (index: number) => Insertable<CoreTables[Table]>,
): Promise<void> {
  await insertRows(location, table, count, row)
  await insertRows(location, 'internal_ids', 1, () => ({ parent, kind: table, last: count }))
}

/** Inserts rows directly into the database, because the API needs a durable transaction for each. */
export async function insertRows<Table extends keyof CoreTables & string>(
  location: string,
  table: Table,
  count: number,
  row: (index: number) => Insertable<CoreTables[Table]>,
): Promise<void> {
  const db = openDatabase<CoreTables>(location)
  try {
    await db.write(async (tx) => {
      for (let start = 0; start < count; start += ROWS_AT_A_TIME) {
        const length = Math.min(ROWS_AT_A_TIME, count - start)
        const rows = Array.from({ length }, (_, index) => row(start + index))
        await tx
          .insertInto(table)
          .values(rows as never)
          .execute()
      }
    })
  } finally {
    await db.close()
  }
}

export const beginsMs = Date.UTC(2026, 0, 1)
const day = (index: number) => new Date(beginsMs + (index % 1_000) * DAY_MS).toISOString().slice(0, 10)

const milestone = (groupId: number) => (index: number) => ({
  group_id: groupId,
  project_id: null,
  iid: index + 1,
  title: `Release ${index + 1}`,
  description: `What is to be done before the apples of week ${index} can be delivered to everyone who has asked for some.`,
  state: index % 3 === 0 ? ('closed' as const) : ('active' as const),
  start_date: day(index),
  due_date: day(index + 14),
  created_at_ms: beginsMs + index * 60_000,
  updated_at_ms: beginsMs + index * 61_000,
})

const issue = (projectId: number, authorId: number) => (index: number) => ({
  project_id: projectId,
  iid: index + 1,
  title: `Crate ${index + 1} is leaking`,
  description: `It stands in the third row and has been dripping since the delivery of week ${index}.`,
  state: 'opened' as const,
  author_id: authorId,
  milestone_id: null,
  due_date: null,
  is_confidential: 0,
  is_discussion_locked: null,
  weight: null,
  closed_by_id: null,
  closed_at_ms: null,
  created_at_ms: beginsMs + index * 60_000,
  updated_at_ms: beginsMs + index * 61_000,
})
