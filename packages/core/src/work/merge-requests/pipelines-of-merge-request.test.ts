import { recordInput, World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import type { Core } from '../../base/operations/context.ts'
import type { InputSchema, Operation } from '../../base/operations/operation.ts'
import { perform } from '../../base/operations/perform.ts'
import { putPipelineRecord } from '../../ci/pipelines/pipeline-operations.ts'
import { updateProject } from '../../code/projects/project-operations.ts'
import { createCommit } from '../../code/repositories/commit-operations.ts'
import { autoMergeListener } from './automatic-merges.ts'
import { mergeMergeRequest } from './merge-request-merge.ts'
import { createMergeRequest, getProjectMergeRequest } from './merge-request-operations.ts'
import { listMergeRequestPipelines } from './merge-request-pipelines.ts'

/** A commit that exists only at the forge: the result of a merge. */
const mergeResult = 'd'.repeat(40)
const notAllowed = { code: 'protected', message: '405 Method Not Allowed' }

let world: World
let core: Core
let mira: User
let project: Project
let head: string

beforeEach(async () => {
  world = await World.open()
  core = { ...world.core, listeners: [autoMergeListener] }
  mira = await world.user('mira')
  project = await world.project('tools', await world.group('ops', { visibility: 'public' }), 'public')
  await world.member(project, mira, accessLevels.maintainer)
  await commit('main', 'a.txt')
  await commit('old', 'o.txt', 'main')
  head = await commit('fix', 'b.txt', 'main')
  await create('main')
  await run(updateProject, { project: project.id, onlyAllowMergeIfPipelineSucceeds: true })
})
afterEach(() => world.close())

const run = <Result>(operation: Operation<InputSchema, Result>, input: object) => perform(core, mira, operation, input)
const create = (targetBranch: string) =>
  run(createMergeRequest, { project: project.id, title: 'Fix', sourceBranch: 'fix', targetBranch })
async function commit(branch: string, filePath: string, startBranch?: string) {
  const actions = [{ action: 'create', filePath, content: 'text' }]
  const input = { project: project.id, branch, commitMessage: `Add ${filePath}`, startBranch, actions }
  return (await run(createCommit, input)).sha
}
const record = (id: number, status: string, run: object, more: object = {}) =>
  perform(
    core,
    mira,
    putPipelineRecord,
    recordInput({
      project: project.id,
      pipelineId: id,
      objectAttributes: { id, status, source: 'merge_request_event', ref: 'fix', ...run },
      builds: [],
      ...more,
    }),
  )
const first = { mergeRequest: { iid: 1, sourceBranch: 'fix', targetBranch: 'main' } }
const one = (mergeRequestIid = 1) => ({ project: project.id, mergeRequestIid })
const headPipeline = async (iid?: number) => (await run(getProjectMergeRequest, one(iid))).headPipeline?.id
const merge = () => run(mergeMergeRequest, one()).catch((error: DomainError) => error.failure)

test('a failed pipeline of the merged result is the head pipeline, and forbids the merge', async () => {
  await record(31, 'success', { sha: head }, first)
  await record(32, 'failed', { sha: mergeResult }, first)
  expect(await headPipeline()).toBe(32)
  expect(await merge()).toEqual(notAllowed)
  await record(33, 'success', { sha: 'e'.repeat(40) }, first)
  expect(await merge()).toMatchObject({ state: 'merged' })
})

test.each(['head', 'merge', 'train'])('the ref refs/merge-requests/1/%s names the merge request', async (kind) => {
  await record(31, 'success', { sha: head })
  await record(32, 'failed', { sha: kind === 'head' ? head : mergeResult, ref: `refs/merge-requests/1/${kind}` })
  expect(await headPipeline()).toBe(32)
  const { items } = await run(listMergeRequestPipelines, { ...one(), page: 1, perPage: 20 })
  expect(items.map(({ id }) => id)).toEqual([32, 31])
})

test('a pipeline of an earlier head does not pass a later one', async () => {
  await record(31, 'success', { sha: mergeResult }, first)
  expect(await headPipeline()).toBe(31)
  const later = await commit('fix', 'c.txt')
  await record(31, 'success', { sha: mergeResult, finishedAt: world.clock.nowMs() }, first)
  await record(32, 'success', { sha: head }, first)
  await record(33, 'success', { sha: head, ref: 'refs/merge-requests/1/head' })
  await record(
    34,
    'success',
    { sha: 'e'.repeat(40) },
    { ...first, commit: { title: `Merge ${head} into ${'a'.repeat(40)}` } },
  )
  expect(await headPipeline()).toBeUndefined()
  expect(await merge()).toEqual(notAllowed)
  await record(
    35,
    'success',
    { sha: 'f'.repeat(40) },
    { ...first, commit: { title: `Merge ${later} into ${'a'.repeat(40)}` } },
  )
  expect(await headPipeline()).toBe(35)
})

test.each<[string, { readonly branch?: string; readonly [member: string]: unknown }]>([
  ['another merge request of the same branch', { mergeRequest: { iid: 2, sourceBranch: 'fix', targetBranch: 'old' } }],
  ['another branch', { ...first, branch: 'other' }],
  ['a merge request of another project', { mergeRequest: { iid: 1, targetProjectId: 8 }, hookProject: { id: 7 } }],
])('a pipeline for %s is another one', async (_, { branch = 'fix', ...more }) => {
  await create('old')
  await record(31, 'success', { sha: head })
  await record(32, 'failed', { sha: mergeResult, ref: branch }, more)
  expect(await headPipeline()).toBe(31)
})

test('a merge waits for the pipeline of the merged result, not for the one before it', async () => {
  await record(31, 'running', { sha: head }, first)
  await record(32, 'running', { sha: mergeResult }, first)
  await run(mergeMergeRequest, { ...one(), autoMerge: true })
  const finish = (id: number, status: string, sha: string) =>
    record(id, status, { sha, finishedAt: world.clock.nowMs() }, first)
  await world.clock.advance(1_000)
  await finish(31, 'success', head)
  expect(await run(getProjectMergeRequest, one())).toMatchObject({ state: 'opened', autoMergeUser: { id: mira.id } })
  await finish(32, 'success', mergeResult)
  expect((await run(getProjectMergeRequest, one())).state).toBe('merged')
})

test('a merge that waits is done when a pipeline of a merge train succeeds', async () => {
  const ref = 'refs/merge-requests/1/train'
  await record(32, 'running', { sha: mergeResult, ref })
  await run(mergeMergeRequest, { ...one(), autoMerge: true })
  await world.clock.advance(1_000)
  await record(32, 'success', { sha: mergeResult, ref, finishedAt: world.clock.nowMs() })
  expect((await run(getProjectMergeRequest, one())).state).toBe('merged')
})

test('a pipeline that a later record assigns to the merge request tests the present head', async () => {
  await record(51, 'running', { sha: mergeResult })
  expect(await headPipeline()).toBeUndefined()
  await record(51, 'failed', { sha: mergeResult }, first)
  expect(await headPipeline()).toBe(51)
  expect(await merge()).toEqual(notAllowed)
})

test('a later record that names another commit of the source branch is not a pipeline of the present head', async () => {
  await record(61, 'running', { sha: mergeResult }, first)
  expect(await headPipeline()).toBe(61)
  const title = `Merge ${'b'.repeat(40)} into ${'c'.repeat(40)}`
  await record(61, 'success', { sha: mergeResult }, { ...first, commit: { title } })
  expect(await headPipeline()).toBeUndefined()
})

test('a later record without a new commit keeps the head of the first record', async () => {
  await record(71, 'running', { sha: mergeResult }, first)
  await commit('fix', 'later.txt')
  await record(71, 'success', { sha: mergeResult }, first)
  expect(await headPipeline()).toBeUndefined()
})
