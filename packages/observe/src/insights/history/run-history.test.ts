import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ManualClock } from '@penstock/testkit'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { OneThreadStore } from '../../one-thread-store.harness.ts'
import { jobSpanId, type PipelineSample, pipelineBody, runSpanId, startNs } from '../../pipeline.harness.ts'
import { packRun, toRunFacts, unpackRun } from '../../runs/packed-run.ts'
import { openStoreFile } from '../../store/store-writer.ts'
import { run, someRuns } from '../run-facts.harness.ts'
import { type HistoryLimits, RunHistory } from './run-history.ts'

const DAY_MS = 86_400_000
const everything = { since: 0, until: Number.MAX_SAFE_INTEGER }

let directory: string
let file: string
let clock: ManualClock
let store: OneThreadStore

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-history-'))
  file = join(directory, 'observe.db')
  clock = new ManualClock(Date.parse('2026-01-01T00:00:00Z'))
  store = await OneThreadStore.open({ file, clock })
})
afterEach(async () => {
  await store.close()
  rmSync(directory, { recursive: true })
})

const keep = async (sample: PipelineSample) => {
  await store.receiveBody('traces', pipelineBody(sample), 'json')
}
const historyOf = (limits?: Partial<HistoryLimits>) => new RunHistory(store.database, () => clock.nowMs(), limits)

/** A part of a run's compute time. */
interface Use {
  readonly runner: string | null | undefined
  readonly tags: readonly unknown[]
  readonly seconds: number
  readonly jobs: number
}

/** Adds up the parts with the same runner and tags. */
function sumOfUse(parts: readonly Use[]) {
  const sums = new Map<string, readonly [microseconds: number, jobs: number]>()
  for (const { runner, tags, seconds, jobs } of parts) {
    const key = JSON.stringify([runner, tags])
    const [sum, count] = sums.get(key) ?? [0, 0]
    sums.set(key, [sum + Math.round(seconds * 1e6), count + jobs])
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Returns the runs with their jobs, as the columns have them. */
async function factsIn(history: RunHistory) {
  const { runs, table } = await history.select({}, everything)
  const { columns, kinds, runners, tags, tagsOfList, use } = table
  return runs.map(({ from, to, useFrom, useTo, slot: _, kind: _kind, ...data }) => ({
    ...data,
    use: sumOfUse(
      Array.from({ length: useTo - useFrom }, (_, index) => ({
        runner: runners[use.runner[useFrom + index]!],
        tags: tagsOfList[use.tagList[useFrom + index]!]!.map((tag) => tags[tag]),
        seconds: use.time[useFrom + index]! / 1e6,
        jobs: use.jobs[useFrom + index]!,
      })),
    ),
    jobs: Array.from({ length: to - from }, (_, index) => {
      const at = from + index
      const { name, stage } = kinds[columns.kind[at]!]!
      return {
        name,
        stage,
        outcome: columns.outcome[at],
        start: columns.start[at],
        duration: columns.duration[at],
        critical: columns.critical[at],
        runner: runners[columns.runner[at]!],
      }
    }),
  }))
}

/** Returns the same from the rows of runs and jobs. */
async function factsInRows() {
  const seconds = (ns: number) => Math.round(ns / 1e6) / 1e3
  const runs = await store.database.selectFrom('pipeline_runs').selectAll().orderBy('start_ns').orderBy('id').execute()
  const jobs = await store.database
    .selectFrom('pipeline_jobs')
    .selectAll()
    .orderBy('start_ns')
    .orderBy('span_id')
    .execute()
  const outcomes: Record<string, number> = { success: 1, failed: 2 }
  const usesOf = (runId: number): Use[] =>
    jobs
      .filter(({ run_id, is_bridge, start_ns, end_ns }) => run_id === runId && is_bridge === 0 && end_ns > start_ns)
      .map((job) => ({
        runner: job.runner_name,
        tags: JSON.parse(job.runner_tags_json ?? '[]'),
        seconds: seconds(Number(job.end_ns) - Number(job.start_ns)),
        jobs: 1,
      }))
  return runs.map((run) => ({
    use: sumOfUse(usesOf(run.id)),
    traceId: run.trace_id,
    service: 'ci',
    project: run.project,
    projectName: run.project_name,
    ref: run.ref,
    refKind: run.ref_kind,
    name: run.name,
    trigger: run.trigger_type,
    sha: run.sha,
    status: run.status,
    isChild: run.is_child === 1,
    start: seconds(Number(run.start_ns)),
    duration: seconds(Number(run.end_ns) - Number(run.start_ns)),
    queue: run.queue_seconds,
    jobs: jobs
      .filter(({ run_id }) => run_id === run.id)
      .map((job) => ({
        name: job.name,
        stage: job.stage,
        outcome: job.is_bridge === 1 ? 4 : (outcomes[job.status ?? ''] ?? 0),
        start: seconds(Number(job.start_ns)),
        duration: seconds(Number(job.end_ns) - Number(job.start_ns)),
        critical: job.critical_seconds,
        runner: job.runner_name,
      })),
  }))
}

const someJob = fc.record({
  name: fc.constantFrom('unit', 'build', 'lint'),
  start: fc.nat(30),
  length: fc.nat(20),
  status: fc.constantFrom('success', 'failed', 'canceled'),
  bridge: fc.boolean(),
})
const someSample = fc.record({
  number: fc.integer({ min: 1, max: 5 }),
  seconds: fc.integer({ min: 40, max: 60 }),
  asked: fc.boolean(),
  jobs: fc.array(someJob, { maxLength: 5 }),
})

test('has what the rows have, however the spans arrive and whenever it is asked', async () => {
  const history = historyOf()
  await fc.assert(
    fc.asyncProperty(fc.array(someSample, { minLength: 1, maxLength: 6 }), async (samples) => {
      for (const { jobs, asked, ...sample } of samples) {
        await keep({ ...sample, jobs: jobs.map(({ length, ...job }) => ({ ...job, end: job.start + length })) })
        if (asked) await factsIn(history)
      }
      const found = await factsIn(history)
      expect(found).toEqual(await factsInRows())
      expect(await factsIn(historyOf())).toEqual(found)
    }),
    { numRuns: 15 },
  )
})

test('a packed run has all facts', () => {
  fc.assert(
    fc.property(someRuns, (runs) => {
      for (const facts of [...runs, run({ queue: null, ref: null })]) {
        expect(toRunFacts(unpackRun(packRun(facts)))).toEqual(facts)
      }
    }),
  )
})

test('repetition of spans changes no facts', async () => {
  const ids = () => store.database.selectFrom('pipeline_facts').select('id').execute()
  const sample = { number: 1, jobs: [{ name: 'unit', start: 0, end: 9 }] }
  await keep(sample)
  const before = await ids()
  await keep(sample)
  expect(await ids()).toEqual(before)
})

test('sees runs of another trace that start a child pipeline, and the deletion of runs', async () => {
  const history = historyOf()
  await keep({ number: 1, jobs: [{ name: 'deploy', start: 0, end: 20, bridge: true }] })
  expect(await factsIn(history)).toHaveLength(1)
  const child = JSON.parse(
    Buffer.from(pipelineBody({ number: 2, jobs: [{ name: 'roll', start: 1, end: 9 }] })).toString(),
  )
  for (const span of child.resourceSpans[0].scopeSpans[0].spans) span.traceId = '1'.padStart(32, 'e')
  child.resourceSpans[0].scopeSpans[0].spans[0].parentSpanId = jobSpanId(1, 0)
  await store.receiveBody('traces', Buffer.from(JSON.stringify(child)), 'json')
  expect(runSpanId(2)).toBe(child.resourceSpans[0].scopeSpans[0].spans[0].spanId)
  const criticalOf = async () => (await factsIn(history)).flatMap(({ jobs }) => jobs.map(({ critical }) => critical))
  expect(await criticalOf()).toEqual([12, 8])
  await clock.untilSleeping()
  // In two moves, because one long move could overtake a slow maintenance.
  for (const ms of [8 * DAY_MS, 60_000]) {
    await clock.advance(ms)
    await clock.untilSleeping()
  }
  expect(await factsIn(history)).toEqual([])
})

test.each([{ runs: 2 }, { jobs: 2 }, { runs: 2, runsAtOnce: 1 }])(
  'leaves out the oldest runs beyond %j, from the start or later',
  async (limits) => {
    const jobs = [{ name: 'unit', start: 0, end: 9 }]
    const early = historyOf(limits)
    for (const number of [1, 2, 3, 4]) {
      await keep({ number, jobs })
      await early.select({}, everything)
    }
    for (const history of [early, historyOf(limits)]) {
      const found = await factsIn(history)
      expect(found.length).toBeGreaterThan(0)
      expect(found).toEqual((await factsInRows()).slice(-found.length))
      const first = found[0]!.start
      expect(history.isTruncatedSince(first - 10)).toBe(true)
      expect(history.isTruncatedSince(first + 10)).toBe(false)
    }
  },
)

test('reads ahead in parts, while runs arrive and change', async () => {
  const jobs = [{ name: 'unit', start: 0, end: 9 }]
  for (const number of [1, 2, 3, 4, 5]) await keep({ number, jobs })
  const history = historyOf({ runsAtOnce: 2 })
  expect(await history.readAhead()).toBe(true)
  // One that was read, one that was not, and one more.
  for (const number of [5, 1, 6]) await keep({ number, seconds: 50, jobs: [{ name: 'lint', start: 2, end: 5 }] })
  expect(await history.readAhead()).toBe(true)
  const found = await factsIn(history)
  expect(found).toHaveLength(6)
  expect(found).toEqual(await factsInRows())
  expect(await history.readAhead()).toBe(false)
})

test('says that runs may be missing while spans are read again', async () => {
  await keep({ number: 1 })
  const db = openStoreFile(file)
  const since = Number(startNs / 1_000_000_000n) + 1_000
  const history = historyOf()
  await history.select({}, everything)
  expect(history.isTruncatedSince(since)).toBe(false)
  await db.write((tx) => tx.insertInto('pipeline_rereads').values({ before_span_row_id: 2 }).execute())
  await history.select({}, everything)
  expect(history.isTruncatedSince(since)).toBe(true)
  await db.close()
})
