import { convertChunks, resolveOptions } from '@penstock/converter'
import { type PipelineRecord, parseLossless, readInput } from '@penstock/forges'
import type { Observe } from '@penstock/observe'
import { defaultChunkLimits, RequestEncoder, type Signal } from '@penstock/otlp'
import { pipelineHook } from '../payloads.ts'

export const WEEK_NS = 7n * 24n * 3_600_000_000_000n
export const nowNs = BigInt(Date.now()) * 1_000_000n
export const sinceNs = nowNs - WEEK_NS
const PIPELINES_AT_ONCE = 25

interface Project {
  readonly path: string
  readonly service: string
  readonly jobs: number
}

export const projects: readonly Project[] = [
  { path: 'mossgate/shop/storefront', service: 'svc-ci', jobs: 24 },
  { path: 'mossgate/shop/checkout', service: 'svc-ci', jobs: 18 },
  { path: 'mossgate/lockers/hub', service: 'svc-ci', jobs: 20 },
  { path: 'mossgate/lockers/devices/door-firmware', service: 'firmware-ci', jobs: 30 },
  { path: 'mossgate/platform/ci-images', service: 'platform-ci', jobs: 9 },
  { path: 'mossgate/platform/sites', service: 'platform-ci', jobs: 12 },
]
const refs = ['main', 'main', 'main', 'release', ...Array.from({ length: 40 }, (_, index) => `change-${index}`)]
const encoder = new RequestEncoder('protobuf')

/** Returns a pseudo-random number from 0 to 1 that depends on its arguments only. */
const chance = (number: number, salt: number): number => {
  const value = Math.imul(number * 2_654_435_761 + salt * 97, 0x9e3779b1) >>> 0
  return ((value ^ (value >>> 15)) >>> 0) / 2 ** 32
}

function recordOf(json: string): PipelineRecord {
  const input = readInput(parseLossless(json), { receivedAtNs: undefined })
  if (input.kind !== 'pipeline') throw new Error('not a pipeline')
  return input.record
}
const recipes = projects.map(({ jobs }) => recordOf(JSON.stringify(pipelineHook(1, jobs))))

/** Returns one run of a project at a time within the week. */
export function runOf(number: number, count: number): { record: PipelineRecord; service: string } {
  const at = number % projects.length
  const { path, service } = projects[at]!
  const recipe = recipes[at]!
  const shiftNs = sinceNs + (WEEK_NS * BigInt(number)) / BigInt(count) - recipe.createdAtNs!
  const stretch = 0.8 + chance(number, 1) * 0.6
  const moved = (ns: bigint | undefined) =>
    ns === undefined ? undefined : ns + shiftNs + BigInt(Math.round(Number(ns - recipe.createdAtNs!) * (stretch - 1)))
  const failed = chance(number, 2) < 0.12
  const id = BigInt(number + 1)
  const webUrl = `https://forge.example/${path}`
  const record: PipelineRecord = {
    ...recipe,
    id,
    iid: id,
    rootPipelineId: id,
    status: failed ? 'failed' : 'success',
    ref: refs[Math.floor(chance(number, 3) * refs.length)],
    sha: number.toString(16).padStart(40, '7'),
    url: `${webUrl}/-/pipelines/${id}`,
    project: { id: BigInt(at + 1), name: path.split('/').at(-1), webUrl, path },
    createdAtNs: moved(recipe.createdAtNs),
    finishedAtNs: moved(recipe.finishedAtNs),
    updatedAtNs: moved(recipe.updatedAtNs),
    startedAtNs: moved(recipe.startedAtNs),
    jobs: recipe.jobs.map((job, index) => ({
      ...job,
      id: id * 1_000n + BigInt(index),
      status: failed && index === number % recipe.jobs.length ? 'failed' : 'success',
      createdAtNs: moved(job.createdAtNs),
      startedAtNs: moved(job.startedAtNs),
      finishedAtNs: moved(job.finishedAtNs),
    })),
  }
  return { record, service }
}

/** Returns a trace of a service that is no CI system, with ten spans. */
function shopTrace(number: number, count: number): object {
  const startNs = sinceNs + (WEEK_NS * BigInt(number)) / BigInt(count)
  const traceId = number.toString(16).padStart(32, 'c')
  const spans = Array.from({ length: 10 }, (_, index) => ({
    traceId,
    spanId: (number * 10 + index + 1).toString(16).padStart(16, '0'),
    ...(index > 0 && { parentSpanId: (number * 10 + 1).toString(16).padStart(16, '0') }),
    name: index === 0 ? 'GET /basket' : `select ${index}`,
    kind: 2,
    startTimeUnixNano: String(startNs + BigInt(index) * 1_000_000n),
    endTimeUnixNano: String(startNs + BigInt(20 + Math.round(chance(number, 4) * 500)) * 1_000_000n),
    attributes: [
      { key: 'http.route', value: { stringValue: '/basket' } },
      { key: 'customer', value: { intValue: String(number) } },
    ],
    ...(chance(number, 5) < 0.02 && index === 3 && { status: { code: 2 } }),
  }))
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'basket' } }] }
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'http' }, spans }] }] }
}

export async function keep(store: Observe, signal: Signal, encoding: 'json' | 'protobuf', body: Uint8Array) {
  for (;;) {
    const receipt = await store.receive({ signal, encoding, coding: 'identity', wire: new Uint8Array(body) })
    if (receipt.kind === 'kept') return
    if (receipt.kind !== 'unavailable') throw new Error(receipt.text)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

export async function keepRun(
  store: Observe,
  run: ReturnType<typeof runOf>,
  signals: readonly Signal[],
): Promise<void> {
  const options = resolveOptions({ resourceServiceName: run.service })
  const chunks = convertChunks(run.record, options, { signals, encoder, limits: defaultChunkLimits })
  await Promise.all(Array.from(chunks, ({ signal, body }) => keep(store, signal, 'protobuf', body)))
}

/** Fills an empty store with spans, most of them of pipelines, and with log records of a tenth of the pipelines. */
export async function fill(store: Observe, count: number): Promise<void> {
  const spansPerRound = projects.reduce((sum, { jobs }) => sum + jobs + 1, 0)
  const shopTraces = Math.round(count / 100)
  const runs = Math.round(((count - shopTraces * 10) / spansPerRound) * projects.length)
  const started = performance.now()
  for (let from = 0; from < runs; from += PIPELINES_AT_ONCE) {
    const signals: Signal[] = from % (PIPELINES_AT_ONCE * 10) === 0 ? ['traces', 'logs'] : ['traces']
    const numbers = Array.from({ length: Math.min(PIPELINES_AT_ONCE, runs - from) }, (_, index) => from + index)
    await Promise.all(numbers.map((number) => keepRun(store, runOf(number, runs), signals)))
    if (from % (PIPELINES_AT_ONCE * 200) === 0) console.log(`${Math.round((100 * from) / runs)} % of the pipelines`)
  }
  for (let number = 0; number < shopTraces; number += 50) {
    const traces = Array.from({ length: Math.min(50, shopTraces - number) }, (_, i) =>
      shopTrace(number + i, shopTraces),
    )
    const resourceSpans = traces.flatMap((trace) => (trace as { resourceSpans: object[] }).resourceSpans)
    await keep(store, 'traces', 'json', Buffer.from(JSON.stringify({ resourceSpans })))
  }
  console.log(`filled in ${Math.round((performance.now() - started) / 1000)} s`)
}

/** The project with one large pipeline. */
export const largeProject = 'mossgate/platform/monorepo'
const LARGE_JOBS = 9_999
export const metricName = 'http.server.request.duration'
const SERIES = 20
const POINTS_PER_SERIES = 7 * 24 * 12
const POINTS_PER_REQUEST = 500
const BUCKET_BOUNDS = [0.01, 0.05, 0.1, 0.5, 1, 5]

/** Adds a pipeline of 10,000 spans, and a histogram with exemplars. */
export async function fillOthers(store: Observe): Promise<void> {
  const recipe = recordOf(JSON.stringify(pipelineHook(7, LARGE_JOBS)))
  const webUrl = `https://forge.example/${largeProject}`
  const shiftNs = sinceNs + WEEK_NS / 2n - recipe.createdAtNs!
  const moved = (ns: bigint | undefined) => (ns === undefined ? undefined : ns + shiftNs)
  const times = <Item extends Pick<PipelineRecord, 'createdAtNs' | 'startedAtNs' | 'finishedAtNs'>>(item: Item) => ({
    ...item,
    createdAtNs: moved(item.createdAtNs),
    startedAtNs: moved(item.startedAtNs),
    finishedAtNs: moved(item.finishedAtNs),
  })
  const record: PipelineRecord = {
    ...times(recipe),
    updatedAtNs: moved(recipe.updatedAtNs),
    project: { id: 99n, name: 'monorepo', webUrl, path: largeProject },
    jobs: recipe.jobs.map(times),
  }
  await keepRun(store, { record, service: 'platform-ci' }, ['traces'])
  for (let series = 0; series < SERIES; series += 1) {
    for (let from = 0; from < POINTS_PER_SERIES; from += POINTS_PER_REQUEST) {
      const numbers = Array.from({ length: Math.min(POINTS_PER_REQUEST, POINTS_PER_SERIES - from) }, (_, i) => from + i)
      await keep(store, 'metrics', 'json', Buffer.from(JSON.stringify(histogram(series, numbers))))
    }
  }
}

function histogram(series: number, numbers: readonly number[]): object {
  const dataPoints = numbers.map((number) => {
    const atNs = sinceNs + (WEEK_NS * BigInt(number)) / BigInt(POINTS_PER_SERIES)
    const counts = BUCKET_BOUNDS.map((_, index) => Math.round(chance(number, index) * 50))
    return {
      attributes: [{ key: 'http.route', value: { stringValue: `/route/${series}` } }],
      startTimeUnixNano: String(atNs - 300_000_000_000n),
      timeUnixNano: String(atNs),
      count: String(counts.reduce((sum, one) => sum + one, 3)),
      sum: 12.5,
      bucketCounts: [...counts, 3].map(String),
      explicitBounds: BUCKET_BOUNDS,
      exemplars: [
        {
          timeUnixNano: String(atNs),
          asDouble: 0.3,
          traceId: number.toString(16).padStart(32, 'c'),
          spanId: (number * 10 + 1).toString(16).padStart(16, '0'),
        },
      ],
    }
  })
  const metric = { name: metricName, unit: 's', histogram: { aggregationTemporality: 1, dataPoints } }
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'basket' } }] }
  return { resourceMetrics: [{ resource, scopeMetrics: [{ scope: { name: 'http' }, metrics: [metric] }] }] }
}
