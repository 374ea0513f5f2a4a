import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { type AccessLevel, accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { performBatch } from '../../base/operations/perform.ts'
import {
  archiveProject,
  removeProject,
  transferProject,
  updateProject,
} from '../../code/projects/project-operations.ts'
import { removeUser } from '../accounts/user-operations.ts'
import { removeGroup } from '../namespaces/group-operations.ts'
import { groupMembers, projectMembers } from '../namespaces/member-operations.ts'
import { getProject } from '../projects/project-store.ts'
import { createProjectToken } from '../tokens/bot-token-operations.ts'
import { getUser } from '../users/user-store.ts'
import { groupAccessRequests, projectAccessRequests } from './access-request-operations.ts'
import { mayRequestAccessToEach } from './may-request-access.ts'

let world: World
let root: User
let ines: User
let noor: User
let ops: Group
let lab: Group
let tools: Project

beforeEach(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  ines = await world.user('ines')
  noor = await world.user('noor')
  ops = await world.group('ops', { visibility: 'public' })
  lab = await world.group('lab', { parent: ops, visibility: 'public' })
  tools = await world.project('tools', lab, 'public')
  await world.member(ops, ines, accessLevels.owner)
})
afterEach(() => world.close())

type Place = Group | Project
const operationsOn = ({ kind }: Place) => (kind === 'group' ? groupAccessRequests : projectAccessRequests)
const failure = (error: DomainError) => error.failure
const request = (place: Place, user = noor) =>
  world.perform(user, operationsOn(place).create, { parent: place.id }).catch(failure)
const approve = (place: Place, actor: User, input: object = {}, user = noor) =>
  world.perform(actor, operationsOn(place).approve, { parent: place.id, userId: user.id, ...input }).catch(failure)
const remove = (place: Place, actor: User, user = noor, ifUnmodifiedSinceMs?: number) =>
  world
    .perform(
      actor,
      operationsOn(place).remove,
      { parent: place.id, userId: user.id },
      ifUnmodifiedSinceMs === undefined ? {} : { ifUnmodifiedSinceMs },
    )
    .catch(failure)
const usersIn = async (place: Place, actor: User, page: object = {}) => {
  const { items } = await world.perform(actor, operationsOn(place).list, { parent: place.id, ...page })
  return items.map(({ user }) => user.username)
}
const count = async () => (await world.core.db.read.selectFrom('access_requests').select('id').execute()).length
const forbidden = { code: 'forbidden' }
const notFound = { code: 'not_found' }
const hidden = { code: 'not_found', what: 'Project' }
const notALevel = { code: 'invalid', fields: { accessLevel: ['is not included in the list'] } }

describe('a request', () => {
  test('is made by a user without a role, once', async () => {
    expect(await request(tools)).toEqual({
      id: 1,
      user: await getUser({ db: world.core.db.read, nowMs: 0 }, noor.id),
      requestedAtMs: world.clock.nowMs(),
    })
    expect(await request(tools)).toEqual({ code: 'invalid', fields: { userId: ['already exists in source'] } })
    expect(await request(lab)).toMatchObject({ user: { username: 'noor' } })
    expect(await count()).toBe(2)
  })

  test('is made once by simultaneous calls', async () => {
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => request(tools)))
    expect(outcomes.filter((each) => 'user' in each)).toHaveLength(1)
    expect(await count()).toBe(1)
  })

  test.each(Object.values(accessLevels).filter((level) => level > accessLevels.minimal))(
    'is not made by a member with the role %i, given there or above',
    async (level: AccessLevel) => {
      const mira = await world.user('mira')
      await world.member(lab, mira, level)
      expect([await request(tools, mira), await request(lab, mira)]).toEqual([forbidden, forbidden])
      expect(await request(ops, mira)).toMatchObject({ user: { username: 'mira' } })
    },
  )

  test('is made with Minimal access above, which is not inherited, but not in the group that gives it', async () => {
    await world.member(ops, noor, accessLevels.minimal)
    expect(await request(ops)).toEqual(forbidden)
    expect(await request(tools)).toMatchObject({ user: { username: 'noor' } })
  })

  test('is made again after a role has expired', async () => {
    await world.member(tools, noor, accessLevels.guest, '2026-02-04')
    expect(await request(tools)).toEqual(forbidden)
    await world.clock.advance(86_400_000)
    await request(tools)
    expect(await approve(tools, ines, { accessLevel: 20 })).toMatchObject({ level: 20, expiresAt: undefined })
  })

  test('is made neither by administrators and bots, nor where requests are not accepted, nor in an archive', async () => {
    expect(await request(tools, root)).toEqual(forbidden)
    const draft = { project: tools.id, name: 'bot', scopes: ['api'], accessLevel: 20 }
    const { userId } = await world.perform(ines, createProjectToken, draft)
    const bot = await getUser({ db: world.core.db.read, nowMs: 0 }, userId)
    expect([await request(tools, bot), await request(ops, bot)]).toEqual([forbidden, forbidden])
    await world.perform(ines, updateProject, { project: tools.id, requestAccessEnabled: false })
    expect(await request(tools)).toEqual(forbidden)
    await world.perform(ines, updateProject, { project: tools.id, requestAccessEnabled: true })
    await world.perform(ines, archiveProject, { project: tools.id })
    expect(await request(tools)).toEqual(forbidden)
    expect(await count()).toBe(0)
  })

  test('is not made where the user sees nothing', async () => {
    const secret = await world.project('secret', lab, 'private')
    expect(await request(secret)).toEqual(hidden)
    expect(await remove(secret, noor)).toEqual(hidden)
    expect(await world.perform(noor, projectAccessRequests.list, { parent: secret.id }).catch(failure)).toEqual(hidden)
  })

  test('gives no rights and is shown in no list of members', async () => {
    const inner = await world.project('inner', ops, 'internal')
    await request(inner)
    await world.perform(ines, updateProject, { project: inner.id, visibility: 'private' })
    expect(await usersIn(inner, ines)).toEqual(['noor'])
    expect(await world.perform(noor, projectMembers.list, { parent: inner.id }).catch(failure)).toEqual(hidden)
    const { items } = await world.perform(ines, projectMembers.listAll, { parent: inner.id })
    expect(items.map(({ user }) => user.username)).toEqual(['ines'])
  })
})

test('a list has all requests for those who decide, oldest first, and for others their own', async () => {
  const [mira, leila] = [await world.user('mira'), await world.user('leila')]
  for (const user of [noor, mira]) for (const place of [tools, lab]) await request(place, user)
  await world.member(lab, leila, accessLevels.maintainer)
  expect([await usersIn(tools, leila), await usersIn(lab, leila)]).toEqual([['noor', 'mira'], []])
  expect([await usersIn(tools, ines), await usersIn(lab, root)]).toEqual([
    ['noor', 'mira'],
    ['noor', 'mira'],
  ])
  expect(await usersIn(tools, leila, { page: 2, perPage: 1 })).toEqual(['mira'])
  expect(await usersIn(lab, mira)).toEqual(['mira'])
  expect(await usersIn(tools, await world.user('otto'))).toEqual([])
})

describe('approval', () => {
  test('makes a Developer, and ends the request', async () => {
    await request(tools)
    await world.clock.advance(1_000)
    expect(await approve(tools, ines)).toMatchObject({
      user: { username: 'noor' },
      level: 30,
      expiresAt: undefined,
      createdAtMs: world.clock.nowMs(),
      createdBy: { username: 'ines' },
    })
    expect(await approve(tools, ines)).toEqual(notFound)
    expect([await remove(tools, ines), await remove(tools, noor)]).toEqual([notFound, notFound])
    const one = { parent: tools.id, userId: noor.id }
    expect(await world.perform(ines, projectMembers.show, one)).toMatchObject({ level: 30 })
  })

  test.each([10, 15, 20, 25, 30, 40, 50])('gives the role %i', async (accessLevel) => {
    await request(lab)
    expect(await approve(lab, ines, { accessLevel })).toMatchObject({ level: accessLevel })
  })

  test('gives Minimal access in a group at the top only, and no role that does not exist', async () => {
    for (const place of [ops, lab, tools]) await request(place)
    for (const accessLevel of [0, 7, -5, 60, 2_147_483_648])
      expect(await approve(ops, ines, { accessLevel })).toEqual(notALevel)
    expect(await approve(lab, ines, { accessLevel: 5 })).toEqual(notALevel)
    expect(await approve(tools, ines, { accessLevel: 5 })).toEqual(notALevel)
    expect(await approve(ops, ines, { accessLevel: 5 })).toMatchObject({ level: 5 })
    expect([await count(), await usersIn(lab, ines)]).toEqual([2, ['noor']])
  })

  test('is for Maintainers of a project, up to their own role, and for Owners of a group', async () => {
    const [mira, leila] = [await world.user('mira'), await world.user('leila')]
    await world.member(lab, mira, accessLevels.maintainer)
    await world.member(lab, leila, accessLevels.developer)
    await request(lab)
    await request(tools)
    for (const actor of [leila, noor]) expect(await approve(tools, actor)).toEqual(forbidden)
    for (const actor of [mira, leila, noor]) expect(await approve(lab, actor)).toEqual(forbidden)
    expect(await approve(tools, mira, { accessLevel: 50 })).toEqual(forbidden)
    expect(await approve(tools, mira, { accessLevel: 40 })).toMatchObject({ level: 40 })
    expect(await approve(lab, root, { accessLevel: 50 })).toMatchObject({ level: 50 })
  })

  test('of a user who did not ask is not found', async () => {
    expect(await approve(tools, ines)).toEqual(notFound)
    expect(await approve(tools, ines, {}, ines)).toEqual(notFound)
  })
})

describe('removal', () => {
  test('is a denial or a withdrawal, after which the user may ask again', async () => {
    const [mira, leila] = [await world.user('mira'), await world.user('leila')]
    await world.member(lab, mira, accessLevels.maintainer)
    await request(tools)
    expect(await remove(tools, leila)).toEqual(forbidden)
    expect(await remove(tools, noor)).toBeUndefined()
    await request(tools)
    expect(await remove(tools, mira)).toBeUndefined()
    await request(lab)
    expect(await remove(lab, mira)).toEqual(forbidden)
    expect(await remove(lab, ines)).toBeUndefined()
    const events = await world.core.db.read
      .selectFrom('events')
      .select(['type', 'details'])
      .where('type', 'like', 'access_request.%')
      .orderBy('id')
      .execute()
    const details = `{"userId":${noor.id}}`
    const types = ['created', 'withdrawn', 'created', 'denied', 'created', 'denied']
    expect(events).toEqual(types.map((what) => ({ type: `access_request.${what}`, details })))
  })

  test('does not touch a member', async () => {
    await world.member(tools, noor, accessLevels.guest)
    expect([await remove(tools, ines), await remove(tools, noor)]).toEqual([notFound, notFound])
    const one = { parent: tools.id, userId: noor.id }
    expect(await world.perform(ines, projectMembers.show, one)).toMatchObject({ level: 10 })
  })

  test('fails for a request that is newer than the caller knows', async () => {
    await request(tools)
    const now = world.clock.nowMs()
    expect(await remove(tools, ines, noor, now - 1)).toEqual({ code: 'changed_since' })
    expect(await remove(tools, ines, noor, now)).toBeUndefined()
  })
})

describe('a request ends', () => {
  beforeEach(async () => {
    for (const place of [ops, lab, tools]) await request(place)
  })

  test('with a role in the same place, which others keep', async () => {
    const add = { parent: tools.id, userId: noor.id, accessLevel: 20 }
    await world.perform(ines, projectMembers.add, add)
    expect([await usersIn(ops, ines), await usersIn(lab, ines), await usersIn(tools, ines)]).toEqual([
      ['noor'],
      ['noor'],
      [],
    ])
  })

  test('with a role above, but not with Minimal access there until that is raised', async () => {
    const one = { parent: ops.id, userId: noor.id }
    await world.perform(ines, groupMembers.add, { ...one, accessLevel: 5 })
    expect([await usersIn(ops, ines), await usersIn(lab, ines), await usersIn(tools, ines)]).toEqual([
      [],
      ['noor'],
      ['noor'],
    ])
    await world.perform(ines, groupMembers.update, { ...one, accessLevel: 10 })
    expect(await count()).toBe(0)
  })

  test('with the user', async () => {
    await world.perform(root, removeUser, { user: noor.id })
    expect(await count()).toBe(0)
  })

  test('with the project, and with the group and all below', async () => {
    await world.perform(ines, removeProject, { project: tools.id })
    expect(await count()).toBe(2)
    await world.perform(ines, removeGroup, { group: ops.id })
    expect(await count()).toBe(0)
  })

  test('with the transfer of the project', async () => {
    const site = await world.group('site', { visibility: 'public' })
    await world.member(site, ines, accessLevels.owner)
    await world.perform(ines, transferProject, { project: tools.id, namespace: site.id })
    expect([await usersIn(tools, ines), await usersIn(lab, ines)]).toEqual([[], ['noor']])
  })
})

test('mayRequestAccessToEach is true exactly where a request would succeed', async () => {
  const mira = await world.user('mira')
  const projects: Project[] = [tools]
  for (const name of ['member', 'pending', 'closed', 'archived'])
    projects.push(await world.project(name, lab, 'public'))
  const [, member, pending, closed, archived] = projects
  await world.member(member!, noor, accessLevels.guest)
  await request(pending!)
  await world.perform(ines, updateProject, { project: closed!.id, requestAccessEnabled: false })
  await world.perform(ines, archiveProject, { project: archived!.id })
  const context = { db: world.core.db.read, nowMs: world.clock.nowMs() }
  const present = await Promise.all(projects.map(({ id }) => getProject(context, id)))
  const answer = (actor: User | undefined) => performBatch(world.core, actor, mayRequestAccessToEach, present, {})
  expect(await answer(noor)).toEqual([true, false, false, false, false])
  expect(await answer(mira)).toEqual([true, true, true, false, false])
  for (const actor of [undefined, root, ines]) expect(await answer(actor)).toEqual(present.map(() => false))
})
