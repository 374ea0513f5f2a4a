/**
 * Times the queries of the console's pages on an embedded store of 1,000,000 spans: `npm run bench:observe`.
 *
 * The spans are those of seven days of pipelines of several projects and services, and of a service that is no CI system.
 * `--file <path>` keeps the store and uses it again, `--spans <number>` changes its size.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { convertChunks, type PipelineRecord, parseLossless, readInput, resolveOptions } from '@penstock/converter'
import { type Observe, openObserve, type StoreQuery } from '@penstock/observe'
import { defaultChunkLimits, RequestEncoder, type Signal } from '@penstock/otlp'
import { atMost, reportBounds } from './bounds.ts'
import { pipelineHook } from './payloads.ts'

const { values } = parseArgs({ options: { file: { type: 'string' }, spans: { type: 'string', default: '1000000' } } })
const SPANS = Number(values.spans)
const WEEK_NS = 7n * 24n * 3_600_000_000_000n
const nowNs = BigInt(Date.now()) * 1_000_000n
const sinceNs = nowNs - WEEK_NS
const PIPELINES_AT_ONCE = 25
const RUNS = 10
const QUERY_MS = 100
const SEARCH_MS = 500

interface Project {
  readonly path: string
  readonly service: string
  readonly jobs: number
}

const projects: readonly Project[] = [
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
function runOf(number: number, count: number): { record: PipelineRecord; service: string } {
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

async function keep(store: Observe, signal: Signal, encoding: 'json' | 'protobuf', body: Uint8Array) {
  for (;;) {
    const receipt = await store.receive({ signal, encoding, coding: 'identity', wire: new Uint8Array(body) })
    if (receipt.kind === 'kept') return
    if (receipt.kind !== 'unavailable') throw new Error(receipt.text)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function fill(store: Observe): Promise<void> {
  const spansPerRound = projects.reduce((sum, { jobs }) => sum + jobs + 1, 0)
  const shopTraces = Math.round(SPANS / 100)
  const runs = Math.round(((SPANS - shopTraces * 10) / spansPerRound) * projects.length)
  const started = performance.now()
  for (let from = 0; from < runs; from += PIPELINES_AT_ONCE) {
    const signals: Signal[] = from % (PIPELINES_AT_ONCE * 10) === 0 ? ['traces', 'logs'] : ['traces']
    const kept: Promise<void>[] = []
    for (let number = from; number < Math.min(from + PIPELINES_AT_ONCE, runs); number += 1) {
      const { record, service } = runOf(number, runs)
      const options = resolveOptions({ resourceServiceName: service })
      for (const { signal, body } of convertChunks(record, options, { signals, encoder, limits: defaultChunkLimits })) {
        kept.push(keep(store, signal, 'protobuf', body))
      }
    }
    await Promise.all(kept)
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

const range = { sinceNs, untilNs: undefined }
const attributes = (key: string, value: string) => ({ ...range, limit: 20, attributes: [{ key, value }] })
const [storefront] = projects

/** Name → the query of a page, and its bound. */
const queries: Readonly<Record<string, readonly [StoreQuery, number]>> = {
  'pipelines, 50 runs': [{ kind: 'runs', filter: { ...range, limit: 50 } }, QUERY_MS],
  'pipelines, 200 runs with children': [{ kind: 'runs', filter: { ...range, children: true, limit: 200 } }, QUERY_MS],
  'pipelines of a project that failed': [
    { kind: 'runs', filter: { ...range, project: storefront!.path, status: 'failed', limit: 50 } },
    QUERY_MS,
  ],
  'pipelines of a rare ref of a service': [
    { kind: 'runs', filter: { ...range, service: 'firmware-ci', ref: 'change-7', limit: 50 } },
    QUERY_MS,
  ],
  'pipelines of a ref that does not exist': [{ kind: 'runs', filter: { ...range, ref: 'none', limit: 50 } }, QUERY_MS],
  'pipelines from the middle of the week': [
    { kind: 'runs', filter: { ...range, untilNs: nowNs - WEEK_NS / 2n, limit: 50 } },
    QUERY_MS,
  ],
  'values of filters': [{ kind: 'facets' }, QUERY_MS],
  services: [{ kind: 'services' }, QUERY_MS],
  status: [{ kind: 'status' }, QUERY_MS],
  'traces, 200': [{ kind: 'traces', filter: { ...range, limit: 200 } }, QUERY_MS],
  'traces of a service': [{ kind: 'traces', filter: { ...range, service: 'basket', limit: 200 } }, QUERY_MS],
  'traces with errors': [{ kind: 'traces', filter: { ...range, hasErrors: true, limit: 50 } }, QUERY_MS],
  'traces of a service longer than any': [
    { kind: 'traces', filter: { ...range, service: 'basket', minDurationNs: 10n ** 15n, limit: 50 } },
    QUERY_MS,
  ],
  'traces longer than any': [{ kind: 'traces', filter: { ...range, minDurationNs: 10n ** 15n, limit: 50 } }, QUERY_MS],
  'log records': [{ kind: 'logRecords', filter: { ...range, limit: 100 } }, QUERY_MS],
  'log records of a service, errors': [
    { kind: 'logRecords', filter: { ...range, service: 'svc-ci', minSeverity: 17, limit: 100 } },
    QUERY_MS,
  ],
  insights: [{ kind: 'insights', filter: { ...range, offsetMinutes: 60 } }, QUERY_MS],
  'text in log records': [{ kind: 'logRecords', filter: { ...range, text: 'failed', limit: 100 } }, SEARCH_MS],
  'names of metrics': [{ kind: 'metricNames', filter: { limit: 1_000 } }, QUERY_MS],
  'attribute that many traces have': [{ kind: 'traces', filter: attributes('http.route', '/basket') }, SEARCH_MS],
  'attribute of one span': [{ kind: 'traces', filter: attributes('cicd.pipeline.task.run.id', '12003') }, SEARCH_MS],
  'attribute of no span': [{ kind: 'traces', filter: attributes('customer', 'none') }, SEARCH_MS],
}

const quantile = (sorted: readonly number[], q: number): number => {
  const at = (sorted.length - 1) * q
  const low = sorted[Math.floor(at)]!
  return low + (sorted[Math.ceil(at)]! - low) * (at - Math.floor(at))
}

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-observe-bench-'))
  const file = values.file ?? join(directory, 'observe.db')
  const isFilled = existsSync(file)
  const limits = { maxFileBytes: 64 * 1024 ** 3, retentionMs: 365 * 24 * 3_600_000 }
  const store = await openObserve({ file, limits })
  try {
    if (!isFilled) await fill(store)
    const status = await store.answer({ kind: 'status' })
    console.log(Buffer.from(status!.json).toString())
    const [latest] = JSON.parse(
      Buffer.from((await store.answer({ kind: 'runs', filter: { ...range, limit: 1 } }))!.json).toString(),
    )
    const all: typeof queries = {
      ...queries,
      'one trace': [{ kind: 'trace', traceId: latest.trace_id, maxSpans: 10_000 }, QUERY_MS],
      'the run of a trace': [{ kind: 'run', traceId: latest.trace_id }, QUERY_MS],
    }
    const bounds = []
    for (const [name, [query, bound]] of Object.entries(all)) {
      for (let warming = 0; warming < 2; warming += 1) await store.answer(query)
      const times: number[] = []
      for (let run = 0; run < RUNS; run += 1) {
        const started = performance.now()
        await store.answer(query)
        times.push(performance.now() - started)
      }
      times.sort((a, b) => a - b)
      bounds.push(atMost(`${name} (p50 ${quantile(times, 0.5).toFixed(1)} ms)`, quantile(times, 0.95), bound, 'ms'))
    }
    reportBounds(`Queries over 7 days of ${SPANS} spans, p95 of ${RUNS}`, bounds)
  } finally {
    await store.close()
    rmSync(directory, { recursive: true })
  }
}

await main()
