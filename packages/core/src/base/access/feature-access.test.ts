import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { listPipelines } from '../../ci/pipelines/pipeline-operations.ts'
import { showProject, updateProject } from '../../code/projects/project-operations.ts'
import { listBranches } from '../../code/repositories/branch-operations.ts'
import { listProjects } from '../../identity/projects/project-lists.ts'
import { createIssue, listIssues, listProjectIssues } from '../../work/issues/issue-operations.ts'
import { projectLabels } from '../../work/labels/label-operations.ts'
import {
  getMergeRequestChanges,
  getMergeRequestVersion,
  listMergeRequestCommits,
  listMergeRequestDiffs,
  listMergeRequestVersions,
} from '../../work/merge-requests/merge-request-diff-operations.ts'
import type { DomainError } from '../kit/domain-error.ts'
import { accessLevels } from '../model/access-level.ts'
import type { Project } from '../model/project.ts'
import type { Actor, User } from '../model/user.ts'

let world: World
let root: User
let mira: User
let noor: User
let tools: Project

beforeEach(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  mira = await world.user('mira')
  noor = await world.user('noor')
  tools = await world.project('tools', await world.group('ops', { visibility: 'public' }), 'public')
  await world.member(tools, mira, accessLevels.owner)
  await world.perform(root, createIssue, { project: tools.id, title: 'Slow' })
})
afterEach(() => world.close())

const set = (input: object) => world.perform(mira, updateProject, { project: tools.id, ...input })
/** Returns `true`, or the code of the failure. */
const outcome = (work: Promise<unknown>) =>
  work.then(
    () => true,
    (error: DomainError) => error.failure.code,
  )
const callers = (): Actor[] => [undefined, noor, mira, root]
const outcomes = (work: (actor: Actor) => Promise<unknown>) =>
  Promise.all(callers().map((actor) => outcome(work(actor))))

describe('a disabled feature', () => {
  test.each([
    ['issuesAccessLevel', (actor: Actor) => world.perform(actor, listProjectIssues, { project: tools.id })],
    ['buildsAccessLevel', (actor: Actor) => world.perform(actor, listPipelines, { project: tools.id })],
  ] as const)('%s is forbidden to everyone, and open again afterwards', async (name, list) => {
    expect(await outcomes(list)).toEqual([true, true, true, true])
    await set({ [name]: 'disabled' })
    expect(await outcomes(list)).toEqual(['forbidden', 'forbidden', 'forbidden', 'forbidden'])
    await set({ [name]: 'private' })
    expect(await outcomes(list)).toEqual(['forbidden', 'forbidden', true, true])
    await set({ [name]: 'enabled' })
    expect(await outcomes(list)).toEqual([true, true, true, true])
  })

  test('hides commits and diffs if it is that of merge requests, though the repository is open', async () => {
    const one = { project: tools.id, mergeRequestIid: 1 }
    const all = () =>
      Promise.all([
        outcome(world.perform(mira, listMergeRequestCommits, one)),
        outcome(world.perform(mira, listMergeRequestDiffs, one)),
        outcome(world.perform(mira, listMergeRequestVersions, one)),
        outcome(world.perform(mira, getMergeRequestChanges, one)),
        outcome(world.perform(mira, getMergeRequestVersion, { ...one, versionId: 1 })),
      ])
    expect(new Set(await all())).toEqual(new Set(['not_found']))
    await set({ mergeRequestsAccessLevel: 'disabled' })
    expect(new Set(await all())).toEqual(new Set(['forbidden']))
  })

  test('cannot be written either, and its things leave all lists', async () => {
    const titles = async (actor: Actor) =>
      (await world.perform(actor, listIssues, { scope: 'all' })).items.map(({ title }) => title)
    expect(await titles(root)).toEqual(['Slow'])
    await set({ issuesEnabled: false })
    expect(await titles(root)).toEqual([])
    expect(await titles(mira)).toEqual([])
    expect(await outcome(world.perform(mira, createIssue, { project: tools.id, title: 'x' }))).toBe('forbidden')
  })

  test('is no secret from people who cannot see the project', async () => {
    await set({ visibility: 'private', issuesEnabled: false })
    expect(await outcome(world.perform(noor, listProjectIssues, { project: tools.id }))).toBe('not_found')
  })

  test('closes the repository, which merge requests and jobs need', async () => {
    expect(await set({ repositoryAccessLevel: 'disabled' }).catch((error: DomainError) => error.failure)).toEqual({
      code: 'invalid',
      fields: {
        mergeRequestsAccessLevel: ['cannot have higher visibility level than repository access level'],
        buildsAccessLevel: ['cannot have higher visibility level than repository access level'],
      },
    })
    await set({ repositoryAccessLevel: 'disabled', mergeRequestsEnabled: false, jobsEnabled: false })
    expect(await outcome(world.perform(root, listBranches, { project: tools.id }))).toBe('forbidden')
  })

  test('leaves labels while either issues or merge requests remain', async () => {
    const labels = () => outcome(world.perform(mira, projectLabels.list, { parent: tools.id }))
    await set({ issuesEnabled: false })
    expect(await labels()).toBe(true)
    await set({ mergeRequestsEnabled: false })
    expect(await labels()).toBe('forbidden')
  })
})

test('a filter finds the projects with the feature', async () => {
  await world.project('docs', mira, 'public')
  await set({ issuesEnabled: false })
  const paths = async (input: object) =>
    (await world.perform(mira, listProjects, { orderBy: 'path', sort: 'asc', ...input })).items.map(
      ({ project }) => project.path,
    )
  expect(await paths({})).toEqual(['docs', 'tools'])
  expect(await paths({ withIssuesEnabled: true })).toEqual(['docs'])
  expect(await paths({ withMergeRequestsEnabled: true })).toEqual(['docs', 'tools'])
})

test('an external user sees internal projects only as a member', async () => {
  const inner = await world.project('inner', await world.group('firm', { visibility: 'internal' }), 'internal')
  const guest: Actor = { ...noor, isExternal: true }
  const see = (actor: Actor) => outcome(world.perform(actor, showProject, { project: inner.id }))
  const count = async (actor: Actor) => (await world.perform(actor, listProjects, {})).items.length
  expect([await see(noor), await count(noor)]).toEqual([true, 2])
  expect([await see(guest), await count(guest)]).toEqual(['not_found', 1])
  await world.member(inner, noor, accessLevels.guest)
  expect([await see(guest), await count(guest)]).toEqual([true, 2])
})
