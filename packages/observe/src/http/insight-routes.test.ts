import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  jobSpanId,
  type PipelineSample,
  pipelineBody,
  pipelineTraceId,
  runSpanId,
  startNs,
} from '../pipeline.harness.ts'
import { serveStore } from '../served-store.harness.ts'
import { comparisonShape, insightsShape } from './insights-shapes.ts'

let served: Awaited<ReturnType<typeof serveStore>>

beforeEach(async () => {
  served = await serveStore()
})
afterEach(() => served.close())

const keep = async (...samples: readonly PipelineSample[]) => {
  for (const sample of samples) await served.store.receiveBody('traces', pipelineBody(sample), 'json')
}
const DAY_MS = 86_400_000
const HOUR_NS = 3_600_000_000_000n
const onMain = { 'vcs.ref.head.name': 'main', 'vcs.ref.head.revision': 'abc' }
const range = `since=${startNs}&until=${startNs + 24n * HOUR_NS}`

test('answers insights over HTTP, with times on the critical path', async () => {
  await keep(
    {
      number: 1,
      attributes: onMain,
      seconds: 40,
      jobs: [
        { name: 'build', start: 0, end: 10 },
        { name: 'lint', start: 0, end: 4 },
        { name: 'unit', start: 10, end: 30, status: 'failed' },
        { name: 'unit', start: 31, end: 40 },
      ],
    },
    { number: 2, attributes: { ...onMain, 'cicd.pipeline.result': 'failure' }, seconds: 20 },
  )
  const { status, json } = await served.get(`/insights?${range}`)
  expect(status).toBe(200)
  expect(insightsShape.parse(json)).toEqual(json)
  expect(json.totals).toMatchObject({ runs: 2, success: 1, failed: 1, duration_p50: 30, failure_rate: 0.5 })
  expect(json.slowest_jobs).toMatchObject([
    { name: 'unit', stage: 'test', critical_seconds: 29, runs: 1 },
    { name: 'build', critical_seconds: 10 },
  ])
  expect(json.flaky_jobs).toMatchObject([{ name: 'unit', shas: 1, shas_total: 1, last_trace_id: pipelineTraceId(1) }])
  expect(json.retries).toMatchObject([{ name: 'unit', retries: 1, lost_seconds: 20 }])
  expect(json.minutes[0].minutes).toBeCloseTo((10 + 4 + 20 + 9) / 60, 9)
})

test('sees what arrives between two questions, also jobs of known runs', async () => {
  const totals = async () => (await served.get(`/insights?${range}`)).json
  expect((await totals()).totals.runs).toBe(0)
  await keep({ number: 1 })
  expect((await totals()).slowest_jobs).toEqual([])
  await keep({ number: 1, jobs: [{ name: 'build', start: 0, end: 10 }] }, { number: 2 })
  const { totals: found, slowest_jobs } = await totals()
  expect([found.runs, slowest_jobs[0].critical_seconds]).toEqual([2, 10])
})

test('lists 50 jobs, or as many as are asked for', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `job ${index}`)
  const jobs = names.flatMap((name, index) => [
    { name, start: index, end: index + 1, status: 'failed' },
    { name, start: index + 1, end: index + 2 },
  ])
  await keep({ number: 1, attributes: onMain, jobs })
  const lists = async (query: string) => {
    const { flaky_jobs, failing_jobs, retries } = (await served.get(`/insights?${range}${query}`)).json
    return [flaky_jobs, failing_jobs, retries].map(({ length }) => length)
  }
  expect([await lists(''), await lists('&limit=500'), await lists('&limit=3')]).toEqual([
    [50, 50, 50],
    [60, 60, 60],
    [3, 3, 3],
  ])
  expect((await served.get(`/insights?${range}&limit=501`)).status).toBe(400)
})

test('keeps an answer until a run changes', async () => {
  await keep({ number: 1 })
  const first = (await served.get(`/insights?${range}`)).json
  expect((await served.get(`/insights?${range}`)).json).toEqual(first)
  expect((await served.get(`/insights?${range}&ref=dev`)).json.totals.runs).toBe(0)
  expect((await served.get(`/insights?since=${startNs}&until=${startNs + 1n}`)).json.totals.runs).toBe(0)
})

test('says when older runs are left out because too many jobs are stored, until those are deleted', async () => {
  await served.close()
  served = await serveStore({ maxHistoryJobs: 2 })
  const jobs = [{ name: 'build', start: 0, end: 10 }]
  const answer = async (query: string) => {
    const { json } = await served.get(`/insights?${query}`)
    return [json.truncated, json.totals.runs]
  }
  await keep({ number: 1, jobs }, { number: 2, jobs })
  expect(await answer(range)).toEqual([false, 2])
  await keep({ number: 3, jobs })
  expect(await answer(range)).toEqual([true, 2])
  const later = startNs + 30n * 24n * HOUR_NS
  expect(await answer(`since=${later}&until=${later + HOUR_NS}`)).toEqual([false, 0])
  const { clock } = served
  const maintained = async (ms: number) => {
    // In two moves, because one long move could overtake a slow maintenance.
    for (const move of [ms, 60_000]) {
      await clock.advance(move)
      await clock.untilSleeping()
    }
  }
  await clock.untilSleeping()
  await maintained(4 * DAY_MS)
  await keep({ number: 4, jobs })
  expect(await answer(range)).toEqual([true, 2])
  await maintained(4 * DAY_MS)
  expect(await answer(range)).toEqual([false, 1])
})

test('selects by service, project and ref', async () => {
  await keep(
    { number: 1, attributes: onMain },
    { number: 2, service: 'other', attributes: { 'vcs.ref.head.name': 'dev' } },
  )
  const runs = async (filter: string) => (await served.get(`/insights?${range}&${filter}`)).json.totals.runs
  expect(await runs('service=ci')).toBe(1)
  expect(await runs('ref=dev')).toBe(1)
  expect(await runs('project=Shop')).toBe(2)
  expect(await runs('project=moss%2Fshop')).toBe(2)
  expect(await runs('project=other')).toBe(0)
})

test('counts the jobs of a child pipeline, on the path of its bridge', async () => {
  const bridge = jobSpanId(1, 1)
  const body = JSON.parse(
    Buffer.from(
      pipelineBody({
        number: 1,
        seconds: 30,
        jobs: [
          { name: 'build', start: 0, end: 10 },
          { name: 'deploy', start: 10, end: 30, bridge: true },
        ],
      }),
    ).toString(),
  )
  const child = JSON.parse(
    Buffer.from(
      pipelineBody({ number: 7, start: startNs + 1_000_000_000n, jobs: [{ name: 'rollout', start: 12, end: 28 }] }),
    ).toString(),
  )
  const spans = child.resourceSpans[0].scopeSpans[0].spans
  for (const span of spans) span.traceId = pipelineTraceId(1)
  spans[0].parentSpanId = bridge
  body.resourceSpans.push(...child.resourceSpans)
  await served.store.receiveBody('traces', Buffer.from(JSON.stringify(body)), 'json')
  const { json } = await served.get(`/insights?${range}`)
  expect(json.totals.runs).toBe(1)
  expect(
    json.slowest_jobs.map((job: { name: string; critical_seconds: number }) => [job.name, job.critical_seconds]),
  ).toEqual([
    ['rollout', 16],
    ['build', 10],
    ['deploy', 4],
  ])
  expect(runSpanId(7)).toBe(spans[0].spanId)
})

test('compares two runs, and a run with the median of its ref', async () => {
  const unit = (end: number) => [{ name: 'unit', start: 0, end }]
  await keep(
    ...[10, 20, 60].map((end, index) => ({ number: index + 1, attributes: onMain, seconds: end, jobs: unit(end) })),
    { number: 4, attributes: { ...onMain, 'cicd.pipeline.result': 'failure' }, jobs: unit(30) },
  )
  const two = await served.get(`/compare?a=${pipelineTraceId(1)}&b=${pipelineTraceId(4)}`)
  expect(comparisonShape.parse(two.json)).toEqual(two.json)
  expect(two.json).toMatchObject({
    a: { trace_id: pipelineTraceId(1) },
    b: { trace_id: pipelineTraceId(4), status: 'failed' },
    base: 'a',
    jobs: [{ name: 'unit', a_seconds: 10, b_seconds: 30, delta_seconds: 20, change: 'slower' }],
  })
  const median = await served.get(`/compare?a=${pipelineTraceId(4)}&b=median`)
  expect(comparisonShape.parse(median.json)).toEqual(median.json)
  expect(median.json).toMatchObject({
    b: { kind: 'median', ref: 'main', runs: 3, duration_seconds: 20 },
    base: 'b',
    jobs: [{ name: 'unit', a_seconds: 30, b_seconds: 20, delta_seconds: 10, change: 'slower' }],
  })
})

test('answers not found for a comparison with an unknown run', async () => {
  await keep({ number: 1 })
  expect((await served.get(`/compare?a=${pipelineTraceId(9)}&b=median`)).status).toBe(404)
  expect((await served.get(`/compare?a=${pipelineTraceId(1)}&b=${pipelineTraceId(9)}`)).status).toBe(404)
})
