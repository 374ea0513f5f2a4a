/**
 * Times the queries of the console's pages on an embedded store of 1,000,000 spans: `npm run bench:observe`.
 *
 * The spans are those of seven days of pipelines of several projects and services, and of a service that is no CI system.
 * `--file <path>` keeps the store and uses it again, `--spans <number>` changes its size. The time of the processor is that of
 * all threads; it is close to the time of an answer on a machine that does nothing else.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Observe, openObserve, type StoreQuery } from '@penstock/observe'
import { atMost, type Bound, reportBounds } from './bounds.ts'
import {
  fill,
  fillOthers,
  keepRun,
  largeProject,
  metricName,
  nowNs,
  projects,
  runOf,
  sinceNs,
  WEEK_NS,
} from './observe/store-contents.ts'

const { values } = parseArgs({ options: { file: { type: 'string' }, spans: { type: 'string', default: '1000000' } } })
const SPANS = Number(values.spans)
const RUNS = 10
const QUERY_MS = 100
const SEARCH_MS = 500
const DOWNLOAD_MS = 500
const FIRST_MS = 2_000

const range = { sinceNs, untilNs: undefined }
const attributes = (key: string, value: string) => ({ ...range, limit: 20, attributes: [{ key, value }] })
const [storefront] = projects
const insights = (filter: Partial<Extract<StoreQuery, { kind: 'insights' }>['filter']>): StoreQuery => ({
  kind: 'insights',
  filter: { ...range, offsetMinutes: 60, ...filter },
})

/** Returns the query of each of the ten runs. */
type Queries = StoreQuery | ((run: number) => StoreQuery)

/** Name → the query of a page, and its bound. */
const queries: Readonly<Record<string, readonly [Queries, number]>> = {
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
  'pipelines with a text that many have': [
    { kind: 'runs', filter: { ...range, text: 'STOREFRONT', limit: 50 } },
    SEARCH_MS,
  ],
  'pipelines with a text that none has': [
    { kind: 'runs', filter: { ...range, text: 'no such text', limit: 50 } },
    SEARCH_MS,
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
  insights: [insights({}), QUERY_MS],
  // Another end of the range each time, so that no answer is kept.
  'insights, another range each time': [
    (run) => insights({ untilNs: nowNs - BigInt(run) * 60_000_000_000n }),
    QUERY_MS,
  ],
  'insights of a project and ref, another range each time': [
    (run) => insights({ project: storefront!.path, ref: 'main', untilNs: nowNs - BigInt(run) * 60_000_000_000n }),
    QUERY_MS,
  ],
  'text in log records': [{ kind: 'logRecords', filter: { ...range, text: 'failed', limit: 100 } }, SEARCH_MS],
  'text that no log record has': [
    { kind: 'logRecords', filter: { ...range, text: 'no such text', limit: 100 } },
    SEARCH_MS,
  ],
  'a histogram by interval': [
    { kind: 'metricIntervals', filter: { ...range, name: metricName, intervalSeconds: 21_600, maxGroups: 6 } },
    SEARCH_MS,
  ],
  'names of metrics': [{ kind: 'metricNames', filter: { limit: 1_000 } }, QUERY_MS],
  'histogram with exemplars, 1 series': [
    { kind: 'metric', filter: { ...range, name: metricName, maxSeries: 1, maxPointsPerSeries: 1_000 } },
    QUERY_MS,
  ],
  'histogram with exemplars, 20 series of 100 points': [
    { kind: 'metric', filter: { ...range, name: metricName, maxSeries: 20, maxPointsPerSeries: 100 } },
    QUERY_MS,
  ],
  'attribute that many traces have': [{ kind: 'traces', filter: attributes('http.route', '/basket') }, SEARCH_MS],
  'attribute of one span': [{ kind: 'traces', filter: attributes('cicd.pipeline.task.run.id', '12003') }, SEARCH_MS],
  'attribute of no span': [{ kind: 'traces', filter: attributes('customer', 'none') }, SEARCH_MS],
}

const quantile = (values: readonly number[], q: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * q
  const low = sorted[Math.floor(at)]!
  return low + (sorted[Math.ceil(at)]! - low) * (at - Math.floor(at))
}

/** The milliseconds that answers took, and those that the processor worked. */
class Times {
  readonly #wall: number[] = []
  readonly #processor: number[] = []

  async add(work: () => Promise<unknown>): Promise<void> {
    const before = process.cpuUsage()
    const started = performance.now()
    await work()
    this.#wall.push(performance.now() - started)
    const { user, system } = process.cpuUsage(before)
    this.#processor.push((user + system) / 1_000)
  }

  bound(name: string, limit: number): Bound {
    const p50 = quantile(this.#wall, 0.5).toFixed(1)
    const processor = quantile(this.#processor, 0.5).toFixed(1)
    return atMost(`${name} (p50 ${p50} ms, processor ${processor} ms)`, quantile(this.#wall, 0.95), limit, 'ms')
  }
}

async function find(store: Observe, query: StoreQuery) {
  const answer = await store.answer(query)
  return JSON.parse(Buffer.from(answer!.json).toString())
}

/** Times the first answer of insights after the start of the thread, and answers after the arrival of a run. */
async function timeInsights(store: Observe): Promise<Bound[]> {
  const first = new Times()
  await first.add(() => store.answer(insights({})))
  const bounds = [first.bound('insights, first answer', FIRST_MS)]
  const changed = new Times()
  for (let number = 0; number < RUNS + 2; number += 1) {
    // A run of the last minutes of the week, under another id each time.
    const { record, service } = runOf(10_000_000 + (Date.now() % 900_000) + number, 11_000_000)
    await keepRun(store, { record, service }, ['traces'])
    const ask = () => store.answer(insights({}))
    if (number < 2) await ask()
    else await changed.add(ask)
  }
  bounds.push(changed.bound('insights, after each arrival of a run', QUERY_MS))
  return bounds
}

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-observe-bench-'))
  const file = values.file ?? join(directory, 'observe.db')
  const isFilled = existsSync(file)
  const limits = { maxFileBytes: 64 * 1024 ** 3, retentionMs: 365 * 24 * 3_600_000 }
  const store = await openObserve({ file, limits })
  try {
    if (!isFilled) await fill(store, SPANS)
    if ((await find(store, { kind: 'metricNames', filter: { limit: 1 } })).length === 0) await fillOthers(store)
    console.log(JSON.stringify(await find(store, { kind: 'status' })))
    const [latest, before] = await find(store, { kind: 'runs', filter: { ...range, limit: 2 } })
    const [large] = await find(store, { kind: 'runs', filter: { ...range, project: largeProject, limit: 1 } })
    const all: typeof queries = {
      ...queries,
      'one trace': [{ kind: 'trace', traceId: latest.trace_id, maxSpans: 10_000 }, QUERY_MS],
      'the run of a trace': [{ kind: 'run', traceId: latest.trace_id }, QUERY_MS],
      'trace of 10,000 spans, a page of the console': [
        { kind: 'trace', traceId: large.trace_id, maxSpans: 2_000 },
        QUERY_MS,
      ],
      // The link Raw OTLP: a file of 32 MiB that no page waits for.
      'trace of 10,000 spans, raw OTLP': [{ kind: 'trace', traceId: large.trace_id, maxSpans: 10_000 }, DOWNLOAD_MS],
      'two runs compared': [{ kind: 'compare', filter: { a: latest.trace_id, b: before.trace_id } }, QUERY_MS],
      'a run compared with the median': [{ kind: 'compare', filter: { a: latest.trace_id, b: 'median' } }, QUERY_MS],
    }
    const bounds = await timeInsights(store)
    for (const [name, [query, bound]] of Object.entries(all)) {
      const queryOf = typeof query === 'function' ? query : () => query
      for (let warming = 0; warming < 2; warming += 1) await store.answer(queryOf(-1 - warming))
      const times = new Times()
      for (let run = 0; run < RUNS; run += 1) await times.add(() => store.answer(queryOf(run)))
      bounds.push(times.bound(name, bound))
    }
    reportBounds(`Queries over 7 days of ${SPANS} spans, p95 of ${RUNS}`, bounds)
  } finally {
    await store.close()
    rmSync(directory, { recursive: true })
  }
}

await main()
