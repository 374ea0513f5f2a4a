import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openReadOnly } from '@penstock/db'
import { ManualClock } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { OneThreadStore } from '../one-thread-store.harness.ts'
import { goldenRequests, jobSpanId, pipelineBody, pipelineTraceId, runSpanId } from '../pipeline.harness.ts'
import type { ObserveTables } from '../schema/tables.ts'
import { openStoreFile } from '../store/store-writer.ts'

const DAY_MS = 24 * 3_600_000

let directory: string
let file: string
let clock: ManualClock
let store: OneThreadStore

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-pipelines-'))
  file = join(directory, 'observe.db')
  clock = new ManualClock(Date.parse('2026-01-01T00:00:00Z'))
  store = await OneThreadStore.open({ file, clock })
})
afterEach(async () => {
  await store.close()
  rmSync(directory, { recursive: true })
})

async function keep(...bodies: readonly Uint8Array[]) {
  for (const body of bodies) {
    expect(await store.receiveBody('traces', body, 'json')).toEqual({ kind: 'kept', partialSuccess: undefined })
  }
}

/** Returns the rows without ids, which depend on the order of arrival. */
async function rows() {
  const db = openReadOnly<ObserveTables>(file)
  const runs = await db.read.selectFrom('pipeline_runs').selectAll().orderBy('span_id').execute()
  const jobs = await db.read
    .selectFrom('pipeline_jobs as job')
    .leftJoin('pipeline_runs as run', 'run.id', 'job.run_id')
    .selectAll('job')
    .select('run.span_id as run_span_id')
    .orderBy('job.span_id')
    .execute()
  const stages = await db.read.selectFrom('pipeline_stages').select('span_id').orderBy('span_id').execute()
  await db.close()
  return {
    runs: runs.map(({ id: _, span_row_id: __, ...run }) => run),
    jobs: jobs.map(({ id: _, run_id: __, span_row_id: ___, ...job }) => job),
    stages,
  }
}

async function inAnotherStore(bodies: readonly Uint8Array[]) {
  await store.close()
  rmSync(file)
  store = await OneThreadStore.open({ file, clock })
  await keep(...bodies)
  return rows()
}

test('a run has the values of its span and the summary of its jobs', async () => {
  await keep(...goldenRequests('rest-bundle-retried-attempts-and-bridges'))
  expect(await store.queries.runs({ limit: 10 })).toMatchObject([
    {
      service: 'Braukessel Überwachung',
      name: 'Braukessel Überwachung',
      project: 'nordlicht/braukessel',
      namespace: 'nordlicht',
      project_url: 'https://forge.example.org:8443/nordlicht/braukessel',
      pipeline_id: '20917',
      pipeline_iid: 918,
      ref: 'main',
      sha: 'fa93e214dd64d965d54e49f008f0f2ff4e2e00f1',
      title: 'Alarmgrenzen je Sorte',
      trigger: 'push',
      user: 'noor_alamin',
      status: 'success',
      busy_seconds: 499,
      queue_seconds: 4,
      is_child: false,
      failed_jobs: ['image'],
      coverage: null,
    },
  ])
})

test.each([
  'rest-bundle-retried-attempts-and-bridges',
  'push-pipeline-five-jobs-three-stages.stage-spans',
  'push-pipeline-five-jobs-three-stages.gitlab-namespace',
  'child-outlives-its-parent',
  'failed-pipeline-with-skipped-deploy',
])('rows of %s do not depend on the order of arrival, or on repetition', async (name) => {
  const bodies = goldenRequests(name)
  await keep(...bodies)
  const expected = await rows()
  expect(expected.jobs.length).toBeGreaterThan(0)
  expect(expected.jobs.every(({ run_span_id }) => run_span_id !== null)).toBe(true)
  expect(await inAnotherStore(bodies.toReversed())).toEqual(expected)
  const shuffled = bodies.toSorted((a, b) => Buffer.compare(a.subarray(-200), b.subarray(-200)))
  expect(await inAnotherStore([...shuffled, ...bodies])).toEqual(expected)
})

test('the vendor namespace of attributes does not matter', async () => {
  await keep(...goldenRequests('push-pipeline-five-jobs-three-stages'))
  const expected = await rows()
  const other = await inAnotherStore(goldenRequests('push-pipeline-five-jobs-three-stages.gitlab-namespace'))
  expect(expected.runs.map(({ forge }) => forge)).toEqual(['svc'])
  // The name of the forge follows the same setting.
  expect(other).toEqual({ ...expected, runs: expected.runs.map((run) => ({ ...run, forge: 'gitlab' })) })
})

test('runs that were stored before the forge was are read again, and have none until then', async () => {
  await keep(...goldenRequests('github-push-run'), pipelineBody({ number: 1 }))
  await store.close()
  const db = openStoreFile(file)
  await db.write(async (tx) => {
    await tx.updateTable('pipeline_runs').set({ forge: null }).execute()
    await tx.insertInto('pipeline_rereads').values({ before_span_row_id: 1_000 }).execute()
  })
  await db.close()
  store = await OneThreadStore.open({ file, clock })
  await clock.untilSleeping()
  expect((await store.queries.runs({ limit: 9 })).map(({ forge }) => forge).sort()).toEqual(['github', null])
  expect(await store.queries.runs({ limit: 9, forge: 'github' })).toMatchObject([{ forge: 'github', name: 'CI' }])
  expect((await store.queries.facets()).forges).toEqual(['github'])
})

test('a version of a span that has finished replaces one that has not, whichever arrives last', async () => {
  const running = pipelineBody({ number: 1, seconds: 99, attributes: { 'pipeline.status': 'running' } })
  const finished = pipelineBody({ number: 1, seconds: 60, attributes: { 'pipeline.status': 'failed' } })
  await keep(running)
  expect(await store.queries.runs({ limit: 1 })).toMatchObject([{ status: 'running', duration_ns: null }])
  await keep(finished, running)
  expect(await store.queries.runs({ limit: 1 })).toMatchObject([{ status: 'failed', duration_ns: '60000000000' }])
})

describe('a child pipeline', () => {
  const parent = pipelineBody({
    number: 1,
    jobs: [
      { name: 'compile', start: 0, end: 10 },
      { name: 'deploy', start: 10, end: 60, bridge: true },
    ],
  })
  const child = JSON.parse(
    Buffer.from(pipelineBody({ number: 2, jobs: [{ name: 'roll out', start: 15, end: 50 }] })).toString(),
  )
  for (const span of child.resourceSpans[0].scopeSpans[0].spans) span.traceId = pipelineTraceId(1)
  child.resourceSpans[0].scopeSpans[0].spans[0].parentSpanId = jobSpanId(1, 1)
  const childBody = Buffer.from(JSON.stringify(child))

  test.each([[[parent, childBody]], [[childBody, parent]]])('is left out unless asked for', async (bodies) => {
    await keep(...bodies)
    expect(await store.queries.runs({ limit: 9 })).toMatchObject([{ span_id: runSpanId(1), jobs: 2 }])
    expect(await store.queries.runs({ limit: 9, children: true })).toMatchObject([
      { span_id: runSpanId(2), is_child: true, jobs: 1 },
      { span_id: runSpanId(1) },
    ])
    expect(await store.queries.run(pipelineTraceId(1))).toMatchObject({ span_id: runSpanId(1) })
  })

  test.each([[[0, 1]], [[1, 0]]])('counts its failed jobs in its parent, whichever arrives first', async (order) => {
    const failed = JSON.parse(
      childBody
        .toString()
        .replace('"job.status","value":{"stringValue":"success"', '"job.status","value":{"stringValue":"failed"'),
    )
    const bodies = [parent, Buffer.from(JSON.stringify(failed))]
    await keep(...order.map((at) => bodies[at]!))
    expect(await store.queries.runs({ limit: 9, children: true })).toMatchObject([
      { is_child: true, jobs_failed: 1, failed_jobs: ['roll out'] },
      { is_child: false, jobs: 2, jobs_failed: 1, failed_jobs: ['roll out'] },
    ])
  })

  test('is named by its failed bridge if it is not stored', async () => {
    const jobs = [{ name: 'deploy', start: 10, end: 60, bridge: true, status: 'failed' }]
    await keep(pipelineBody({ number: 3, jobs }))
    expect(await store.queries.runs({ limit: 1 })).toMatchObject([{ jobs_failed: 0, failed_jobs: ['deploy'] }])
  })

  test('takes its time on the critical path from its bridge', async () => {
    await keep(childBody, parent)
    const seconds = (await rows()).jobs.map(({ name, critical_seconds }) => [name, critical_seconds])
    expect(Object.fromEntries(seconds)).toEqual({ compile: 10, deploy: 15, 'roll out': 35 })
  })
})

test('jobs failed leave out bridges, and names are listed once', async () => {
  const jobs = ['unit', 'unit', 'lint', 'a', 'b', 'c', 'd'].map((name, start) => ({
    name,
    start,
    end: 9,
    status: 'failed',
  }))
  await keep(
    pipelineBody({ number: 1, jobs: [...jobs, { name: 'child', start: 0, end: 9, status: 'failed', bridge: true }] }),
  )
  expect(await store.queries.runs({ limit: 1 })).toMatchObject([
    { jobs: 8, jobs_failed: 7, failed_jobs: ['unit', 'lint', 'a', 'b', 'c'] },
  ])
})

test('retention removes rows with their spans', async () => {
  await keep(pipelineBody({ number: 1, jobs: [{ name: 'unit', start: 0, end: 9 }] }))
  await clock.untilSleeping()
  // In two moves, because one long move could overtake a slow maintenance.
  for (const ms of [8 * DAY_MS, 60_000]) {
    await clock.advance(ms)
    await clock.untilSleeping()
  }
  await keep(pipelineBody({ number: 2, jobs: [{ name: 'unit', start: 0, end: 9 }] }))
  expect((await rows()).runs).toMatchObject([{ pipeline_id: '2' }])
  expect((await rows()).jobs).toMatchObject([{ run_span_id: runSpanId(2) }])
})

test('spans that were stored before there were rows are read again in the background', async () => {
  const bodies = goldenRequests('rest-bundle-retried-attempts-and-bridges')
  await keep(...bodies)
  const expected = await rows()
  await store.close()
  const db = openStoreFile(file)
  await db.write(async (tx) => {
    for (const table of ['pipeline_runs', 'pipeline_jobs'] as const) await tx.deleteFrom(table).execute()
    await tx.insertInto('pipeline_rereads').values({ before_span_row_id: 1_000 }).execute()
  })
  await db.close()
  store = await OneThreadStore.open({ file, clock })
  await clock.untilSleeping()
  expect(await rows()).toEqual(expected)
})
