import { WORLD_BEGINS_MS, World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { User } from '../../base/model/user.ts'
import { archiveProject } from '../../code/projects/project-operations.ts'
import { listGroupMilestoneIssues } from '../issues/milestone-issues.ts'
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

const failure = (error: DomainError) => error.failure
const create = (input: object, actor = mira) =>
  world.perform(actor, groupMilestones.create, { parent: ops.id, ...input })
const update = (input: object) => world.perform(mira, groupMilestones.update, { parent: ops.id, ...input })
const events = async () => {
  const rows = await world.core.db.read.selectFrom('events').select(['type', 'details']).orderBy('id').execute()
  return rows.map(({ type, details }) => [type, JSON.parse(details)])
}

describe('create', () => {
  test('numbers milestones within the group, and never reuses an iid', async () => {
    const first = await create({ title: 'Winter' })
    await world.perform(mira, groupMilestones.remove, { parent: 'ops', milestoneId: first.id })
    const spring = { title: 'Spring', description: 'Seeds', startDate: '2026-03-01', dueDate: '2026-05-31' }
    expect(await create(spring)).toEqual({
      id: first.id + 1,
      iid: 2,
      parent: { kind: 'group', id: ops.id, fullPath: 'ops' },
      ...spring,
      state: 'active',
      createdAtMs: WORLD_BEGINS_MS,
      updatedAtMs: WORLD_BEGINS_MS,
    })
  })

  test.each([
    ['  <b>v1</b> &amp; <!-- x -->more<br/> ', 'v1 & more'],
    ['a < b &lt;i&gt; &#39;c&#x27; &nope; &constructor; &#0;', "a < b <i> 'c' &nope; &constructor; &#0;"],
  ])('stores the title %j as %j', async (title, stored) => {
    expect(await create({ title })).toMatchObject({ title: stored })
  })

  test.each([
    [{ title: ' <b></b> ' }, { title: ["can't be blank"] }],
    [{ title: 'x'.repeat(256) }, { title: ['is too long (maximum is 255 characters)'] }],
    [{ title: 'x', description: 'y'.repeat(65_537) }, { description: ['is too long (maximum is 65536 characters)'] }],
    [{ title: 'x', startDate: '2026-03-02', dueDate: '2026-03-01' }, { dueDate: ['must be greater than start date'] }],
    [{ title: 'x', dueDate: '10000-01-01' }, { dueDate: ['date must not be after 9999-12-31'] }],
    [{ title: 'x', startDate: '2026-03-01', dueDate: '2026-03-01' }, { dueDate: ['must be greater than start date'] }],
    [{ title: 'x', startDate: '10000-01-01' }, { startDate: ['date must not be after 9999-12-31'] }],
  ])('rejects %j', async (input, fields) => {
    expect(await create(input).catch(failure)).toEqual({ code: 'invalid', fields })
  })

  test.each([
    { title: '🌱'.repeat(255) },
    { title: 'x', startDate: '9999-12-30', dueDate: '9999-12-31' },
    { title: 'x', startDate: '2028-02-29', dueDate: '2028-03-01' },
    { title: 'x', startDate: '', dueDate: null },
  ])('accepts %j', async (input) => {
    expect(await create(input)).toMatchObject({ title: input.title })
  })

  test.each([
    [{}, { path: ['title'], problem: 'missing' }],
    [
      { title: 'x', startDate: '2027-02-29' },
      { path: ['startDate'], problem: 'invalid' },
    ],
    [
      { title: 'x', startDate: '2026-3-1' },
      { path: ['startDate'], problem: 'invalid' },
    ],
    [
      { title: 'x', dueDate: '2026-02-30' },
      { path: ['dueDate'], problem: 'invalid' },
    ],
  ])('answers a parameter error for %j', async (input, problem) => {
    expect(await create(input).catch(failure)).toEqual({ code: 'parameters', problems: [problem] })
  })

  test('a title is unique among the groups above and everything below', async () => {
    const infra = await world.group('infra', { parent: ops })
    const [tools, other] = [await world.project('tools', infra), await world.group('other')]
    const admin = await world.user('root', { isAdministrator: true })
    const taken = { code: 'invalid', fields: { title: ['already being used for another group or project milestone.'] } }
    const make = (parent: Group | typeof tools, title: string) =>
      parent.kind === 'group'
        ? world.perform(admin, groupMilestones.create, { parent: parent.id, title }).catch(failure)
        : world.perform(admin, projectMilestones.create, { parent: parent.id, title }).catch(failure)
    await make(infra, 'v1')
    expect([await make(ops, 'v1'), await make(infra, 'v1'), await make(tools, 'v1')]).toEqual([taken, taken, taken])
    await make(tools, 'v2')
    expect([await make(ops, 'v2'), await make(tools, 'v2')]).toEqual([taken, taken])
    expect(await make(other, 'v1')).toMatchObject({ title: 'v1' })
    expect(await make(ops, 'V1')).toMatchObject({ title: 'V1' })
  })
})

describe('update', () => {
  test('keeps fields that are not given; null and an empty date clear a field', async () => {
    const { id } = await create({ title: 'x', description: 'y', startDate: '2026-03-01', dueDate: '2026-05-31' })
    await world.clock.advance(1_000)
    expect(await update({ milestoneId: id, description: null, dueDate: '' })).toMatchObject({
      title: 'x',
      description: undefined,
      startDate: '2026-03-01',
      dueDate: undefined,
      updatedAtMs: WORLD_BEGINS_MS + 1_000,
    })
    expect(await update({ milestoneId: id, startDate: null })).toMatchObject({ startDate: undefined })
  })

  test('changes nothing without input, or with an event that does not apply to the state', async () => {
    const before = await create({ title: 'x' })
    await world.clock.advance(1_000)
    expect(await update({ milestoneId: before.id })).toEqual(before)
    expect(await update({ milestoneId: before.id, title: 'x', stateEvent: 'activate' })).toEqual(before)
    expect(await events()).toHaveLength(1)
  })

  test('closes and reopens, and records the events', async () => {
    const { id } = await create({ title: 'x' })
    expect(await update({ milestoneId: id, stateEvent: 'close' })).toMatchObject({ state: 'closed' })
    expect(await update({ milestoneId: id, stateEvent: 'activate', title: 'y' })).toMatchObject({ state: 'active' })
    await world.perform(mira, groupMilestones.remove, { parent: 'ops', milestoneId: id })
    expect(await events()).toEqual([
      ['milestone.created', { iid: 1, title: 'x' }],
      ['milestone.closed', { iid: 1, title: 'x' }],
      ['milestone.updated', { iid: 1, title: 'y' }],
      ['milestone.reopened', { iid: 1, title: 'y' }],
      ['milestone.removed', { iid: 1, title: 'y' }],
    ])
  })

  test('accepts the milestone’s own title, and rejects the title of another', async () => {
    const [{ id }] = [await create({ title: 'x' }), await create({ title: 'y' })]
    expect(await update({ milestoneId: id, title: 'x', description: 'z' })).toMatchObject({ description: 'z' })
    expect(await update({ milestoneId: id, title: 'y' }).catch(failure)).toMatchObject({ code: 'invalid' })
  })

  test.each([
    [{ title: '' }, { title: ["can't be blank"] }],
    [{ dueDate: '2026-02-28' }, { dueDate: ['must be greater than start date'] }],
    [{ startDate: '2026-05-31' }, { dueDate: ['must be greater than start date'] }],
  ])('rejects %j and changes nothing', async (input, fields) => {
    const before = await create({ title: 'x', startDate: '2026-03-01', dueDate: '2026-05-31' })
    expect(await update({ milestoneId: before.id, ...input }).catch(failure)).toEqual({ code: 'invalid', fields })
    expect(await world.perform(mira, groupMilestones.get, { parent: 'ops', milestoneId: before.id })).toEqual(before)
  })

  test('rejects an unknown event', async () => {
    expect(await update({ milestoneId: 1, stateEvent: 'reopen' }).catch(failure)).toEqual({
      code: 'parameters',
      problems: [{ path: ['stateEvent'], problem: 'unknown_value' }],
    })
  })
})

describe('permissions', () => {
  test.each([
    ['guest', 'forbidden', 'forbidden'],
    ['planner', 'allowed', 'forbidden'],
    ['reporter', 'allowed', 'forbidden'],
    ['securityManager', 'allowed', 'forbidden'],
    ['developer', 'allowed', 'allowed'],
    ['maintainer', 'allowed', 'allowed'],
    ['owner', 'allowed', 'allowed'],
  ] as const)('%s can read; to write: %s, to remove: %s', async (role, write, remove) => {
    const { id } = await create({ title: 'x' })
    const noor = await world.user('noor')
    await world.member(ops, noor, accessLevels[role])
    const answerOf = (done: Promise<unknown>) => done.then(() => 'allowed').catch((error) => failure(error).code)
    const one = { parent: ops.id, milestoneId: id }
    expect(await answerOf(world.perform(noor, groupMilestones.get, one))).toBe('allowed')
    expect(await answerOf(create({ title: 'y' }, noor))).toBe(write)
    expect(await answerOf(world.perform(noor, groupMilestones.update, { ...one, title: 'z' }))).toBe(write)
    expect(await answerOf(world.perform(noor, groupMilestones.remove, one))).toBe(remove)
  })

  test('members of only a project below can read the group’s milestones but not change them', async () => {
    const infra = await world.group('infra', { parent: ops })
    const [tools, noor] = [await world.project('tools', infra), await world.user('noor')]
    const { id } = await create({ title: 'x' })
    await world.member(tools, noor, accessLevels.maintainer)
    const one = { parent: 'ops', milestoneId: id }
    expect(await world.perform(noor, groupMilestones.list, { parent: 'ops' })).toMatchObject({
      items: [{ title: 'x' }],
    })
    expect(await world.perform(noor, groupMilestones.get, one)).toMatchObject({ title: 'x' })
    expect(await world.perform(noor, listGroupMilestoneIssues, one)).toMatchObject({ items: [] })
    expect(await create({ title: 'y' }, noor).catch(failure)).toEqual({ code: 'forbidden' })
    expect(await world.perform(noor, groupMilestones.remove, one).catch(failure)).toEqual({ code: 'forbidden' })
  })

  test('minimal access allows reading, in its own group only', async () => {
    const noor = await world.user('noor')
    await world.member(ops, noor, accessLevels.minimal)
    await world.group('infra', { parent: ops })
    await create({ title: 'x' })
    const page = await world.perform(noor, groupMilestones.list, { parent: 'ops', includeDescendants: true })
    expect(page.items).toMatchObject([{ title: 'x' }])
    const below = world.perform(noor, groupMilestones.list, { parent: 'ops/infra' })
    expect(await below.catch(failure)).toEqual({ code: 'not_found', what: 'Group' })
  })

  test('milestones of an archived project cannot be changed, even by an administrator', async () => {
    const [tools, admin] = [await world.project('tools', ops), await world.user('root', { isAdministrator: true })]
    const { id } = await world.perform(admin, projectMilestones.create, { parent: tools.id, title: 'x' })
    await world.perform(admin, archiveProject, { project: tools.id })
    const one = { parent: tools.id, milestoneId: id }
    const forbidden = { code: 'forbidden' }
    expect(await world.perform(admin, projectMilestones.get, one)).toMatchObject({ title: 'x' })
    expect(await world.perform(admin, projectMilestones.update, { ...one, title: 'y' }).catch(failure)).toEqual(
      forbidden,
    )
    expect(await world.perform(admin, projectMilestones.remove, one).catch(failure)).toEqual(forbidden)
  })

  test('reading needs a signed-in user, also in a public group', async () => {
    const [open, noor] = [await world.group('open', { visibility: 'public' }), await world.user('noor')]
    const list = (actor: User | undefined, parent: number) =>
      world.perform(actor, groupMilestones.list, { parent }).catch(failure)
    expect(await list(undefined, open.id)).toEqual({ code: 'unauthenticated' })
    expect(await list(noor, open.id)).toMatchObject({ items: [] })
    expect(await list(noor, ops.id)).toEqual({ code: 'not_found', what: 'Group' })
  })

  test('answers not_found for a milestone of another group, and when the id to remove is not a number', async () => {
    const { id } = await create({ title: 'x' })
    const other = await world.group('other')
    await world.member(other, mira, accessLevels.owner)
    const notThere = { code: 'not_found' }
    const one = { parent: 'other', milestoneId: id }
    expect(await world.perform(mira, groupMilestones.get, one).catch(failure)).toEqual(notThere)
    expect(await world.perform(mira, groupMilestones.remove, one).catch(failure)).toEqual(notThere)
    const word = { parent: 'ops', milestoneId: 'x' }
    expect(await world.perform(mira, groupMilestones.remove, word).catch(failure)).toEqual(notThere)
  })
})
