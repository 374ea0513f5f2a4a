/**
 * Measures the cost of durable intake compared with plain inserts of the same bytes, its throughput over HTTP, and the cost of
 * a record from its PUT to its accepted export: `npm run bench:export`. It needs wrk.
 */
import { execFileSync } from 'node:child_process'
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '@penstock/db'
import { refusedUrl } from '@penstock/testkit'
import { sql } from 'kysely'
import { signals } from '../export/exporting-service.ts'
import { type Bound, reportBounds } from './bounds.ts'
import { type IntakeRound, intake, ROWS, rawInserts, readingIntake } from './export/durable-intake.ts'
import { type StageCosts, stageCosts } from './export/export-stages.ts'
import { arrived, ServedIntake } from './export/served-intake.ts'
import { startSink } from './export/sink-process.ts'
import type { LoadResult } from './gateway/wrk.ts'
import { median, printTable } from './measure.ts'

const ROUNDS = 3
const LEAST_OF_RAW = 0.5
const CONNECTIONS = 64
/** The number of warm-up records, after which the compiler has optimised the hot code. */
const WARM_UP_RECORDS = 10_000
const LONGEST_WARM_UP_MS = 60_000
const SECONDS = 5
const LOOK_AGAIN_MS = 100

execFileSync('which', ['wrk'], { stdio: 'ignore' })
console.log(`load average ${loadavg()[0]!.toFixed(2)}`)
await besideRawInserts()
await overHttp()
await endToEnd(await medianStages())

async function besideRawInserts(): Promise<void> {
  const subjects = {
    raw: () => rawInserts({ withIndexes: true }),
    bare: () => rawInserts({ withIndexes: false }),
    intake,
    readingIntake,
  }
  const rounds: Record<keyof typeof subjects, IntakeRound[]> = { raw: [], bare: [], intake: [], readingIntake: [] }
  // The first round is a warm-up, because a long-running process is measured, not the compiler.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const name of Object.keys(subjects) as (keyof typeof subjects)[]) {
      const result = await subjects[name]()
      if (round > 0) rounds[name].push(result)
    }
  }
  const perSecond = (name: keyof typeof subjects) => rounds[name].map(({ rowsPerSecond }) => rowsPerSecond)
  console.log(`\nDurable intake, SQLite, a record and ${ROWS - 1} deliveries a pipeline: medians of ${ROUNDS}`)
  const names = {
    raw: 'raw inserts, 256 pipelines a transaction',
    bare: 'the same without secondary indexes',
    intake: 'intake of bodies that have been read',
    readingIntake: 'intake with the reading',
  }
  printTable([
    ['', 'rows/s', 'min', 'max', 'CPU µs/record'],
    ...(Object.keys(names) as (keyof typeof names)[]).map((name) => [
      names[name],
      median(perSecond(name)).toFixed(0),
      Math.min(...perSecond(name)).toFixed(0),
      Math.max(...perSecond(name)).toFixed(0),
      median(rounds[name].map(({ cpuMicros }) => cpuMicros)).toFixed(0),
    ]),
  ])
  /** Returns the median of the ratios of consecutive rounds. */
  const ratio = (one: keyof typeof subjects, other: keyof typeof subjects) =>
    median(perSecond(one).map((figure, round) => figure / perSecond(other)[round]!))
  reportBounds('Rows per second beside raw inserts', [
    atLeast('intake beside raw inserts', ratio('intake', 'raw'), LEAST_OF_RAW),
    withoutBound(
      'the same, with the row of the ledger that it also writes',
      (ratio('intake', 'raw') * (ROWS + 1)) / ROWS,
    ),
    withoutBound('intake beside raw inserts without indexes', ratio('intake', 'bare')),
    withoutBound('intake with the reading beside raw inserts', ratio('readingIntake', 'raw')),
  ])
}

function atLeast(what: string, measured: number, bound: number): Bound {
  return { what, measured: measured.toFixed(2), bound: `≥ ${bound.toFixed(2)}`, isMet: measured >= bound }
}

function withoutBound(what: string, measured: number): Bound {
  return { what, measured: measured.toFixed(2) }
}

/** Measures the intake over HTTP with an upstream that is down, so that only the intake works. */
async function overHttp(): Promise<void> {
  await using served = await ServedIntake.start(await refusedUrl())
  const rows: string[][] = []
  for (const how of ['put', 'hook'] as const) {
    await warmUp(served, how)
    const rounds: (LoadResult & { cpuMicros: number })[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = served.cpuSeconds()
      const result = await served.load(how, { seconds: SECONDS, connections: CONNECTIONS })
      rounds.push({ ...result, cpuMicros: ((served.cpuSeconds() - before) * 1e6) / result.requests })
    }
    const of = (pick: (round: (typeof rounds)[number]) => number) => median(rounds.map(pick))
    rows.push([
      how === 'put' ? 'PUT into the core' : 'POST of a hook',
      of(({ perSecond }) => perSecond).toFixed(0),
      of(({ cpuMicros }) => cpuMicros).toFixed(0),
      of(({ p50Ms }) => p50Ms).toFixed(1),
      of(({ p99Ms }) => p99Ms).toFixed(1),
      String(rounds.reduce((sum, { failures }) => sum + failures, 0)),
    ])
  }
  console.log(`\nIntake over HTTP, upstream down, ${CONNECTIONS} connections: medians of ${ROUNDS}`)
  printTable([['', 'records/s', 'CPU µs/record', 'p50 ms', 'p99 ms', 'failures'], ...rows])
}

async function warmUp(served: ServedIntake, how: 'put' | 'hook'): Promise<void> {
  const endsMs = performance.now() + LONGEST_WARM_UP_MS
  for (let records = 0; records < WARM_UP_RECORDS && performance.now() < endsMs; ) {
    records += (await served.load(how, { seconds: SECONDS, connections: CONNECTIONS })).requests
  }
}

async function medianStages(): Promise<StageCosts> {
  const rounds: StageCosts[] = []
  for (let round = 0; round <= ROUNDS; round += 1) {
    const costs = await stageCosts()
    if (round > 0) rounds.push(costs)
  }
  const keys = Object.keys(rounds[0]!) as (keyof StageCosts)[]
  return Object.fromEntries(keys.map((key) => [key, median(rounds.map((costs) => costs[key]))])) as Record<
    keyof StageCosts,
    number
  >
}

async function endToEnd(stages: StageCosts): Promise<void> {
  const rounds: { perSecond: number; cpuMicros: number }[] = []
  await using sink = await startSink()
  await using served = await ServedIntake.start(sink.url)
  await warmUp(served, 'put')
  await arrived(sink, (await settledCount(served)) * signals.length)
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = served.cpuSeconds()
    const had = await kept(served)
    const startMs = performance.now()
    await served.load('put', { seconds: SECONDS, connections: CONNECTIONS })
    // The requests that wrk was sending when it ended are included.
    const pipelines = await settledCount(served)
    await arrived(sink, pipelines * signals.length)
    const seconds = (performance.now() - startMs) / 1_000
    const records = pipelines - had
    rounds.push({ perSecond: records / seconds, cpuMicros: ((served.cpuSeconds() - before) * 1e6) / records })
  }
  const { again, exports, requests } = await sink.counts()
  const cpu = median(rounds.map(({ cpuMicros }) => cpuMicros))
  console.log(`\nFrom PUT to accepted export, one process, ${signals.length} signals: medians of ${ROUNDS}`)
  printTable([
    ['', ''],
    ['records/s', median(rounds.map(({ perSecond }) => perSecond)).toFixed(0)],
    ['CPU µs/record', cpu.toFixed(0)],
    ['exports of one request', (exports / requests).toFixed(1)],
    ['exporter alone, from a full queue, records/s', stages.exportedPerSecond.toFixed(0)],
    ['exporter alone, CPU µs/record', stages.exporter.toFixed(0)],
  ])
  const rest = cpu - stages.intake - stages.exporter
  const between = stages.exporter - stages.readAndConvert - stages.send - stages.claimAndSettle
  console.log('\nOf the CPU of a record, each stage measured alone')
  printTable([
    ['', 'µs', 'share'],
    ...Object.entries({
      'HTTP, the core and its database (the rest)': rest,
      'intake: reading, admission, record and deliveries': stages.intake,
      'claims and settlements': stages.claimAndSettle,
      'reading again and converting': stages.readAndConvert,
      'joining, compressing and sending': stages.send,
      'exporter, what is between them (the rest)': between,
    }).map(([stage, micros]) => [stage, micros.toFixed(0), `${((100 * micros) / cpu).toFixed(0)} %`]),
  ])
  reportBounds('Accepted', [{ what: 'accepted twice', measured: String(again), bound: '0', isMet: again === 0 }])
}

/** Returns the number of stored records. */
async function kept(served: ServedIntake): Promise<number> {
  const db = openDatabase<object>(served.database)
  const { rows } = await sql<{ records: number }>`select count(*) as records from export_records`.execute(db.read)
  await db.close()
  return rows[0]!.records
}

/** Returns the number of stored records after the requests that wrk abandoned have ended. */
async function settledCount(served: ServedIntake): Promise<number> {
  for (let before = -1; ; await sleep(LOOK_AGAIN_MS)) {
    const records = await kept(served)
    if (records === before) return records
    before = records
  }
}
