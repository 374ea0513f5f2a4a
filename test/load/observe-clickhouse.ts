/**
 * Times the queries of the console's pages on ClickHouse's engine (chdb) with the tables of the collector's exporter:
 * `npm run bench:observe-clickhouse`. The table has the median of some warm answers.
 *
 * The spans are those of seven days: of three, one trace is of a service that is no CI system, and two are pipelines with 29 jobs.
 * `--spans <number>` changes their number, which is 10,000,000 by default. `--without-views` reads the exporter's tables only.
 */
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ClickHouseStore, type StoreQuery } from '@penstock/observe'
import { type Log, silentLog } from '@penstock/runtime'
import { Chdb } from '../clickhouse/chdb.harness.ts'
import { exporterTables } from '../clickhouse/exporter-tables.ts'
import { atMost, type Bound, reportBounds } from './bounds.ts'

const { values } = parseArgs({
  options: { spans: { type: 'string', default: '10000000' }, 'without-views': { type: 'boolean', default: false } },
})
const SPANS = Number(values.spans)
const PER_TRACE = 30
const PER_INSERT = 500_000
const WEEK_S = 7 * 86_400
const NOW_S = 1_770_000_000
const RUNS = 7
const BOUND_MS = 300
/** An answer that takes longer has read runs into memory; there are at most `MAX_ATTEMPTS` of them. */
const MAX_WARM_MS = 1_500
const MAX_ATTEMPTS = 100

const server = await Chdb.start(fileURLToPath(new URL('../../../clickhouse', import.meta.url)))
const bounds: Bound[] = []
try {
  for (const statement of exporterTables) await server.run(statement)
  const begunMs = performance.now()
  for (let from = 0; from < SPANS; from += PER_INSERT) {
    await server.run(spans(from, Math.min(PER_INSERT, SPANS - from)))
    await server.run(logRecords(from / 10, Math.min(PER_INSERT, SPANS - from) / 10))
  }
  console.log(`${SPANS} spans and ${SPANS / 10} log records in ${Math.round((performance.now() - begunMs) / 1000)} s`)
  const store = values['without-views']
    ? await ClickHouseStore.open({ address: server.address })
    : await openWithViews()
  for (const [name, query] of Object.entries(queries())) {
    const times: number[] = []
    const answer = await warm(store, query)
    for (let run = 0; run < RUNS; run += 1) {
      const startMs = performance.now()
      await store.answer(query)
      times.push(performance.now() - startMs)
    }
    const medianMs = times.sort((a, b) => a - b)[RUNS >> 1]!
    console.log(`${name.padEnd(50)} ${medianMs.toFixed(0).padStart(7)} ms`)
    if (query.kind === 'insights') console.log(`${' '.repeat(51)}${totalsOf(answer)}`)
    bounds.push(atMost(`${name}, median`, medianMs, BOUND_MS, 'ms'))
  }
  await store.close()
} finally {
  await server.close()
}
reportBounds(`Queries over ${SPANS} spans in ClickHouse`, bounds)

/** Opens the store, and waits until its views are filled. */
async function openWithViews(): Promise<ClickHouseStore> {
  const begunMs = performance.now()
  return await new Promise((resolve, reject) => {
    const onEvent = ({ event }: { event?: string }): void => {
      if (event === 'observe.views_created') {
        console.log(`views filled in ${Math.round((performance.now() - begunMs) / 1000)} s`)
        opened.then(resolve, reject)
      } else if (event !== 'observe.views_filling') reject(new Error(event))
    }
    const log = { ...silentLog, info: onEvent, warn: onEvent, error: onEvent } as unknown as Log
    const opened = ClickHouseStore.open({ address: server.address, createViews: true, log })
    opened.catch(reject)
  })
}

/** Asks until an answer is not delayed by runs that are read into memory, and returns it. */
async function warm(store: ClickHouseStore, query: StoreQuery): Promise<unknown> {
  const begunMs = performance.now()
  for (let attempts = 1; ; attempts += 1) {
    const startMs = performance.now()
    const answer = await store.answer(query)
    if (attempts === 1)
      console.log(`${query.kind}: the first answer after ${Math.round(performance.now() - startMs)} ms`)
    if (query.kind !== 'insights' || performance.now() - startMs < MAX_WARM_MS || attempts === MAX_ATTEMPTS) {
      if (attempts > 1) console.log(`warm after ${Math.round((performance.now() - begunMs) / 1000)} s`)
      return answer && JSON.parse(Buffer.from(answer.json).toString())
    }
  }
}

function totalsOf(answer: unknown): string {
  const { totals, truncated } = answer as { totals: { runs: number }; truncated: boolean }
  return `${totals.runs} runs${truncated ? ', truncated' : ''}`
}

function queries(): Readonly<Record<string, StoreQuery>> {
  const range = { sinceNs: BigInt(NOW_S - WEEK_S) * 1_000_000_000n, untilNs: undefined }
  const day = { sinceNs: BigInt(NOW_S - 86_400) * 1_000_000_000n, untilNs: BigInt(NOW_S) * 1_000_000_000n }
  const traceId = (at: number) => (at + 1).toString(16).padStart(32, '0')
  const last = Math.floor(SPANS / PER_TRACE) - 1
  const ofCi = last - (last % 3)
  return {
    'pipelines, 50 runs': { kind: 'runs', filter: { ...range, limit: 50 } },
    'pipelines of a project that failed': {
      kind: 'runs',
      filter: { ...range, project: 'shop/storefront', status: 'failed', limit: 50 },
    },
    'pipelines of a ref that does not exist': { kind: 'runs', filter: { ...range, ref: 'none', limit: 50 } },
    'pipelines with a text that none has': { kind: 'runs', filter: { ...range, text: 'no such text', limit: 50 } },
    'the run of a trace': { kind: 'run', traceId: traceId(ofCi) },
    'values of filters': { kind: 'facets' },
    services: { kind: 'services' },
    'traces, 20': { kind: 'traces', filter: { ...range, limit: 20 } },
    'traces of a service': { kind: 'traces', filter: { ...range, service: 'basket', limit: 20 } },
    'traces with errors': { kind: 'traces', filter: { ...range, hasErrors: true, limit: 20 } },
    'traces by an attribute of one span': {
      kind: 'traces',
      filter: { ...range, attributes: [{ key: 'cicd.pipeline.run.id', value: String(ofCi >> 1) }], limit: 20 },
    },
    'trace of 30 spans': { kind: 'trace', traceId: traceId(ofCi), maxSpans: 2_000 },
    'log records, 100': { kind: 'logRecords', filter: { ...range, limit: 100 } },
    'log records of errors': { kind: 'logRecords', filter: { ...range, minSeverity: 17, limit: 100 } },
    'log records with a text that none has': {
      kind: 'logRecords',
      filter: { ...range, text: 'no such text', limit: 100 },
    },
    'log records of a trace': { kind: 'logRecords', filter: { traceId: traceId(ofCi), limit: 100 } },
    'insights of a day': { kind: 'insights', filter: { ...day, offsetMinutes: 0 } },
  }
}

/** The expressions that traces are made from, by `trace` and `part`, the numbers of a trace and of a span in it. */
function generated(): string {
  const traces = Math.ceil(SPANS / PER_TRACE)
  return `intDiv(number, ${PER_TRACE}) AS trace, number % ${PER_TRACE} AS part,
    trace % 3 = 2 AS other, part = 0 AS root,
    fromUnixTimestamp64Nano(toInt64((${NOW_S - WEEK_S} + trace * ${WEEK_S} / ${traces}) * 1000) * 1000000 + part * 1000000000) AS at,
    leftPad(lower(hex(toUInt64(trace + 1))), 32, '0') AS trace_id,
    multiIf(other, 'basket', trace % 2 = 0, 'storefront-ci', 'firmware-ci') AS service`
}

function spans(from: number, count: number): string {
  const result = "if((trace + part) % 97 = 0, 'failure', 'success')"
  return `INSERT INTO otel_traces (Timestamp, TraceId, SpanId, ParentSpanId, SpanName, SpanKind, ServiceName, ResourceAttributes,
      ScopeName, SpanAttributes, Duration, StatusCode)
    SELECT at, trace_id, leftPad(lower(hex(toUInt64(number + 1))), 16, '0'),
      if(root, '', leftPad(lower(hex(toUInt64(number - part + 1))), 16, '0')),
      multiIf(other, concat('GET /', toString(part)), root, 'RUN', concat('job ', toString(part))), 'Internal', service,
      map('service.name', service, 'vcs.repository.name', if(trace % 2 = 0, 'storefront', 'firmware'), 'vcs.owner.name', 'shop'),
      'bench',
      multiIf(
        other, map('http.request.method', 'GET', 'http.response.status_code', '200'),
        root, map('cicd.pipeline.run.id', toString(intDiv(trace, 2)), 'cicd.pipeline.result', ${result},
          'vcs.ref.head.name', concat('change-', toString(trace % 400)), 'vcs.ref.head.revision', hex(cityHash64(trace)),
          'pipeline.commit.message', concat('Change number ', toString(trace))),
        map('cicd.pipeline.task.name', concat('job ', toString(part)), 'cicd.pipeline.task.type', concat('stage ', toString(intDiv(part, 6))),
          'cicd.pipeline.task.run.id', toString(number), 'cicd.pipeline.task.run.result', ${result},
          'cicd.worker.name', concat('runner-', toString(part % 8)))),
      toUInt64(if(root, 120, 10 + part)) * 1000000000, if((trace + part) % 97 = 0, 'Error', 'Unset')
    FROM (SELECT number, ${generated()} FROM numbers(${from}, ${count}))`
}

function logRecords(from: number, count: number): string {
  return `INSERT INTO otel_logs (Timestamp, TraceId, SeverityNumber, SeverityText, ServiceName, Body, ResourceAttributes)
    SELECT at, trace_id, if(number % 50 = 0, 17, 9), if(number % 50 = 0, 'ERROR', 'INFO'), service,
      concat('Record ', toString(number), ' of the work'), map('service.name', service)
    FROM (SELECT number, ${generated()} FROM (SELECT number * 10 AS number FROM numbers(${from}, ${count})))`
}
