import { recordInput, World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DomainError, Failure } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Project } from '../../base/model/project.ts'
import type { Actor, User } from '../../base/model/user.ts'
import { type EventListener, readContextOf } from '../../base/operations/context.ts'
import type { DomainEvent } from '../../base/operations/event.ts'
import { perform } from '../../base/operations/perform.ts'
import { removeProject } from '../../code/projects/project-operations.ts'
import { lastPipelineOfEach } from './commit-pipeline-store.ts'
import {
  getJob,
  getLatestPipeline,
  getPipeline,
  listPipelineBridges,
  listPipelineJobs,
  listPipelines,
  listProjectJobs,
  putPipelineRecord,
  removePipeline,
} from './pipeline-operations.ts'

let world: World
let mira: User
let project: Project
let events: DomainEvent[]

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  project = await world.project('tools', await world.group('ops'))
  await world.member(project, mira, accessLevels.owner)
  events = []
})

afterEach(() => world.close())

const MINUTE_MS = 60_000
const at = (minute: number) => `2026-02-03 04:${String(minute).padStart(2, '0')}:00 UTC`

/** Returns the input for a hook of pipeline 31. */
const hook = (run: object = {}, rest: object = {}) => ({
  project: project.id,
  pipelineId: 31,
  objectAttributes: { id: 31, status: 'running', ref: 'main', createdAt: at(0), ...run },
  ...rest,
})
const listener = {
  types: new Set(['pipeline.created', 'pipeline.updated', 'pipeline.removed'] as const),
  onEvent: async (_: unknown, event: DomainEvent) => void events.push(event),
}
const put = (record: object, actor: Actor = mira) =>
  perform({ ...world.core, listeners: [listener] }, actor, putPipelineRecord, recordInput(record))
const get = (pipelineId = 31) => world.perform(mira, getPipeline, { project: project.id, pipelineId })
const jobs = async (more: object = {}) => {
  const page = await world.perform(mira, listPipelineJobs, { project: project.id, pipelineId: 31, ...more })
  return page.items.map(({ id, status }) => [id, status])
}
const refusal = (answer: Promise<unknown>): Promise<Failure> =>
  answer.then(
    () => expect.fail('should be rejected'),
    (error: DomainError) => error.failure,
  )
const eventSummaries = () => events.map(({ type, details }) => [type, details])

describe('a record', () => {
  test('creates a pipeline, and a newer record updates it', async () => {
    expect(await put(hook())).toMatchObject({ isNew: true, pipeline: { id: 31, status: 'running', ref: 'main' } })
    const done = { status: 'failure', finishedAt: at(9), duration: 63, queuedDuration: 2 }
    expect(await put(hook(done))).toMatchObject({ isNew: false, pipeline: { status: 'failed', durationSeconds: 63 } })
    expect(await get()).toMatchObject({ status: 'failed', finishedAtMs: Date.UTC(2026, 1, 3, 4, 9), queuedSeconds: 2 })
    expect(eventSummaries()).toEqual([
      ['pipeline.created', { pipelineId: 31, status: 'running', formerStatus: undefined }],
      ['pipeline.updated', { pipelineId: 31, status: 'failed', formerStatus: 'running' }],
    ])
    expect(events[1]).toMatchObject({
      projectId: project.id,
      actorId: mira.id,
      payload: recordInput(hook(done)).payload,
    })
  })

  test('that is not newer changes nothing', async () => {
    const done = hook({ status: 'success', finishedAt: at(9) }, { builds: [{ id: 380, status: 'success' }] })
    await put(done)
    const before = await get()
    await world.clock.advance(MINUTE_MS)
    for (const record of [done, hook({ status: 'running' }), hook({ status: 'success', finishedAt: at(8) })]) {
      expect(await put(record)).toEqual({ isNew: false, pipeline: before })
    }
    expect(events).toHaveLength(1)
    await put(hook({ status: 'failed', finishedAt: at(20) }))
    expect(await get()).toMatchObject({ status: 'failed', updatedAtMs: before.updatedAtMs + MINUTE_MS })
    expect(await jobs()).toEqual([])
  })

  test('that is large is prepared by listeners before the transaction, but only if the actor may record it', async () => {
    const seen: unknown[] = []
    const preparing: EventListener = {
      types: listener.types,
      prepare: async ({ db }, { id }, payload) => {
        // Inside of the transaction, this would be a deadlock.
        await db.write(async () => {})
        seen.push([id, payload.length])
        return 'prepared'
      },
      onEvent: async (_, { prepared }) => void seen.push(prepared?.get(preparing)),
    }
    const core = { ...world.core, listeners: [preparing] }
    const record = hook({}, { padding: 'x'.repeat(70_000) })
    const stranger = await world.user('stranger')
    expect(await refusal(perform(core, stranger, putPipelineRecord, recordInput(record)))).toMatchObject({
      code: 'not_found',
    })
    expect(seen).toEqual([])
    await perform(core, mira, putPipelineRecord, recordInput(record))
    await perform(core, mira, putPipelineRecord, recordInput(hook({ status: 'success', finishedAt: at(9) })))
    expect(seen).toEqual([[project.id, recordInput(record).payload.length], 'prepared', undefined])
  })

  test('is rolled back completely if a listener fails', async () => {
    const broken = { types: listener.types, onEvent: () => Promise.reject(new Error('full')) }
    const core = { ...world.core, listeners: [broken] }
    await expect(perform(core, mira, putPipelineRecord, recordInput(hook()))).rejects.toThrow('full')
    expect(await refusal(get())).toEqual({ code: 'not_found' })
  })

  test('can have ids of 53 bits', async () => {
    const id = Number.MAX_SAFE_INTEGER
    await put({ ...hook({ id, iid: id }, { builds: [{ id, status: 'success' }] }), pipelineId: id })
    expect(await get(id)).toMatchObject({ id, iid: id })
    expect(await world.perform(mira, getJob, { project: project.id, jobId: id })).toMatchObject({
      id,
      pipeline: { id },
    })
  })

  test('needs the Developer role, and a project that is not archived', async () => {
    const noor = await world.user('noor')
    await world.member(project, noor, accessLevels.reporter)
    expect(await refusal(put(hook(), noor))).toEqual({ code: 'forbidden' })
    expect(await refusal(put(hook(), await world.user('stranger')))).toMatchObject({ code: 'not_found' })
    const ofJob = (jobProjectId: number) => ({ ...mira, jobProjectId })
    expect(await put(hook(), ofJob(project.id))).toMatchObject({ isNew: true })
    expect(await refusal(put(hook(), ofJob(project.id + 1)))).toMatchObject({ code: 'not_found' })
    await world.core.db.write((db) => db.updateTable('projects').set({ is_archived: 1 }).execute())
    expect(await refusal(put(hook({ status: 'success' })))).toEqual({ code: 'forbidden' })
  })
})

describe('jobs', () => {
  const build = (id: number, status: string, more: object = {}) => ({ id, status, name: `job ${id}`, ...more })

  test('are those of the last record, newest first, without superseded attempts', async () => {
    await put(hook({}, { builds: [build(1, 'success'), build(2, 'pending'), build(3, 'created')] }))
    const builds = [build(4, 'running', { name: 'job 2' }), build(1, 'success'), build(2, 'failed')]
    await put(hook({ startedAt: at(1) }, { builds, bridges: [build(5, 'success')] }))
    expect(await jobs()).toEqual([
      [4, 'running'],
      [1, 'success'],
    ])
    expect(await jobs({ includeRetried: true, scope: ['failed', 'success'] })).toEqual([
      [2, 'failed'],
      [1, 'success'],
    ])
  })

  test('have the data of the hook', async () => {
    const runner = {
      id: 6,
      description: 'shared',
      runnerType: 'instance_type',
      active: true,
      isShared: true,
      tags: ['a'],
    }
    const more = {
      stage: 'test',
      createdAt: at(1),
      startedAt: at(2),
      finishedAt: at(3),
      duration: 60.5,
      queuedDuration: 0.25,
      failureReason: 'script_failure',
      allowFailure: true,
      runner,
      artifactsFile: { filename: 'a.zip', size: 7 },
      environment: { name: 'staging', action: 'start', deploymentTier: 'staging' },
      user: { id: 7, username: 'ada', name: 'Ada' },
    }
    await put(hook({}, { builds: [build(1, 'failed', more)] }))
    expect(await world.perform(mira, getJob, { project: project.id, jobId: 1 })).toMatchObject({
      stage: 'test',
      startedAtMs: Date.UTC(2026, 1, 3, 4, 2),
      durationSeconds: 60.5,
      queuedSeconds: 0.25,
      failureReason: 'script_failure',
      allowFailure: true,
      runner: { id: 6, type: 'instance_type', isActive: true, isShared: true, tags: ['a'] },
      artifacts: { filename: 'a.zip', size: 7 },
      environment: { name: 'staging', action: 'start', deploymentTier: 'staging' },
      user: { id: 7, username: 'ada', name: 'Ada' },
      pipeline: { id: 31, startedAtMs: Date.UTC(2026, 1, 3, 4, 2) },
    })
  })

  test('of all pipelines can be paged by number and by keyset', async () => {
    await put(hook({}, { builds: [build(1, 'success'), build(3, 'failed')] }))
    await put({ ...hook({ id: 32 }, { builds: [build(2, 'success'), build(4, 'success')] }), pipelineId: 32 })
    const list = (more: object) => world.perform(mira, listProjectJobs, { project: project.id, ...more })
    const numbersOf = ({ items }: { items: readonly { id: number; pipeline: { id: number } }[] }) =>
      items.map(({ id, pipeline }) => `${pipeline.id}: ${id}`)
    expect(numbersOf(await list({}))).toEqual(['32: 4', '31: 3', '32: 2', '31: 1'])
    expect(numbersOf(await list({ scope: ['failed'] }))).toEqual(['31: 3'])
    const first = await list({ pagination: 'keyset', perPage: 3 })
    expect(numbersOf(first)).toEqual(['32: 4', '31: 3', '32: 2'])
    const cursor = 'nextCursor' in first ? first.nextCursor : undefined
    expect(await list({ pagination: 'keyset', perPage: 3, cursor })).toMatchObject({
      items: [{ id: 1 }],
      nextCursor: undefined,
    })
  })

  test('of a pipeline with thousands of them are listed once each', async () => {
    const builds = Array.from({ length: 2_500 }, (_, index) => build(index + 1, 'created'))
    await put(hook({}, { builds }))
    await put(hook({ startedAt: at(1) }, { builds: builds.map((one) => ({ ...one, status: 'success' })) }))
    const page = await world.perform(mira, listPipelineJobs, {
      project: project.id,
      pipelineId: 31,
      scope: ['success'],
    })
    expect([page.total, page.items[0]?.id]).toEqual([2_500, 2_500])
  })
})

test('bridges show the pipelines that they started, if the actor may see them', async () => {
  const far = await world.project('far', await world.group('elsewhere'))
  await world.member(far, mira, accessLevels.developer)
  const noor = await world.user('noor')
  await world.member(project, noor, accessLevels.guest)
  const home = { id: 9, pathWithNamespace: project.fullPath }
  const bridges = [1, 2, 3].map((id) => ({ id, status: 'success', name: `to ${id}` }))
  await put(hook({}, { bridges, hookProject: home }))
  const child = (id: number, jobId: number, more: object) => ({
    ...hook({ id }),
    pipelineId: id,
    hookProject: home,
    sourcePipeline: { pipelineId: 31, jobId, project: home },
    ...more,
  })
  await put(child(40, 1, {}))
  const farHook = { project: far.id, hookProject: { id: 10, pathWithNamespace: 'elsewhere/far' } }
  await put(child(41, 2, farHook))
  // A claim to a bridge is ignored if a pipeline of the bridge's own project has it.
  await put(child(42, 1, farHook))
  const downstreams = async (actor: User) => {
    const page = await world.perform(actor, listPipelineBridges, { project: project.id, pipelineId: 31 })
    return page.items.map(({ id, downstream }) => [id, downstream?.id])
  }
  expect(await downstreams(mira)).toEqual([
    [3, undefined],
    [2, 41],
    [1, 40],
  ])
  expect(await downstreams(noor)).toEqual([
    [3, undefined],
    [2, undefined],
    [1, 40],
  ])
})

describe('a list of pipelines', () => {
  beforeEach(async () => {
    const runs = [
      { id: 1, status: 'success', ref: 'main', sha: 'a1', source: 'push', tag: false, name: 'Nightly' },
      { id: 2, status: 'failed', ref: 'main', sha: 'a2', source: 'web', tag: false },
      { id: 3, status: 'running', ref: 'v1', sha: 'a2', source: 'push', tag: true },
      { id: 4, status: 'skipped', ref: 'fix', sha: 'a3', source: 'push', tag: false, createdAt: at(30) },
    ]
    for (const run of runs) {
      const user = { id: 10 - run.id, username: run.id === 2 ? 'ada' : 'bob' }
      await put({ ...hook(run, run.id === 3 ? {} : { user }), pipelineId: run.id })
      await world.clock.advance(MINUTE_MS)
    }
  })

  test.each<[object, number[]]>([
    [{}, [4, 3, 2, 1]],
    [{ sort: 'asc' }, [1, 2, 3, 4]],
    [{ status: 'failed' }, [2]],
    [{ ref: 'main' }, [2, 1]],
    [{ sha: 'a2' }, [3, 2]],
    [{ source: 'push' }, [4, 3, 1]],
    [{ username: 'ada' }, [2]],
    [{ name: 'Nightly' }, [1]],
    [{ yamlErrors: true }, []],
    [{ yamlErrors: false, ref: 'main' }, [2, 1]],
    [{ scope: 'running' }, [3]],
    [{ scope: 'pending' }, []],
    [{ scope: 'finished' }, [2, 1]],
    [{ scope: 'branches' }, [4, 2]],
    [{ scope: 'tags' }, [3]],
    [{ updatedAfter: '2026-02-03T04:07:00Z' }, [4, 3]],
    [{ updatedBefore: '2026-02-03T04:07:00Z' }, [2, 1]],
    [{ createdAfter: '2026-02-03T04:10:00Z' }, [4]],
    [{ createdBefore: '2026-02-03T04:10:00Z' }, [3, 2, 1]],
    [{ orderBy: 'status', sort: 'asc' }, [2, 3, 4, 1]],
    [{ orderBy: 'ref', sort: 'asc' }, [4, 1, 2, 3]],
    [{ orderBy: 'updated_at' }, [4, 3, 2, 1]],
    [{ orderBy: 'user_id' }, [1, 2, 4, 3]],
    [{ perPage: 2, page: 2 }, [2, 1]],
  ])('is filtered and ordered by %j', async (filter, expected) => {
    const page = await world.perform(mira, listPipelines, { project: project.id, ...filter })
    expect(page.items.map(({ id }) => id)).toEqual(expected)
  })

  test('has a latest pipeline for each ref', async () => {
    const latest = (ref?: string) => world.perform(mira, getLatestPipeline, { project: project.id, ref })
    expect(await latest('main')).toMatchObject({ id: 2 })
    expect(await refusal(latest('nowhere'))).toEqual({ code: 'not_found' })
  })

  test('has child pipelines only if their source is asked for', async () => {
    const child = { id: 5, status: 'failed', ref: 'main', sha: 'a2', source: 'parent_pipeline', tag: false }
    await put({ ...hook(child), pipelineId: 5 })
    const ids = async (filter: object) => {
      const page = await world.perform(mira, listPipelines, { project: project.id, ...filter })
      return page.items.map(({ id }) => id)
    }
    expect(await ids({})).toEqual([4, 3, 2, 1])
    expect(await ids({ scope: 'branches' })).toEqual([4, 2])
    expect(await ids({ source: 'parent_pipeline' })).toEqual([5])
    expect(await ids({ source: 'parent_pipeline', scope: 'branches' })).toEqual([5])
    const latest = await world.perform(mira, getLatestPipeline, { project: project.id, ref: 'main' })
    expect(latest.id).toBe(2)
    expect(await get(5)).toMatchObject({ id: 5 })
  })

  test('has a last pipeline for each commit, for those who may see pipelines', async () => {
    await put({ ...hook({ id: 5, sha: 'a2', source: 'parent_pipeline' }), pipelineId: 5 })
    const shas = ['a1', 'a2', 'a9', undefined]
    const lastOf = async (actor: Actor) => {
      const context = { ...readContextOf(world.core), actor }
      const commits = shas.map((sha) => ({ projectId: project.id, sha }))
      return (await lastPipelineOfEach(context, commits)).map((pipeline) => pipeline?.id)
    }
    expect(await lastOf(mira)).toEqual([1, 3, undefined, undefined])
    expect(await lastOf(await world.user('noor'))).toEqual(shas.map(() => undefined))
  })
})

test('an Owner can remove a pipeline with its jobs, and it can be recorded again', async () => {
  await put(hook({ status: 'success' }, { builds: [{ id: 1, status: 'success' }] }))
  const noor = await world.user('noor')
  await world.member(project, noor, accessLevels.maintainer)
  const remove = (actor: User) => world.perform(actor, removePipeline, { project: project.id, pipelineId: 31 })
  expect(await refusal(remove(noor))).toEqual({ code: 'forbidden' })
  await remove(mira)
  expect(await refusal(get())).toEqual({ code: 'not_found' })
  expect(await world.perform(mira, listProjectJobs, { project: project.id })).toMatchObject({ items: [] })
  expect(await put(hook())).toMatchObject({ isNew: true })
  await world.perform(mira, removeProject, { project: project.id })
})
