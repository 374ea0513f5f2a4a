import { cp, rm } from 'node:fs/promises'
import { repositoryPath, World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { gitdirPath, newDirectory } from '../../base/git/repository-directory.ts'
import { insertDirectory } from '../../base/git/repository-directory-store.ts'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { archiveProject, removeProject, updateProject } from '../../code/projects/project-operations.ts'
import { createBranch } from '../../code/repositories/branch-operations.ts'
import { createCommit } from '../../code/repositories/commit-operations.ts'
import { createTag } from '../../code/repositories/tag-operations.ts'
import { updateUser } from '../../identity/accounts/user-operations.ts'
import { addContextCommits, listContextCommits, removeContextCommits } from './context-commit-operations.ts'
import {
  createMergeRequest,
  getProjectMergeRequest,
  removeMergeRequest,
  updateMergeRequest,
} from './merge-request-operations.ts'

let world: World
let root: User
let mira: User
let noor: User
let project: Project
let shas: string[]
const failure = (error: DomainError) => error.failure
const refused = (message: string) => ({ code: 'refused', message })
const invalidSha = refused("One or more context commits' sha is not valid.")
const existing = (...ids: string[]) =>
  refused(`Context commits: [${ids.map((id) => `"${id}"`).join(', ')}] are already created`)
const forbidden = { code: 'forbidden' }
const UNKNOWN = '0123456789abcdef0123456789abcdef01234567'

beforeEach(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  mira = await world.user('mira')
  noor = await world.user('noor')
  const ops = await world.group('ops', { visibility: 'public' })
  project = await world.project('tools', ops, 'public')
  await world.member(project, mira, accessLevels.maintainer)
  shas = []
  for (const message of ['One', 'Two\n\nBody', 'Three']) await commit(message)
  await world.perform(mira, createBranch, { project: project.id, branch: 'feature', ref: 'main' })
  const draft = { project: project.id, title: 'Fix', sourceBranch: 'feature', targetBranch: 'main' }
  await world.perform(mira, createMergeRequest, draft)
})
afterEach(() => world.close())

async function commit(commitMessage: string): Promise<void> {
  const actions = [{ action: 'create', filePath: `${commitMessage.length}-${shas.length}.md`, content: commitMessage }]
  shas.push(
    (await world.perform(mira, createCommit, { project: project.id, branch: 'main', commitMessage, actions })).sha,
  )
}

const one = () => ({ project: project.id, mergeRequestIid: 1 })
const add = (commits: string[], actor: User | undefined = mira, where: object = {}) =>
  world
    .perform(actor, addContextCommits, { ...one(), commits, ...where })
    .then((added) => added.map(({ sha }) => sha))
    .catch(failure)
const remove = (commits: string[], actor: User | undefined = mira) =>
  world.perform(actor, removeContextCommits, { ...one(), commits }).catch(failure)
const listed = async (page: object = {}, actor: User | undefined = undefined) =>
  (await world.perform(actor, listContextCommits, { ...one(), ...page })).items.map(({ commit: { sha } }) => sha)

describe('adding', () => {
  test('keeps the order of the calls, and accepts full and abbreviated ids in any case', async () => {
    const [first, second, third] = shas as [string, string, string]
    expect(await add([third.slice(0, 8).toUpperCase()])).toEqual([third])
    expect(await add([second, first])).toEqual([second, first])
    expect(await listed()).toEqual([third, second, first])
    expect(await listed({ page: 2, perPage: 2 })).toEqual([first])
  })

  test('adds all of the commits or none', async () => {
    const [first, second] = shas as [string, string]
    expect(await add([first, UNKNOWN])).toEqual(invalidSha)
    expect(await listed()).toEqual([])
    await add([first])
    expect(await add([second, first])).toEqual(existing(first))
    expect(await listed()).toEqual([first])
  })

  test('adds no more than 1,000 to one merge request', async () => {
    const [first, second, third] = shas as [string, string, string]
    const { id } = await world.perform(mira, getProjectMergeRequest, one())
    const rows = Array.from({ length: 998 }, (_, index) => index.toString(16).padStart(40, '0'))
    const columns = { merge_request_id: id, created_at_ms: 0 }
    for (let at = 0; at < rows.length; at += 100) {
      const values = rows.slice(at, at + 100).map((sha) => ({ ...columns, sha }))
      await world.core.db.write((db) => db.insertInto('context_commits').values(values).execute())
    }
    const full = refused('A merge request can have at most 1000 context commits')
    expect(await add([first, second, third])).toEqual(full)
    expect(await add([first, second])).toEqual([first, second])
    expect(await add([third])).toEqual(full)
    // The others are commits that the repository does not have: they are left out, and can be removed.
    expect(await listed({ page: 10, perPage: 100 })).toEqual([first, second])
    expect(await remove([rows[5]!])).toBeUndefined()
    expect(await remove([rows[5]!])).toEqual(invalidSha)
    expect(await add([third])).toEqual([third])
  })

  test('are neither listed nor removed while the files of the repository are missing', async () => {
    await add(shas)
    await rm(repositoryPath(world.core, project.id), { recursive: true })
    expect(await listed().catch(failure)).toEqual({ code: 'unavailable', retryAfterSeconds: 60 })
    expect(await remove(shas)).toEqual({ code: 'unavailable', retryAfterSeconds: 60 })
  })

  test('adds a commit that is named twice once', async () => {
    const [first] = shas as [string]
    expect(await add([first, first.slice(0, 10), first])).toEqual([first])
  })

  test('refuses commits that are there, by any beginning of their id', async () => {
    const [first, second] = shas as [string, string]
    await add([first, second])
    for (const id of [first, first.slice(0, 12), first.toUpperCase()]) expect(await add([id])).toEqual(existing(first))
    expect(await add([second, first])).toEqual(existing(first, second))
    // Known ones are named before unknown ones.
    expect(await add([UNKNOWN, first])).toEqual(existing(first))
  })

  test('refuses what is no id of a commit', async () => {
    const tag = await world.perform(mira, createTag, { project: project.id, tagName: 'v1', ref: 'main', message: 'x' })
    for (const id of [
      '',
      'main',
      'v1',
      'HEAD',
      'feature',
      '%',
      '_'.repeat(40),
      shas[0]!.slice(0, 3),
      UNKNOWN,
      tag.target,
    ])
      expect(await add([id])).toEqual(invalidSha)
  })

  test('refuses more than 20 before anything else is looked up, but not in several calls', async () => {
    const tooMany = refused('Context commits array size should not be more than 20')
    const ids = Array.from({ length: 21 }, () => shas[0]!)
    expect(await add(ids)).toEqual(tooMany)
    expect(await add(ids, noor, { project: 99 })).toEqual(tooMany)
    expect(await add(ids.slice(1))).toEqual([shas[0]])
    for (let number = 0; number < 22; number += 1) await commit(`More ${number}`)
    await add(shas.slice(3, 15))
    await add(shas.slice(15))
    expect(await listed({ perPage: 100 })).toEqual([shas[0], ...shas.slice(3)])
  })

  test('happens once if two calls add the same commit', async () => {
    const outcomes = await Promise.all([add([shas[0]!]), add([shas[0]!])])
    expect(outcomes).toContainEqual([shas[0]])
    expect(outcomes).toContainEqual(existing(shas[0]!))
  })
})

describe('removing', () => {
  test('removes context commits and ignores other commits', async () => {
    const [first, second, third] = shas as [string, string, string]
    await add([first, second])
    expect(await remove([first.slice(0, 8), third])).toBeUndefined()
    expect(await listed()).toEqual([second])
    expect(await remove([third])).toBeUndefined()
    expect(await add([first])).toEqual([first])
  })

  test('refuses an unknown commit, and removes none then', async () => {
    await add([shas[0]!])
    expect(await remove([shas[0]!, UNKNOWN])).toEqual(invalidSha)
    expect(await listed()).toEqual([shas[0]])
  })

  test('has no limit of 20', async () => {
    await add([shas[0]!])
    expect(await remove(Array.from({ length: 30 }, () => shas[0]!))).toBeUndefined()
    expect(await listed()).toEqual([])
  })
})

test('authors, assignees and Developers change them, everyone who sees the merge request reads them', async () => {
  const [first, second] = shas as [string, string]
  const leila = await world.user('leila')
  await world.member(project, leila, accessLevels.reporter)
  for (const actor of [noor, leila])
    expect([await add([first], actor), await remove([first], actor)]).toEqual([forbidden, forbidden])
  await world.perform(mira, updateMergeRequest, { ...one(), assigneeIds: [leila.id] })
  expect(await add([first], leila)).toEqual([first])
  expect(await add([second], root)).toEqual([second])
  expect(await remove([first], leila)).toBeUndefined()
  expect([await listed(), await listed({}, noor)]).toEqual([[second], [second]])
  await world.perform(root, updateProject, { project: project.id, mergeRequestsAccessLevel: 'private' })
  for (const actor of [undefined, noor]) await expect(listed({}, actor).catch(failure)).resolves.toEqual(forbidden)
  expect(await add([first], noor)).toEqual(forbidden)
  expect(await add([first], mira, { mergeRequestIid: 9 })).toEqual({ code: 'not_found' })
  expect(await add([first], mira, { project: 99 })).toEqual({ code: 'not_found', what: 'Project' })
})

test('they change while the merge request is closed, but not in an archived project', async () => {
  await world.perform(mira, updateMergeRequest, { ...one(), stateEvent: 'close' })
  expect(await add([shas[0]!])).toEqual([shas[0]])
  await world.perform(root, archiveProject, { project: project.id })
  for (const actor of [mira, root])
    expect([await add([shas[1]!], actor), await remove([shas[0]!], actor)]).toEqual([forbidden, forbidden])
  expect(await listed()).toEqual([shas[0]])
})

describe('of another project', () => {
  let fork: Project
  let inFork: string

  /** A project of another user, with the commits of the first one and another one, as a fork has them. */
  beforeEach(async () => {
    fork = await world.project('tools', noor, 'public')
    const directory = newDirectory(world.core, String(fork.id))
    await cp(repositoryPath(world.core, project.id), gitdirPath(world.core, directory), { recursive: true })
    await world.core.db.write((db) => insertDirectory(db, { repository: String(fork.id), directory }))
    const actions = [{ action: 'create', filePath: 'fork.md', content: 'x' }]
    const input = { project: fork.id, branch: 'main', commitMessage: 'In the fork', actions }
    inFork = (await world.perform(noor, createCommit, input)).sha
  })

  test('commits are found in the repository of the merge request only', async () => {
    expect(await add([inFork])).toEqual(invalidSha)
    expect(await add([inFork], root)).toEqual(invalidSha)
    expect(await remove([inFork])).toEqual(invalidSha)
    expect(await add([shas[0]!])).toEqual([shas[0]])
  })

  test('roles do not count', async () => {
    expect(await add([shas[0]!], noor)).toEqual(forbidden)
    expect(await remove([shas[0]!], noor)).toEqual(forbidden)
    await add([shas[0]!])
    await world.perform(noor, removeProject, { project: fork.id })
    expect(await listed()).toEqual([shas[0]])
  })

  test('a branch cannot be merged from there, so that no merge request has two repositories', async () => {
    await world.perform(noor, createBranch, { project: fork.id, branch: 'patch', ref: 'main' })
    const draft = { project: fork.id, title: 'x', sourceBranch: 'patch', targetBranch: 'main' }
    const across = world.perform(noor, createMergeRequest, { ...draft, targetProjectId: project.id })
    expect(await across.catch(failure)).toEqual({
      code: 'impossible',
      message: 'Source project is not a fork of the target project',
    })
    // Within its own project, the commits are those of that project.
    await world.perform(noor, createMergeRequest, draft)
    const own = { project: fork.id, mergeRequestIid: 1 }
    expect(await add([inFork], noor, own)).toEqual([inFork])
    expect(await add([shas[0]!], mira, own)).toEqual(forbidden)
  })
})

test('they are not treated as commits of the merge request, and end with it', async () => {
  const rows = async () => (await world.core.db.read.selectFrom('context_commits').select('id').execute()).length
  const before = await world.perform(mira, getProjectMergeRequest, one())
  await add(shas)
  expect(await world.perform(mira, getProjectMergeRequest, one())).toEqual(before)
  expect(await rows()).toBe(3)
  await world.perform(root, removeMergeRequest, one())
  expect(await rows()).toBe(0)
})

test('they end with the project', async () => {
  await add(shas)
  await world.perform(root, removeProject, { project: project.id })
  expect(await world.core.db.read.selectFrom('context_commits').selectAll().execute()).toEqual([])
})

test('the author is shown to those who may know the address', async () => {
  await add([shas[0]!])
  const authorFor = async (actor: User | undefined) =>
    (await world.perform(actor, listContextCommits, one())).items[0]!.author?.username
  expect([await authorFor(undefined), await authorFor(noor), await authorFor(mira), await authorFor(root)]).toEqual([
    undefined,
    undefined,
    'mira',
    'mira',
  ])
  await world.perform(root, updateUser, { user: mira.id, publicEmail: 'mira@example.test' })
  expect([await authorFor(undefined), await authorFor(noor)]).toEqual(['mira', 'mira'])
})

test('each change is recorded', async () => {
  await add([shas[0]!, shas[1]!])
  await remove([shas[1]!])
  await remove([shas[1]!])
  const events = await world.core.db.read
    .selectFrom('events')
    .select(['type', 'project_id', 'details'])
    .where('type', 'like', 'merge_request.context%')
    .orderBy('id')
    .execute()
  expect(events).toEqual([
    { type: 'merge_request.context_commits_added', project_id: project.id, details: '{"count":2}' },
    { type: 'merge_request.context_commits_removed', project_id: project.id, details: '{"count":1}' },
  ])
})
