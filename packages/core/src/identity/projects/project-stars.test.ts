import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { updateProject } from '../../code/projects/project-operations.ts'
import { removeUser, updateUser } from '../accounts/user-operations.ts'
import { listProjects, listStarredProjects } from './project-lists.ts'
import { listStarrers, starProject, unstarProject } from './project-star-operations.ts'

let world: World
let [root, mira, noor]: User[] = []
let [tools, board]: Project[] = []

beforeEach(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  mira = await world.user('mira')
  noor = await world.user('noor')
  tools = await world.project('tools', mira)
  board = await world.project('board', mira)
  for (const { id } of [tools, board]) await world.perform(mira, updateProject, { project: id, visibility: 'public' })
})
afterEach(() => world.close())

const star = (user: User | undefined, project: Project | undefined) =>
  world.perform(user!, starProject, { project: project!.id })
const starrers = async (actor: User | undefined, search?: string) =>
  (await world.perform(actor, listStarrers, { project: board!.id, search })).items.map(({ user }) => user.username)
const names = async (list: Promise<{ items: readonly { project: Project }[] }>) =>
  (await list).items.map(({ project }) => project.name)

test('a star counts once, and is taken away once', async () => {
  expect(await star(noor, board)).toMatchObject({ starCount: 1, isUnchanged: false })
  expect(await star(noor, board)).toMatchObject({ starCount: 1, isUnchanged: true })
  expect(await star(mira, board)).toMatchObject({ starCount: 2 })
  const input = { project: board!.id }
  expect(await world.perform(noor!, unstarProject, input)).toMatchObject({ starCount: 1, isUnchanged: false })
  expect(await world.perform(noor!, unstarProject, input)).toMatchObject({ starCount: 1, isUnchanged: true })
})

test('lists contain the starred projects, and order by stars', async () => {
  await star(noor, board)
  await star(mira, board)
  await star(mira, tools)
  expect(await names(world.perform(noor!, listProjects, { starred: true }))).toEqual(['board'])
  expect(await names(world.perform(undefined, listProjects, { starred: true }))).toEqual([])
  expect(await names(world.perform(root!, listStarredProjects, { user: 'mira', orderBy: 'id' }))).toEqual([
    'board',
    'tools',
  ])
  expect(await names(world.perform(root!, listProjects, { orderBy: 'star_count' }))).toEqual(['board', 'tools'])
  expect(await names(world.perform(root!, listProjects, { orderBy: 'star_count', sort: 'asc' }))).toEqual([
    'tools',
    'board',
  ])
  await world.perform(mira!, updateProject, { project: tools!.id, visibility: 'private' })
  expect(await names(world.perform(noor!, listStarredProjects, { user: mira!.id }))).toEqual(['board'])
})

test('private profiles are shown to administrators and to their users', async () => {
  await star(noor, board)
  await star(mira, board)
  await world.perform(root!, updateUser, { user: mira!.id, privateProfile: true })
  expect(await starrers(undefined)).toEqual(['noor'])
  expect(await starrers(mira)).toEqual(['mira', 'noor'])
  expect(await starrers(root, 'MIR')).toEqual(['mira'])
  expect(await names(world.perform(noor!, listStarredProjects, { user: mira!.id }))).toEqual([])
  expect(await names(world.perform(mira!, listStarredProjects, { user: mira!.id }))).toEqual(['board'])
})

test('the stars of a deleted user no longer count', async () => {
  await star(noor, board)
  await world.perform(root!, removeUser, { user: noor!.id })
  expect(await star(mira, board)).toMatchObject({ starCount: 1 })
})

test('a user who is deleted while the request is made gets a conflict', async () => {
  await world.perform(root!, removeUser, { user: noor!.id })
  expect(await star(noor, board).catch(({ failure }: DomainError) => failure)).toEqual({
    code: 'conflict',
    reason: 'The user of the request was removed in between',
  })
})
