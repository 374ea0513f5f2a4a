import { World } from '@penstock/testkit'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { updateProject } from '../../code/projects/project-operations.ts'
import { createCommit } from '../../code/repositories/commit-operations.ts'
import { mergeRequestDiscussions } from '../discussions/discussion-operations.ts'
import { mergeMergeRequest } from './merge-request-merge.ts'
import {
  createMergeRequest,
  getProjectMergeRequest,
  listProjectMergeRequests,
  updateMergeRequest,
} from './merge-request-operations.ts'
import { detailedMergeStatus, hasConflicts, mergeStatus } from './merge-status.ts'

let world: World
let mira: User
let project: Project

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  project = await world.project('tools', await world.group('ops', { visibility: 'public' }), 'public')
  await world.member(project, mira, accessLevels.maintainer)
  await commit('main', 'a.txt', 'a\n')
  await commit('fix', 'b.txt', 'b\n', 'main')
  await open('fix')
})
afterEach(() => world.close())

async function commit(branch: string, filePath: string, content: string, startBranch?: string, action = 'create') {
  const input = { project: project.id, branch, commitMessage: `Add ${filePath}`, startBranch }
  await world.perform(mira, createCommit, { ...input, actions: [{ action, filePath, content }] })
}
const open = (sourceBranch: string) =>
  world.perform(mira, createMergeRequest, { project: project.id, title: 'Fix', sourceBranch, targetBranch: 'main' })
const setProject = (settings: object) => world.perform(mira, updateProject, { project: project.id, ...settings })
const one = () => ({ project: project.id, mergeRequestIid: 1 })
const stateOf = (mergeRequest: Parameters<typeof mergeStatus>[0]) => [
  mergeStatus(mergeRequest),
  detailedMergeStatus(mergeRequest),
  hasConflicts(mergeRequest),
]
const read = async () => stateOf(await world.perform(mira, getProjectMergeRequest, one()))
const listed = async (more: object = {}) => {
  const { items } = await world.perform(mira, listProjectMergeRequests, { project: project.id, sort: 'asc', ...more })
  return items.map(stateOf)
}

test('a list shows the check of the last read until a branch moves', async () => {
  expect(await listed()).toEqual([['can_be_merged', 'mergeable', false]])
  await commit('main', 'b.txt', 'other\n')
  expect(await listed()).toEqual([['unchecked', 'unchecked', false]])
  expect(await read()).toEqual(['cannot_be_merged', 'conflict', true])
  expect(await listed()).toEqual([['cannot_be_merged', 'conflict', true]])
  expect(await world.perform(mira, mergeMergeRequest, one()).catch(({ failure }) => failure)).toMatchObject({
    message: 'Branch cannot be merged',
  })
})

test('a list checks its merge requests on request', async () => {
  await commit('other', 'o.txt', 'o\n', 'main')
  await open('other')
  await commit('main', 'b.txt', 'other\n')
  expect(await listed()).toEqual([
    ['unchecked', 'unchecked', false],
    ['unchecked', 'unchecked', false],
  ])
  const checked = [
    ['cannot_be_merged', 'conflict', true],
    ['can_be_merged', 'mergeable', false],
  ]
  expect(await listed({ withMergeStatusRecheck: true })).toEqual(checked)
  expect(await listed()).toEqual(checked)
})

test('a merge that is too large for a check stays unchecked, which is stored too', async () => {
  const large = 'line\n'.repeat(300_000)
  await commit('main', 'large.txt', large)
  await commit('large', 'l.txt', 'l\n', 'main')
  await commit('main', 'large.txt', `${large}1\n`, undefined, 'update')
  await commit('large', 'large.txt', `${large}2\n`, undefined, 'update')
  await world.perform(mira, updateMergeRequest, { ...one(), stateEvent: 'close' })
  const { iid } = await open('large')
  const read = async () =>
    stateOf(await world.perform(mira, getProjectMergeRequest, { ...one(), mergeRequestIid: iid }))
  expect(await read()).toEqual(['unchecked', 'unchecked', false])
  const { rows } = await sql`select outcome from merge_checks order by merge_request_id`.execute(world.core.db.read)
  expect(rows).toEqual([{ outcome: 'clean' }, { outcome: 'too_large' }])
})

test('each reason that blocks a merge has its word, and the merge is refused', async () => {
  const isRefused = () =>
    world.perform(mira, mergeMergeRequest, one()).then(
      () => false,
      () => true,
    )
  const word = async () => [(await read())[1], await isRefused()]
  await setProject({ onlyAllowMergeIfPipelineSucceeds: true })
  expect(await word()).toEqual(['ci_must_pass', true])
  await setProject({ onlyAllowMergeIfAllDiscussionsAreResolved: true })
  await world.perform(mira, mergeRequestDiscussions.create, { ...one(), body: 'Why?' })
  expect(await word()).toEqual(['discussions_not_resolved', true])
  await setProject({ approvalsBeforeMerge: 1 })
  expect(await word()).toEqual(['not_approved', true])
  await world.perform(mira, updateMergeRequest, { ...one(), title: 'Draft: Fix' })
  expect(await word()).toEqual(['draft_status', true])
  await world.perform(mira, updateMergeRequest, { ...one(), stateEvent: 'close' })
  expect(await word()).toEqual(['not_open', true])
})

test('a source branch that must be rebased, and one without commits, cannot be merged', async () => {
  await commit('main', 'm.txt', 'm\n')
  await setProject({ mergeMethod: 'ff' })
  expect(await read()).toEqual(['can_be_merged', 'need_rebase', false])
  await setProject({ mergeMethod: 'merge' })
  expect(await read()).toEqual(['can_be_merged', 'mergeable', false])
  await world.perform(mira, mergeMergeRequest, one())
  expect(await read()).toEqual(['can_be_merged', 'not_open', false])
  const draft = { project: project.id, title: 'Again', sourceBranch: 'fix', targetBranch: 'main' }
  expect(stateOf(await world.perform(mira, createMergeRequest, draft))).toEqual([
    'cannot_be_merged',
    'commits_status',
    false,
  ])
})
