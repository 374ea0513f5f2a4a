import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Subject } from '../../base/access/subject.ts'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { performBatch } from '../../base/operations/perform.ts'
import { updateApplicationSettings } from '../../base/settings/settings-operations.ts'
import { mayLeaveEach } from '../members/may-leave.ts'
import { groupMembers, projectMembers } from './member-operations.ts'

const { guest, developer, maintainer, owner, minimal } = accessLevels

let world: World
let mira: User
let noor: User
let ivo: User
let ops: Group
let infra: Group
let tool: Project

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  noor = await world.user('noor')
  ivo = await world.user('ivo')
  ops = await world.group('ops')
  infra = await world.group('infra', { parent: ops })
  tool = await world.project('tool', infra)
  await world.member(ops, mira, owner)
  await world.member(ops, noor, developer)
})

afterEach(() => world.close())

const failure = (error: DomainError) => error.failure
const roles = (page: { items: readonly { user: User; level: number }[] }) =>
  page.items.map(({ user, level }) => [user.username, level])

describe('reading', () => {
  test('lists direct members, and inherited ones with their highest role', async () => {
    await world.member(infra, ivo, guest)
    await world.member(tool, noor, maintainer)
    await world.member(tool, ivo, guest, '2026-02-03')
    expect(roles(await world.perform(noor, projectMembers.list, { parent: 'ops/infra/tool' }))).toEqual([
      ['noor', maintainer],
    ])
    expect(roles(await world.perform(noor, projectMembers.listAll, { parent: tool.id }))).toEqual([
      ['mira', owner],
      ['ivo', guest],
      ['noor', maintainer],
    ])
    const filtered = { parent: tool.id, query: 'OO', userIds: [noor.id, ivo.id] }
    expect(roles(await world.perform(noor, projectMembers.listAll, filtered))).toEqual([['noor', maintainer]])
    const others = { parent: tool.id, skipUsers: [noor.id, mira.id] }
    expect(roles(await world.perform(noor, projectMembers.listAll, others))).toEqual([['ivo', guest]])
  })

  test('shows one member', async () => {
    const one = { parent: infra.id, userId: noor.id }
    expect(await world.perform(mira, groupMembers.show, one).catch(failure)).toEqual({ code: 'not_found' })
    expect(await world.perform(mira, groupMembers.showAll, one)).toMatchObject({ level: developer, groupId: ops.id })
    expect(await world.perform(ivo, groupMembers.show, one).catch(failure)).toEqual({
      code: 'not_found',
      what: 'Group',
    })
  })
})

describe('adding', () => {
  test('adds a user by id or username', async () => {
    const { members } = await world.perform(mira, groupMembers.add, {
      parent: ops.id,
      username: 'IVO',
      accessLevel: guest,
      expiresAt: '2026-03-01',
    })
    const createdBy = { id: mira.id }
    expect(members).toMatchObject([{ user: ivo, level: guest, expiresAt: '2026-03-01', createdBy }])
  })

  test('only administrators add users while invitations are disabled; others still change and remove members', async () => {
    const root = await world.user('root', { isAdministrator: true })
    await world.perform(root, updateApplicationSettings, { disable_invite_members: true })
    for (const [operations, parent] of [
      [groupMembers, infra],
      [projectMembers, tool],
    ] as const) {
      const draft = { parent: parent.id, userId: ivo.id, accessLevel: guest }
      expect(await world.perform(mira, operations.add, draft).catch(failure)).toMatchObject({ code: 'forbidden' })
      // The name of a user who does not exist is not looked up.
      const unknown = { parent: parent.id, userId: 9_999, accessLevel: guest }
      expect(await world.perform(mira, operations.add, unknown).catch(failure)).toMatchObject({ code: 'forbidden' })
      expect((await world.perform(root, operations.add, draft)).members).toMatchObject([{ user: ivo, level: guest }])
      const one = { parent: parent.id, userId: ivo.id }
      expect(await world.perform(mira, operations.update, { ...one, accessLevel: developer })).toMatchObject({
        level: developer,
      })
      await world.perform(mira, operations.remove, one)
    }
  })

  test('replaces an expired role', async () => {
    await world.member(tool, ivo, guest, '2026-01-01')
    const draft = { parent: tool.id, userId: ivo.id, accessLevel: developer }
    expect((await world.perform(mira, projectMembers.add, draft)).members).toMatchObject([{ level: developer }])
  })

  test.each([
    [{ userId: 99 }, { code: 'not_found', what: 'User' }],
    [{ userId: 2 }, { code: 'conflict', reason: 'Member already exists' }],
    [{ accessLevel: 7 }, { code: 'parameters', problems: [{ path: ['accessLevel'], problem: 'unknown_value' }] }],
    [{ expiresAt: '2026-02-02' }, { code: 'invalid', fields: { expiresAt: ['cannot be a date in the past'] } }],
    [
      { userId: undefined },
      { code: 'parameters', problems: [{ path: [], problem: 'at_least_one', names: ['userId', 'username'] }] },
    ],
  ])('rejects %j', async (change, expected) => {
    const draft = { parent: ops.id, userId: ivo.id, accessLevel: guest, ...change }
    expect(await world.perform(mira, groupMembers.add, draft).catch(failure)).toEqual(expected)
  })

  test('allows minimal access only in top-level groups', async () => {
    const draft = { userId: ivo.id, accessLevel: minimal }
    const fields = { accessLevel: ['is not included in the list'] }
    for (const answer of [
      world.perform(mira, groupMembers.add, { ...draft, parent: infra.id }).catch(failure),
      world.perform(mira, projectMembers.add, { ...draft, parent: tool.id }).catch(failure),
    ])
      expect(await answer).toEqual({ code: 'invalid', fields })
    const { members } = await world.perform(mira, groupMembers.add, { ...draft, parent: ops.id })
    expect(members).toMatchObject([{ level: minimal }])
  })

  test('rejects a role below the inherited one', async () => {
    const draft = { parent: tool.id, userId: noor.id, accessLevel: guest }
    const message = 'should be greater than or equal to Developer inherited membership from group ops'
    expect(await world.perform(mira, projectMembers.add, draft).catch(failure)).toEqual({
      code: 'invalid',
      fields: { accessLevel: [message] },
    })
  })
})

describe('permissions', () => {
  test('members cannot give or change a role above their own', async () => {
    await world.member(tool, ivo, maintainer)
    const lena = await world.user('lena')
    const add = (accessLevel: number) =>
      world.perform(ivo, projectMembers.add, { parent: tool.id, userId: lena.id, accessLevel }).catch(failure)
    expect(await add(owner)).toEqual({ code: 'forbidden' })
    expect(await add(maintainer)).toMatchObject({ members: [{ level: maintainer }] })
    await world.member(tool, noor, owner)
    const theirs = { parent: tool.id, userId: noor.id }
    expect(await world.perform(ivo, projectMembers.remove, theirs).catch(failure)).toEqual({ code: 'forbidden' })
    const lowered = { ...theirs, accessLevel: developer }
    expect(await world.perform(ivo, projectMembers.update, lowered).catch(failure)).toEqual({ code: 'forbidden' })
  })

  test('members cannot change other members, but may leave', async () => {
    const self = { parent: ops.id, userId: noor.id }
    const other = { parent: ops.id, userId: mira.id }
    expect(await world.perform(noor, groupMembers.remove, other).catch(failure)).toEqual({ code: 'forbidden' })
    const raised = { ...self, accessLevel: owner }
    expect(await world.perform(noor, groupMembers.update, raised).catch(failure)).toEqual({ code: 'forbidden' })
    await world.perform(noor, groupMembers.remove, self)
    expect(roles(await world.perform(mira, groupMembers.list, { parent: ops.id }))).toEqual([['mira', owner]])
  })

  test('the last owner of a group cannot be removed', async () => {
    const self = { parent: ops.id, userId: mira.id }
    const admin = await world.user('root', { isAdministrator: true })
    for (const answer of [
      world.perform(mira, groupMembers.remove, self).catch(failure),
      world.perform(admin, groupMembers.remove, self).catch(failure),
      world.perform(mira, groupMembers.update, { ...self, accessLevel: maintainer }).catch(failure),
      world.perform(mira, groupMembers.update, { ...self, accessLevel: owner, expiresAt: '2026-03-01' }).catch(failure),
    ])
      expect(await answer).toEqual({ code: 'forbidden' })
    await world.perform(mira, groupMembers.update, { parent: ops.id, userId: noor.id, accessLevel: owner })
    await world.perform(mira, groupMembers.remove, self)
    const left = world.perform(noor, groupMembers.remove, { parent: ops.id, userId: noor.id }).catch(failure)
    expect(await left).toEqual({ code: 'forbidden' })
  })

  test('the owners of the groups above are treated as owners of a subgroup', async () => {
    await world.member(infra, mira, owner)
    await world.perform(mira, groupMembers.remove, { parent: infra.id, userId: mira.id })
    expect(roles(await world.perform(mira, groupMembers.list, { parent: infra.id }))).toEqual([])
  })

  test('the owner of a namespace cannot be removed from its projects', async () => {
    const notes = await world.project('notes', ivo)
    const self = { parent: notes.id, userId: ivo.id }
    expect(await world.perform(ivo, projectMembers.remove, self).catch(failure)).toEqual({ code: 'forbidden' })
    const lowered = world.perform(ivo, projectMembers.update, { ...self, accessLevel: guest })
    expect(await lowered.catch(failure)).toEqual({ code: 'forbidden' })
  })
})

describe('changing several', () => {
  const roster = async () => roles(await world.perform(mira, groupMembers.list, { parent: ops.id }))
  const change = (userIds: readonly number[], rest: object = {}) =>
    world.perform(mira, groupMembers.updateMany, { parent: ops.id, userIds, accessLevel: maintainer, ...rest })

  beforeEach(() => world.member(ops, ivo, guest, '2026-03-01'))

  test('changes each member once, in the given order', async () => {
    const members = await change([ivo.id, noor.id, ivo.id])
    expect(roles({ items: members })).toEqual([
      ['ivo', maintainer],
      ['noor', maintainer],
    ])
    expect(members.map(({ expiresAt }) => expiresAt)).toEqual(['2026-03-01', undefined])
    expect((await change([ivo.id], { expiresAt: null }))[0]?.expiresAt).toBeUndefined()
  })

  test.each([
    ['one is no direct member', () => [noor.id, 999], { code: 'invalid' }],
    ['one is the last owner', () => [noor.id, mira.id], { code: 'forbidden' }],
    ['they are too many', () => Array.from({ length: 101 }, () => noor.id), { code: 'parameters' }],
  ])('changes no member if %s', async (_, userIds, expected) => {
    const before = await roster()
    expect(await change(userIds()).catch(failure)).toMatchObject(expected)
    expect(await roster()).toEqual(before)
  })

  test('rejects callers who may not change members', async () => {
    const draft = { parent: ops.id, userIds: [ivo.id], accessLevel: guest }
    expect(await world.perform(noor, groupMembers.updateMany, draft).catch(failure)).toEqual({ code: 'forbidden' })
  })
})

describe('mayLeaveEach', () => {
  const mayLeave = (actor: User | undefined, subjects: readonly Subject[]) =>
    performBatch(world.core, actor, mayLeaveEach, subjects, {})

  test('is true for a direct role, unless its removal would be rejected', async () => {
    const notes = await world.project('notes', ivo)
    await world.member(tool, noor, developer)
    await world.member(notes, noor, guest)
    expect(await mayLeave(noor, [ops, infra, tool, notes])).toEqual([true, false, true, true])
    expect(await mayLeave(ivo, [ops, tool, notes])).toEqual([false, false, false])
    expect(await mayLeave(undefined, [ops, tool])).toEqual([false, false])
  })

  test('is false for the last owner of a group until there is another without an expiry date', async () => {
    expect(await mayLeave(mira, [ops])).toEqual([false])
    await world.member(ops, ivo, owner, '2026-03-01')
    expect(await mayLeave(mira, [ops])).toEqual([false])
    await world.perform(mira, groupMembers.update, { parent: ops.id, userId: noor.id, accessLevel: owner })
    expect(await mayLeave(mira, [ops])).toEqual([true])
  })

  test('agrees with the result of removing the member', async () => {
    await world.member(infra, mira, owner)
    await world.member(tool, mira, maintainer)
    const places = [ops, infra, tool]
    const predicted = await mayLeave(mira, places)
    expect(predicted).toEqual([false, true, true])
    for (const [index, place] of places.entries()) {
      const { remove } = place.kind === 'group' ? groupMembers : projectMembers
      const left = world.perform(mira, remove, { parent: place.id, userId: mira.id, skipSubresources: true })
      expect(
        await left.then(
          () => true,
          () => false,
        ),
      ).toBe(predicted[index])
    }
  })
})

test('a change without an expiry date keeps the present one', async () => {
  await world.member(tool, ivo, guest, '2026-03-01')
  const change = { parent: tool.id, userId: ivo.id, accessLevel: developer }
  expect((await world.perform(mira, projectMembers.update, change)).expiresAt).toBe('2026-03-01')
  const cleared = await world.perform(mira, projectMembers.update, { ...change, expiresAt: '' })
  expect(cleared).toMatchObject({ level: developer, expiresAt: undefined })
})

test('removing a member of a group also removes the roles below it, unless skipSubresources', async () => {
  const lena = await world.user('lena')
  for (const user of [ivo, lena]) {
    await world.member(ops, user, guest)
    await world.member(tool, user, developer)
  }
  await world.perform(mira, groupMembers.remove, { parent: ops.id, userId: ivo.id })
  await world.perform(mira, groupMembers.remove, { parent: ops.id, userId: lena.id, skipSubresources: true })
  expect(roles(await world.perform(mira, projectMembers.list, { parent: tool.id }))).toEqual([['lena', developer]])
})
