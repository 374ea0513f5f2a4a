import { World } from '@penstock/testkit'
import fc from 'fast-check'
import { CompiledQuery, createQueryId, type KyselyPlugin, PostgresAdapter, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { type MilestoneFilter, pageOfMilestones } from './milestone-list-store.ts'
import { groupMilestones, projectMilestones } from './milestone-operations.ts'

let world: World
let mira: User
let ops: Group

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  ops = await world.group('ops')
  await world.member(ops, mira, accessLevels.developer)
})

afterEach(() => world.close())

async function add(parent: Group | Project, title: string, fields: object = {}) {
  const admin = { id: mira.id, username: 'mira', isAdministrator: true, botHome: undefined }
  const operations = parent.kind === 'group' ? groupMilestones : projectMilestones
  return world.perform(admin, operations.create, { parent: parent.id, title, ...fields })
}

const list = (filter: object = {}, actor = mira) =>
  world.perform(actor, groupMilestones.list, { parent: ops.id, ...filter })
const titles = async (filter?: object, actor?: User) => (await list(filter, actor)).items.map(({ title }) => title)

test('lists by due date, those without one last, the newest first among equals', async () => {
  await add(ops, 'never')
  await add(ops, 'june', { dueDate: '2026-06-01' })
  await add(ops, 'may', { dueDate: '2026-05-01' })
  await add(ops, 'may too', { dueDate: '2026-05-01' })
  await add(ops, 'never either')
  await add(ops, 'last day', { dueDate: '9999-12-31' })
  expect(await titles()).toEqual(['may too', 'may', 'june', 'last day', 'never either', 'never'])
})

describe('filters', () => {
  test('filters by state, iids and exact title', async () => {
    const { id } = await add(ops, 'one')
    await add(ops, 'two')
    await world.perform(mira, groupMilestones.update, { parent: ops.id, milestoneId: id, stateEvent: 'close' })
    expect(await titles({ state: 'closed' })).toEqual(['one'])
    expect(await titles({ state: 'active' })).toEqual(['two'])
    expect(await titles({ state: 'all' })).toEqual(['two', 'one'])
    expect(await titles({ iids: [2, 9] })).toEqual(['two'])
    expect(await titles({ iids: [9] })).toEqual([])
    expect(await titles({ title: 'one' })).toEqual(['one'])
    expect(await titles({ title: 'One' })).toEqual([])
  })

  test('search matches every word, in any order and case, as a part of title or description', async () => {
    await add(ops, 'Spring release', { description: '50% Done' })
    await add(ops, 'autumn')
    expect(await titles({ search: 'LEASE pri' })).toEqual(['Spring release'])
    expect(await titles({ search: 'spring done' })).toEqual(['Spring release'])
    expect(await titles({ search: '0%' })).toEqual(['Spring release'])
    expect(await titles({ search: '_' })).toEqual([])
    expect(await titles({ searchTitle: 'lease SPRING' })).toEqual(['Spring release'])
    expect(await titles({ searchTitle: 'spring done' })).toEqual([])
    expect(await titles({ search: ' ' })).toEqual(['autumn', 'Spring release'])
  })

  test.each([
    ['ÄÖÜ Straße', 'äöü STRAßE', 'STRASSE'],
    ['ΟΔΥΣΣΕΥΣ', 'οδυσσευς', 'ΟΔΎΣΣΕΎΣ'],
    ['Весна', 'вЕСНА', 'весны'],
  ])('search finds %s by %s but not by %s', async (title, search, other) => {
    await add(ops, title)
    expect(await titles({ search })).toEqual([title])
    expect(await titles({ searchTitle: search.slice(0, 5) })).toEqual([title])
    expect(await titles({ search: other })).toEqual([])
  })

  test('bounds of the update time are inclusive', async () => {
    await add(ops, 'early')
    await world.clock.advance(1_000)
    await add(ops, 'late')
    expect(await titles({ updatedBefore: '2026-02-03T04:05:06.789Z' })).toEqual(['early'])
    expect(await titles({ updatedAfter: '2026-02-03T04:05:07.789Z' })).toEqual(['late'])
    expect(await titles({ updatedAfter: '2026-02-03T04:05:07.790Z' })).toEqual([])
  })

  test('date filters leave out milestones without the compared date', async () => {
    await add(ops, 'spring', { startDate: '2026-03-01', dueDate: '2026-05-31' })
    await add(ops, 'begun', { startDate: '2026-03-01' })
    await add(ops, 'due', { dueDate: '2026-05-31' })
    expect(await titles({ containingDate: '2026-05-31T23:00:00-05:00' })).toEqual(['spring'])
    expect(await titles({ containingDate: '2026-06-01T00:30:00+02:00' })).toEqual([])
    expect(await titles({ containingDate: '2026-03-01' })).toEqual(['spring'])
    expect(await titles({ containingDate: '2026-06-01' })).toEqual([])
    expect(await titles({ startDate: '2026-05-31', endDate: '2026-06-30' })).toEqual(['spring'])
    expect(await titles({ startDate: '2026-01-01', endDate: '2026-03-01' })).toEqual(['spring'])
    expect(await titles({ startDate: '2026-06-01', endDate: '2026-06-30' })).toEqual([])
    expect(await titles({ startDate: '2026-01-01', endDate: '2026-02-28' })).toEqual([])
  })

  test.each([
    [{ state: 'open' }, { path: ['state'], problem: 'unknown_value' }],
    [{ updatedBefore: 'soon' }, { path: ['updatedBefore'], problem: 'invalid' }],
    [{ startDate: '2026-01-01' }, { path: [], problem: 'all_or_none', names: ['startDate', 'endDate'] }],
    [{ endDate: '2026-01-01' }, { path: [], problem: 'all_or_none', names: ['startDate', 'endDate'] }],
    [
      { includeAncestors: false, includeParentMilestones: true },
      { path: [], problem: 'mutually_exclusive', names: ['includeAncestors', 'includeParentMilestones'] },
    ],
  ])('rejects %j', async (filter, problem) => {
    const refused = await list(filter).catch((error: DomainError) => error.failure)
    expect(refused).toEqual({ code: 'parameters', problems: [problem] })
  })
})

describe('the hierarchy', () => {
  let infra: Group
  let noor: User

  beforeEach(async () => {
    noor = await world.user('noor')
    infra = await world.group('infra', { parent: ops, visibility: 'public' })
    const secret = await world.group('secret', { parent: infra })
    const beside = await world.group('beside', { parent: ops })
    const own = await world.project('own', secret)
    await world.member(own, noor, accessLevels.guest)
    const milestones = [
      [ops, 'of ops'],
      [infra, 'of infra'],
      [secret, 'of secret'],
      [beside, 'of beside'],
      [own, 'of own'],
      [await world.project('open', secret, 'internal'), 'of open'],
      [await world.project('hidden', infra), 'of hidden'],
    ] as const
    for (const [parent, title] of milestones) await add(parent, title)
  })

  const sorted = async (filter: object, actor: User) =>
    (await titles({ parent: infra.id, ...filter }, actor)).map((title) => title.replace('of ', '')).sort()

  test('lists only the group’s own milestones by default', async () => {
    expect(await sorted({}, mira)).toEqual(['infra'])
    expect(await sorted({}, noor)).toEqual(['infra'])
  })

  test('includes visible groups above, and ignores the iids filter then', async () => {
    expect(await sorted({ includeAncestors: true, iids: [9] }, mira)).toEqual(['infra', 'ops'])
    expect(await sorted({ includeParentMilestones: true }, mira)).toEqual(['infra', 'ops'])
    expect(await sorted({ includeAncestors: true }, noor)).toEqual(['infra', 'ops'])
    const stranger = await world.user('stranger')
    expect(await sorted({ includeAncestors: true }, stranger)).toEqual(['infra'])
  })

  test('includes visible groups and projects below', async () => {
    const below = { includeDescendants: true }
    expect(await sorted(below, mira)).toEqual(['hidden', 'infra', 'open', 'own', 'secret'])
    expect(await sorted(below, noor)).toEqual(['infra', 'open', 'own', 'secret'])
    expect(await sorted(below, await world.user('stranger'))).toEqual(['infra', 'open'])
    expect(await sorted({ ...below, includeAncestors: true }, mira)).toContain('ops')
  })

  test('a project’s list can include the groups above', async () => {
    const page = await world.perform(noor, projectMilestones.list, { parent: 'ops/infra/secret/own' })
    expect(page.items).toMatchObject([
      { title: 'of own', parent: { kind: 'project', fullPath: 'ops/infra/secret/own' } },
    ])
    const above = await world.perform(noor, projectMilestones.list, {
      parent: 'ops/infra/secret/own',
      includeAncestors: true,
    })
    expect(above.items.map(({ title }) => title)).toEqual(['of own', 'of secret', 'of infra', 'of ops'])
  })
})

test('pages of any size contain each milestone once, in the same order', async () => {
  const dueDates = fc.array(fc.constantFrom('2026-05-01', '2026-06-01', ''), { maxLength: 12 })
  let round = 0
  await fc.assert(
    fc.asyncProperty(dueDates, fc.integer({ min: 1, max: 5 }), async (dates, perPage) => {
      round += 1
      const group = await world.group(`round-${round}`)
      await world.member(group, mira, accessLevels.developer)
      for (const [index, dueDate] of dates.entries()) await add(group, `m${index}`, { dueDate })
      const ids: number[] = []
      for (let page = 1, hasNext = true; hasNext; page += 1) {
        const some = await list({ parent: group.id, page, perPage })
        ids.push(...some.items.map(({ id }) => id))
        hasNext = some.hasNext
      }
      const all = await list({ parent: group.id, perPage: 100 })
      expect(ids).toEqual(all.items.map(({ id }) => id))
      expect(new Set(ids).size).toBe(dates.length)
    }),
    { numRuns: 25 },
  )
})

describe('a page and its count are read in index order', () => {
  /** Returns the query plans of `pageOfMilestones`: for the page, then for the count. */
  async function plansOf(scope: { column: 'group_id' | 'project_id'; id: number }, filter: MilestoneFilter) {
    const { read } = world.core.db
    const executor = read.getExecutor()
    const queries: CompiledQuery[] = []
    const capture: KyselyPlugin = {
      transformQuery({ node }) {
        queries.push(executor.compileQuery(node, createQueryId()))
        return node
      },
      transformResult: async ({ result }) => result,
    }
    const context = { db: read.withPlugin(capture), nowMs: world.clock.nowMs() }
    await pageOfMilestones(context, (eb) => eb(scope.column, '=', scope.id), filter, { page: 1, perPage: 100 })
    const explain = executor.adapter instanceof PostgresAdapter ? 'explain' : 'explain query plan'
    const plans = queries.map((query) =>
      read.executeQuery<object>(CompiledQuery.raw(`${explain} ${query.sql}`, [...query.parameters])),
    )
    return (await Promise.all(plans)).map(({ rows }) => JSON.stringify(rows))
  }

  test.each([
    ['group_id', { state: 'all' }, 'milestones_group_order'],
    ['group_id', { state: 'closed' }, 'milestones_group_state'],
    ['group_id', { state: 'all', title: 'm7' }, 'milestones_group_title'],
    ['project_id', { state: 'all' }, 'milestones_project_order'],
    ['project_id', { state: 'closed' }, 'milestones_project_state'],
    ['project_id', { state: 'all', title: 'm7' }, 'milestones_project_title'],
  ] as const)('the list by %s and %j uses %s', async (column, filter, index) => {
    const project = await world.project('tools', ops)
    const { id } = column === 'group_id' ? ops : project
    await world.core.db.write(async (tx) => {
      const numbers = Array.from({ length: 1_000 }, (_, number) => number + 1)
      for (const parent of [{ group_id: ops.id }, { project_id: project.id }]) {
        const rows = numbers.map((iid) => ({
          ...{ group_id: null, project_id: null, ...parent },
          ...({ iid, title: `m${iid}`, description: null, state: iid % 2 === 0 ? 'active' : 'closed' } as const),
          ...{ start_date: null, due_date: null, created_at_ms: 0, updated_at_ms: 0 },
        }))
        await tx.insertInto('milestones').values(rows).execute()
      }
      await sql`analyze milestones`.execute(tx)
    })
    const [page, count] = await plansOf({ column, id }, filter)
    expect(page).toMatch(new RegExp(`using (index )?${index}`, 'i'))
    expect([page, count].join()).not.toMatch(/sort|temp b-tree/i)
  })
})
