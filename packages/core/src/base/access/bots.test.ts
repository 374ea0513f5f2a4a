import { World } from '@penstock/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createProject, removeProject, transferProject } from '../../code/projects/project-operations.ts'
import { browseUsers } from '../../identity/accounts/user-listings.ts'
import { listUsers } from '../../identity/accounts/user-lists.ts'
import { getCurrentUser, getUserProfile, updateUser } from '../../identity/accounts/user-operations.ts'
import { createGroup, listGroups } from '../../identity/namespaces/group-operations.ts'
import { groupMembers, projectMembers } from '../../identity/namespaces/member-operations.ts'
import { listProjects } from '../../identity/projects/project-lists.ts'
import { createGroupToken, createProjectToken } from '../../identity/tokens/bot-token-operations.ts'
import { getUser } from '../../identity/users/user-store.ts'
import { groupMilestones } from '../../work/milestones/milestone-operations.ts'
import { DomainError } from '../kit/domain-error.ts'
import { type AccessLevel, accessLevels, visibilities } from '../model/access-level.ts'
import type { Group } from '../model/group.ts'
import type { Project } from '../model/project.ts'
import type { User } from '../model/user.ts'
import { type Permission, permissionTable } from './permission-table.ts'
import { requirePermission, type Subject } from './subject.ts'

const { maintainer, owner } = accessLevels
const permissions = Object.keys(permissionTable) as Permission[]

let world: World
let root: User
let mira: User
let home: Group
let tool: Project
let projectBot: User
let groupBot: User
/** Groups and projects to which the bots have no access. */
let elsewhere: Subject[]

beforeAll(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  mira = await world.user('mira')
  home = await world.group('home', { visibility: 'internal' })
  tool = await world.project('tool', home, 'internal')
  await world.member(home, mira, owner)
  projectBot = await botOf(tool, owner)
  groupBot = await botOf(home, owner)
  elsewhere = []
  for (const visibility of visibilities) {
    elsewhere.push(await world.group(`group-${visibility}`, { visibility }))
    elsewhere.push(await world.project(`project-${visibility}`, mira, visibility))
  }
})

afterAll(() => world.close())

const context = () => ({ db: world.core.db.read, nowMs: world.clock.nowMs() })
const failure = (error: unknown) => (error instanceof DomainError ? error.failure : error)
const forbidden = { code: 'forbidden' }

async function botOf(subject: Subject, accessLevel: AccessLevel): Promise<User> {
  const draft = { name: 'ci', scopes: ['api'], accessLevel }
  const { userId } =
    subject.kind === 'project'
      ? await world.perform(root, createProjectToken, { project: subject.id, ...draft })
      : await world.perform(root, createGroupToken, { group: subject.id, ...draft })
  return getUser(context(), userId)
}

async function answer(actor: User | undefined, subject: Subject, permission: Permission): Promise<string> {
  try {
    await requirePermission({ ...context(), actor }, subject, permission)
    return 'allowed'
  } catch (error) {
    return (failure(error) as { code: string }).code
  }
}

const answersOf = async (actor: User | undefined, subjects: readonly Subject[]) =>
  Promise.all(
    subjects.flatMap((subject) =>
      permissions.map(
        async (permission) => `${subject.path} ${permission} ${await answer(actor, subject, permission)}`,
      ),
    ),
  )

describe('permissions of a bot', () => {
  test('outside of its project or group, it may do what callers without a sign-in may do', async () => {
    const expected = await answersOf(undefined, elsewhere)
    expect(await answersOf(projectBot, elsewhere)).toEqual(expected)
    expect(await answersOf(groupBot, elsewhere)).toEqual(expected)
  })

  test('inside of it, it may do what a user with the same role may do, also in subgroups and their projects', async () => {
    const kim = await world.user('kim')
    await world.member(tool, kim, owner)
    expect(await answersOf(projectBot, [tool])).toEqual(await answersOf(kim, [tool]))
    const below = await world.group('below', { parent: home })
    const deep = await world.project('deep', below)
    const noor = await world.user('noor')
    await world.member(home, noor, owner)
    const subjects = [home, below, tool, deep]
    expect(await answersOf(groupBot, subjects)).toEqual(await answersOf(noor, subjects))
  })

  test('it sees the groups above its project, and what the project inherits from them', async () => {
    const above = await world.group('above')
    const bot = await botOf(await world.project('inner', above), owner)
    const kim = await world.user('onlybelow')
    await world.member(await world.project('inner2', above), kim, owner)
    expect(await answersOf(bot, [above])).toEqual(await answersOf(kim, [above]))
    expect(await answer(bot, above, 'read_milestone')).toBe('allowed')
  })

  test('a role elsewhere, as earlier versions allowed it, is ignored', async () => {
    const place = await world.project('given', mira)
    await world.member(place, projectBot, owner)
    expect(await answer(projectBot, place, 'read_project')).toBe('not_found')
  })

  test('lists contain only what it may see', async () => {
    const paths = (page: { readonly items: readonly { readonly fullPath?: string }[] }) =>
      page.items.map(({ fullPath }) => fullPath)
    const projects = async (actor: User | undefined) =>
      (await world.perform(actor, listProjects, { perPage: 100 })).items.map(({ project }) => project.fullPath)
    expect((await projects(projectBot)).toSorted()).toEqual([...(await projects(undefined)), 'home/tool'].toSorted())
    expect((await projects(groupBot)).includes('mira/project-internal')).toBe(false)
    const groups = paths(await world.perform(projectBot, listGroups, { perPage: 100 }))
    expect(groups).toEqual(expect.arrayContaining(['home', 'group-public']))
    expect(groups).not.toEqual(expect.arrayContaining(['group-internal']))
  })

  test('a job token of a bot gives access only where both the job and the bot have access', async () => {
    const asJob = { ...groupBot, jobProjectId: elsewhere[3]!.id } as User
    expect(await answer(asJob, elsewhere[3]!, 'read_project')).toBe('not_found')
    expect(await answer(asJob, tool, 'read_project')).toBe('not_found')
    expect(await answer({ ...groupBot, jobProjectId: tool.id } as User, tool, 'remove_project')).toBe('allowed')
  })
})

test('the bot of a removed project has no access to groups and projects', async () => {
  const gone = await world.project('gone', home, 'internal')
  const bot = await botOf(gone, owner)
  await world.perform(root, removeProject, { project: gone.id })
  const after = await getUser(context(), bot.id)
  expect(after.botHome).toEqual({ projectId: undefined, groupId: undefined })
  expect(await answersOf(after, [home, tool])).toEqual(await answersOf(undefined, [home, tool]))
  expect((await world.perform(after, getCurrentUser, {})).user.id).toBe(bot.id)
})

describe('rights that a bot cannot get', () => {
  test('it cannot create top-level groups or projects of its own', async () => {
    const group = { name: 'New', path: 'new' }
    expect(await world.perform(groupBot, createGroup, group).catch(failure)).toEqual(forbidden)
    expect(await world.perform(projectBot, createProject, { path: 'new' }).catch(failure)).toEqual(forbidden)
    const transfer = { project: tool.id, namespace: projectBot.username }
    expect(await world.perform(projectBot, transferProject, transfer).catch(failure)).toMatchObject({
      code: 'not_found',
    })
  })

  test('it can create groups and projects in its group, without becoming a member of them', async () => {
    const bot = await botOf(home, maintainer)
    const group = await world.perform(bot, createGroup, { name: 'Sub', path: 'sub', parentId: home.id })
    expect(await answer(bot, group, 'admin_group')).toBe('forbidden')
    const { project } = await world.perform(bot, createProject, { path: 'made', namespaceId: group.id })
    expect(project.fullPath).toBe('home/sub/made')
    const members = await world.perform(root, groupMembers.list, { parent: group.id })
    expect(members.items).toEqual([])
  })

  test('it cannot be added to other groups or projects, by id or by name, and a role there cannot be changed', async () => {
    const fields = { user: ['is the bot of another project or group'] }
    const [group, project] = [elsewhere[0]!, elsewhere[1]!]
    const level = { accessLevel: accessLevels.guest }
    for (const named of [{ userId: projectBot.id }, { username: projectBot.username }]) {
      const adding = [
        world.perform(root, projectMembers.add, { parent: project.id, ...named, ...level }),
        world.perform(root, groupMembers.add, { parent: group.id, ...named, ...level }),
        world.perform(root, groupMembers.add, { parent: home.id, ...named, ...level }),
      ]
      for (const each of adding) expect(await each.catch(failure)).toEqual({ code: 'invalid', fields })
    }
    await world.member(project, groupBot, accessLevels.guest)
    const many = { parent: project.id, userIds: [groupBot.id], accessLevel: owner }
    expect(await world.perform(root, projectMembers.updateMany, many).catch(failure)).toEqual({
      code: 'invalid',
      fields,
    })
    const one = { parent: project.id, userId: groupBot.id, accessLevel: owner }
    expect(await world.perform(root, projectMembers.update, one).catch(failure)).toEqual({ code: 'invalid', fields })
    await world.perform(root, projectMembers.remove, { parent: project.id, userId: groupBot.id })
  })

  test('it cannot become an administrator or get a password', async () => {
    const fields = (name: string) => ({ code: 'invalid', fields: { [name]: ['cannot be set for a bot'] } })
    const changing = (change: object) =>
      world.perform(root, updateUser, { user: projectBot.id, ...change }).catch(failure)
    expect(await changing({ admin: true })).toEqual(fields('admin'))
    expect(await changing({ password: 'correct horse' })).toEqual(fields('password'))
  })
})

test('the name of a bot of a private project is neither shown nor found, unless the project is visible', async () => {
  const hidden = await world.project('hidden', mira, 'private')
  const draft = { name: 'rocket launcher', scopes: ['api'], accessLevel: owner }
  const { userId } = await world.perform(root, createProjectToken, { project: hidden.id, ...draft })
  const { username } = await getUser(context(), userId)
  const outsider = await world.user('outsider')
  const namesFor = async (actor: User, input: object) =>
    (await world.perform(actor, listUsers, input)).items.map(({ user }) => user.name)
  for (const actor of [mira, root]) {
    expect(await namesFor(actor, { search: 'rocket' })).toEqual(['rocket launcher'])
    expect((await world.perform(actor, getUserProfile, { user: userId })).user.name).toBe('rocket launcher')
  }
  expect(await namesFor(outsider, { search: 'rocket' })).toEqual([])
  expect(await namesFor(outsider, { search: username })).toEqual(['****'])
  expect(await namesFor(outsider, { username })).toEqual(['****'])
  expect((await world.perform(outsider, getUserProfile, { user: userId })).user.name).toBe('****')
  // '****' comes before all names, wherever the true name would be.
  const byName = async (actor: User, name: string) =>
    (await namesFor(actor, { orderBy: 'name', sort: 'asc' })).indexOf(name)
  expect(await byName(outsider, '****')).toBe(0)
  expect(await byName(root, 'rocket launcher')).toBeGreaterThan(0)
  const { listing } = await world.perform(outsider, browseUsers, { search: 'rocket' })
  expect(await listing.counts(10)).toEqual([0])
})

describe('the users that a bot sees', () => {
  test('are itself and the members of its project or group; it can read no other user by id', async () => {
    expect((await world.perform(projectBot, getCurrentUser, {})).user.id).toBe(projectBot.id)
    for (const { id } of [projectBot, mira, groupBot])
      expect((await world.perform(projectBot, getUserProfile, { user: id })).user.id).toBe(id)
    const stranger = await world.user('stranger')
    expect(await world.perform(projectBot, getUserProfile, { user: stranger.id }).catch(failure)).toEqual({
      code: 'not_found',
      what: 'User',
    })
  })

  test('a bot can look up a user by name, as callers without a sign-in can', async () => {
    for (const actor of [projectBot, groupBot]) {
      expect(await world.perform(actor, listUsers, {}).catch(failure)).toEqual(forbidden)
      expect(await world.perform(actor, browseUsers, {}).catch(failure)).toEqual(forbidden)
      expect(await world.perform(actor, browseUsers, { ids: [mira.id] }).catch(failure)).toEqual(forbidden)
      expect((await world.perform(actor, listUsers, { username: 'mira' })).items).toHaveLength(1)
    }
  })
})

test('milestones of a public project elsewhere require a sign-in, and a bot is not treated as signed in there', async () => {
  const group = elsewhere.find(({ path }) => path === 'group-public')!
  const listing = world.perform(groupBot, groupMilestones.list, { parent: group.id })
  expect(await listing.catch(failure)).toEqual(forbidden)
})
