import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryPath, World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { removeProject } from '../../code/projects/project-operations.ts'
import { inSteps } from '../../code/repositories/change-context.harness.ts'
import { changeProjectRepository } from '../../code/repositories/change-project-repository.ts'
import { createCommit } from '../../code/repositories/commit-operations.ts'
import { removeUser } from '../../identity/accounts/user-operations.ts'
import { removeGroup } from '../../identity/namespaces/group-operations.ts'
import type { DomainError } from '../kit/domain-error.ts'
import { accessLevels } from '../model/access-level.ts'
import type { Group } from '../model/group.ts'
import type { Project } from '../model/project.ts'
import type { User } from '../model/user.ts'
import { insertRemovedRepositories } from './removed-repository-store.ts'
import { sweepRepositories } from './sweep-repositories.ts'

let world: World
let mira: User
let ops: Group
let tools: Project

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  ops = await world.group('ops')
  await world.member(ops, mira, accessLevels.owner)
  tools = await world.project('tools', ops)
  await commit(tools)
})

afterEach(() => world.close())

const commit = ({ id: project }: Project) =>
  world.perform(mira, createCommit, {
    project,
    branch: 'main',
    commitMessage: 'x',
    actions: [{ action: 'create', filePath: 'a', content: 'a' }],
  })
/**
 * Runs `work` as a change of the repository of `tools` that changes nothing, so that the repository is locked
 * in between.
 */
const changeTools = (work: () => Promise<void>) =>
  inSteps(world.core, undefined, (context) =>
    changeProjectRepository(context, tools, async () => {
      await work()
      return async () => {}
    }),
  )
/** The repositories that have a directory: `5`, or `5.new` for one that is being created. */
const onDisk = () =>
  readdirSync(world.core.settings.repositoriesDir).map((name) => name.replace(/-[0-9a-f]{32}\.git/, ''))
const failure = (error: DomainError) => error.failure
const rows = () => world.core.db.read.selectFrom('removed_repositories').selectAll().execute()

test('removing a project, a group or a user removes the repositories too', async () => {
  const site = await world.project('site', ops)
  const notes = await world.project('notes', mira)
  const kept = await world.project('kept', await world.user('noor'))
  await world.member(kept, mira, accessLevels.maintainer)
  for (const project of [site, notes, kept]) await commit(project)
  await world.perform(mira, removeProject, { project: site.id })
  expect(onDisk()).not.toContain(String(site.id))
  expect(onDisk()).toContain(String(tools.id))
  await world.perform(mira, removeGroup, { group: ops.id })
  expect(onDisk()).not.toContain(String(tools.id))
  const root = await world.user('root', { isAdministrator: true })
  await world.perform(root, removeUser, { user: mira.id, hardDelete: true })
  expect(onDisk()).toEqual([String(kept.id)])
})

test('a removal that is rolled back keeps the repository', async () => {
  const stranger = await world.user('kai')
  await world.member(ops, stranger, accessLevels.developer)
  expect(await world.perform(stranger, removeProject, { project: tools.id }).catch(failure)).toEqual({
    code: 'forbidden',
  })
  expect([onDisk(), await rows()]).toEqual([[String(tools.id)], []])
})

test('the next start removes files that an ended process left, including unfinished repositories', async () => {
  mkdirSync(join(`${repositoryPath(world.core, tools.id)}.new`, 'token'), { recursive: true })
  await world.core.db.write((db) => insertRemovedRepositories({ db, nowMs: 0 }, [String(tools.id), '999']))
  await sweepRepositories(world.core)
  expect(onDisk()).toEqual([])
  expect((await rows()).filter((row) => row.is_swept === 0)).toEqual([])
})

test('a repository that cannot be removed does not delay others, and is removed later', async () => {
  const site = await world.project('site', ops)
  await commit(site)
  const name = String(tools.id)
  let waits: Promise<unknown> | undefined
  await changeTools(async () => {
    waits = world.perform(mira, removeGroup, { group: ops.id })
    await world.clock.untilSleeping(2)
    await world.clock.advance(2_000)
    await waits
    expect(onDisk()).toEqual([name])
    const failed = sweepRepositories(world.core).catch((error: Error) => error.message)
    await world.clock.untilSleeping(2)
    await world.clock.advance(2_000)
    const message = 'The files of 1 removed repositories could not be deleted. The next sweep tries again.'
    expect(await failed).toBe(message)
  })
  await sweepRepositories(world.core)
  expect(onDisk()).toEqual([])
})

test('a commit requested before the removal does not create the repository again', async () => {
  const name = String(tools.id)
  let late: Promise<unknown> | undefined
  await changeTools(async () => {
    late = commit(tools).catch(failure)
    await world.clock.untilSleeping(2)
    await world.core.db.write((db) => insertRemovedRepositories({ db, nowMs: world.clock.nowMs() }, [name]))
  })
  expect(await late).toEqual({ code: 'not_found' })
  await sweepRepositories(world.core)
  expect(onDisk()).toEqual([])
})

test('rows of repositories removed long ago are deleted', async () => {
  await world.perform(mira, removeProject, { project: tools.id })
  const removed = [String(tools.id), `project-wikis/${tools.id}`].map((repository) => ({ repository, is_swept: 1 }))
  expect(await rows()).toMatchObject(removed)
  const site = await world.project('site', ops)
  await world.clock.advance(24 * 60 * 60 * 1_000 + 1)
  await world.perform(mira, removeProject, { project: site.id })
  expect((await rows()).map(({ repository }) => repository)).toEqual([String(site.id), `project-wikis/${site.id}`])
})
