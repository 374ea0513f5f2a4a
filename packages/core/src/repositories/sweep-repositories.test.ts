import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { accessLevels } from '../access/access-level.ts'
import type { Group } from '../groups/group.ts'
import { removeGroup } from '../groups/group-operations.ts'
import type { DomainError } from '../kit/domain-error.ts'
import type { Project } from '../projects/project.ts'
import { removeProject } from '../projects/project-operations.ts'
import type { User } from '../users/user.ts'
import { removeUser } from '../users/user-operations.ts'
import { changeRepository } from './change-repository.ts'
import { createCommit } from './commit-operations.ts'
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
const onDisk = () => readdirSync(world.core.settings.repositoriesDir)
const failure = (error: DomainError) => error.failure
const rows = () => world.core.db.read.selectFrom('removed_repositories').selectAll().execute()

test('a project, the projects of a group and those of a user go with their repositories', async () => {
  const site = await world.project('site', ops)
  const notes = await world.project('notes', mira)
  const kept = await world.project('kept', await world.user('noor'))
  await world.member(kept, mira, accessLevels.developer)
  for (const project of [site, notes, kept]) await commit(project)
  await world.perform(mira, removeProject, { project: site.id })
  expect(onDisk()).not.toContain(`${site.id}.git`)
  expect(onDisk()).toContain(`${tools.id}.git`)
  await world.perform(mira, removeGroup, { group: ops.id })
  expect(onDisk()).not.toContain(`${tools.id}.git`)
  const root = await world.user('root', { isAdministrator: true })
  await world.perform(root, removeUser, { user: mira.id, hardDelete: true })
  expect(onDisk()).toEqual([`${kept.id}.git`])
})

test('a removal that was rolled back leaves the repository', async () => {
  const stranger = await world.user('kai')
  await world.member(ops, stranger, accessLevels.developer)
  expect(await world.perform(stranger, removeProject, { project: tools.id }).catch(failure)).toEqual({
    code: 'forbidden',
  })
  expect([onDisk(), await rows()]).toEqual([[`${tools.id}.git`], []])
})

test('what a process that ended left is removed at the next start, what was half made too', async () => {
  mkdirSync(join(world.core.settings.repositoriesDir, `${tools.id}.git.new`, 'token'), { recursive: true })
  await world.core.db.write((db) => insertRemovedRepositories({ db, nowMs: 0 }, [String(tools.id), '999']))
  await sweepRepositories(world.core)
  expect(onDisk()).toEqual([])
  expect((await rows()).filter((row) => row.is_swept === 0)).toEqual([])
})

test('one that cannot be removed holds up none, and is removed later', async () => {
  const site = await world.project('site', ops)
  await commit(site)
  const name = String(tools.id)
  let waits: Promise<unknown> | undefined
  await changeRepository(world.core, name, async () => {
    waits = world.perform(mira, removeGroup, { group: ops.id })
    await world.clock.untilSleeping(2)
    await world.clock.advance(2_000)
    await waits
    expect(onDisk()).toEqual([`${name}.git`])
    const told = sweepRepositories(world.core).catch((error: Error) => error.message)
    await world.clock.untilSleeping(2)
    await world.clock.advance(2_000)
    expect(await told).toBe('Files of 1 removed repositories are still there.')
  })
  await sweepRepositories(world.core)
  expect(onDisk()).toEqual([])
})

test('a commit that was asked for before does not bring a removed one back', async () => {
  const name = String(tools.id)
  let late: Promise<unknown> | undefined
  await changeRepository(world.core, name, async () => {
    late = commit(tools).catch(failure)
    await world.clock.untilSleeping(2)
    await world.core.db.write((db) => insertRemovedRepositories({ db, nowMs: world.clock.nowMs() }, [name]))
  })
  expect(await late).toEqual({ code: 'not_found' })
  await sweepRepositories(world.core)
  expect(existsSync(join(world.core.settings.repositoriesDir, `${name}.git`))).toBe(false)
})

test('what has been removed long ago is forgotten', async () => {
  await world.perform(mira, removeProject, { project: tools.id })
  expect(await rows()).toMatchObject([{ repository: String(tools.id), is_swept: 1 }])
  const site = await world.project('site', ops)
  await world.clock.advance(24 * 60 * 60 * 1_000 + 1)
  await world.perform(mira, removeProject, { project: site.id })
  expect(await rows()).toMatchObject([{ repository: String(site.id) }])
})
