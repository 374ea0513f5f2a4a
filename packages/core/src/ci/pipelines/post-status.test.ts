import { recordInput, World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import type { DomainEvent } from '../../base/operations/event.ts'
import { perform } from '../../base/operations/perform.ts'
import { createBranch } from '../../code/repositories/branch-operations.ts'
import { createCommit } from '../../code/repositories/commit-operations.ts'
import { listCommitStatuses } from './commit-status-operations.ts'
import { getLatestPipeline, getPipeline, listPipelineJobs, putPipelineRecord } from './pipeline-operations.ts'
import { postCommitStatus } from './post-status.ts'

let world: World
let mira: User
let project: Project
let sha: string
let events: DomainEvent[]

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  project = await world.project('tools', mira)
  const actions = [{ action: 'create', filePath: 'a.txt', content: 'x' }]
  const change = { project: project.id, branch: 'main', commitMessage: 'Begin', actions }
  sha = (await world.perform(mira, createCommit, change)).sha
  events = []
})
afterEach(() => world.close())

const listener = {
  types: new Set(['pipeline.created', 'pipeline.updated'] as const),
  onEvent: async (_: unknown, event: DomainEvent) => void events.push(event),
}
const post = (state: string, more: object = {}, actor = mira) =>
  perform({ ...world.core, listeners: [listener] }, actor, postCommitStatus, {
    project: project.id,
    sha,
    state,
    ...more,
  })
const put = (id: number, status: string, more: object = {}) =>
  world.perform(
    mira,
    putPipelineRecord,
    recordInput({
      project: project.id,
      pipelineId: id,
      objectAttributes: { id, status, ref: 'main', sha, createdAt: '2026-02-03 04:00:00 UTC' },
      builds: [{ id: 7, name: 'unit', stage: 'test', status }],
      ...more,
    }),
  )
const listed = async (more: object = {}) => {
  const { items } = await world.perform(mira, listCommitStatuses, { project: project.id, sha, ...more })
  return items.map(({ name, status }) => `${name} ${status}`)
}
const get = (pipelineId: number) => world.perform(mira, getPipeline, { project: project.id, pipelineId })
const failure = (answer: Promise<unknown>) =>
  answer.then(
    () => expect.fail('should be rejected'),
    (error: DomainError) => error.failure,
  )
const cannot = (event: string, from: string) => ({
  code: 'refused',
  message: `Cannot transition status via :${event} from :${from} (Reason(s): Status cannot transition via "${event}")`,
})

test('the first status creates a pipeline, which follows its statuses', async () => {
  const pending = await post('pending', { name: 'lint', description: 'Wait', targetUrl: 'https://ci.example.test/1' })
  expect(pending).toMatchObject({
    sha,
    name: 'lint',
    stage: 'external',
    status: 'pending',
    user: { id: mira.id, username: 'mira' },
    posted: { targetUrl: 'https://ci.example.test/1', description: 'Wait' },
    pipeline: { source: 'external', ref: 'main', isTag: false, sha, status: 'pending' },
  })
  world.clock.advance(2_000)
  const running = await post('running', { name: 'lint', coverage: 81.5 })
  world.clock.advance(3_000)
  const done = await post('success', { context: 'lint' })
  expect([running.id, done.id]).toEqual([pending.id, pending.id])
  expect(done).toMatchObject({ durationSeconds: 3, queuedSeconds: 2, posted: { description: 'Wait', coverage: 81.5 } })
  expect(await get(pending.pipeline.id)).toMatchObject({
    status: 'success',
    durationSeconds: 3,
    queuedSeconds: 2,
    commit: { title: 'Begin' },
    user: { username: 'mira' },
  })
  await post('failed', { name: 'spell' })
  expect((await get(pending.pipeline.id)).status).toBe('failed')
  expect(await listed()).toEqual(['lint success', 'spell failed'])
  expect(await listed({ name: 'spell', stage: 'external' })).toEqual(['spell failed'])
})

test('a finished status is superseded by the next of its name, and one of another user by that user', async () => {
  const first = await post('failed')
  const second = await post('pending')
  expect(second.id).toBeGreaterThan(first.id)
  expect(second.name).toBe('default')
  expect(await listed()).toEqual(['default pending'])
  expect(await listed({ all: true })).toEqual(['default failed', 'default pending'])
  const noor = await world.user('noor')
  await world.member(project, noor, accessLevels.developer)
  expect((await post('success', {}, noor)).id).toBeGreaterThan(second.id)
  expect(await listed()).toEqual(['default success'])
})

test('some changes of the state are refused, in the words that clients look for', async () => {
  await post('pending')
  expect(await failure(post('pending'))).toEqual(cannot('enqueue', 'pending'))
  await post('running')
  expect(await failure(post('running'))).toEqual(cannot('run', 'running'))
  expect(await failure(post('pending'))).toEqual(cannot('enqueue', 'running'))
  expect(await failure(post('skipped'))).toEqual(cannot('skip', 'running'))
  await post('canceled')
  expect(await listed()).toEqual(['default canceled'])
})

test('a status joins the recorded pipeline, and stays there when the pipeline is recorded again', async () => {
  await put(31, 'running')
  const status = await post('failed', { name: 'lint' })
  expect(status.pipeline).toMatchObject({ id: 31, status: 'running' })
  await put(31, 'success')
  expect(await get(31)).toMatchObject({ status: 'success' })
  expect(await listed()).toEqual(['unit success', 'lint failed'])
  const { items } = await world.perform(mira, listPipelineJobs, { project: project.id, pipelineId: 31 })
  expect(items.map(({ name }) => name)).toEqual(['unit'])
  expect(await failure(post('success', { name: 'unit' }))).toEqual({
    code: 'invalid',
    fields: { name: ['has already been taken'] },
  })
})

test('a recorded pipeline is the latest one, but an open status stays where it began', async () => {
  const { pipeline } = await post('pending')
  await put(31, 'success')
  expect(await world.perform(mira, getLatestPipeline, { project: project.id })).toMatchObject({ id: 31 })
  expect((await post('success')).pipeline.id).toBe(pipeline.id)
  expect((await post('success')).pipeline.id).toBe(31)
  expect((await post('success', { pipelineId: pipeline.id })).pipeline.id).toBe(pipeline.id)
  expect(await failure(put(pipeline.id, 'success'))).toMatchObject({ code: 'conflict' })
})

test('the ref is a given one, that of the pipeline, or the first branch with the commit', async () => {
  await world.perform(mira, createBranch, { project: project.id, branch: 'also', ref: 'main' })
  expect((await post('success', { name: 'a' })).pipeline.ref).toBe('also')
  const other = await post('success', { name: 'b', ref: 'main' })
  expect(other.pipeline.ref).toBe('main')
  expect(await listed({ ref: 'main' })).toEqual(['b success'])
  expect(await failure(post('success', { pipelineId: other.pipeline.id, ref: 'also' }))).toEqual({
    code: 'not_found',
    what: 'Pipeline for pipeline_id, sha and ref',
  })
})

test('finished pipelines of statuses are handed to listeners as hooks', async () => {
  const { pipeline, id } = await post('running', { name: 'lint' })
  world.clock.advance(4_000)
  await post('failed', { name: 'lint' })
  expect(events.map(({ type, details }) => [type, details])).toEqual([
    ['pipeline.created', { pipelineId: pipeline.id, status: 'running', formerStatus: undefined }],
    ['pipeline.updated', { pipelineId: pipeline.id, status: 'failed', formerStatus: 'running' }],
  ])
  expect(events[1]!.changes).toEqual({
    status: { previous: 'running', current: 'failed' },
    jobStatuses: { previous: { [id]: 'running' }, current: { [id]: 'failed' } },
  })
  expect(JSON.parse(events[1]!.payload!)).toMatchObject({
    object_kind: 'pipeline',
    object_attributes: { id: pipeline.id, status: 'failed', source: 'external', sha, duration: 4 },
    builds: [{ id, name: 'lint', stage: 'external', status: 'failed', failure_reason: 'api_failure', duration: 4 }],
  })
})

test('wrong values are refused', async () => {
  const long = 'x'.repeat(256)
  expect(await failure(post('success', { name: long, description: long, targetUrl: 'javascript:alert(1)' }))).toEqual({
    code: 'invalid',
    fields: {
      name: ['is too long (maximum is 255 characters)'],
      description: ['is too long (maximum is 255 characters)'],
      targetUrl: ['is blocked: Only allowed schemes are http, https'],
    },
  })
  expect(await failure(post('done'))).toMatchObject({ code: 'parameters' })
  expect(await failure(post('success', { sha: 'missing' }))).toEqual({ code: 'not_found', what: 'Commit' })
  expect(await failure(post('success', { sha: 'a'.repeat(40) }))).toEqual({ code: 'not_found', what: 'Commit' })
  const noor = await world.user('noor')
  await world.member(project, noor, accessLevels.reporter)
  expect(await failure(post('success', {}, noor))).toEqual({ code: 'forbidden' })
})
