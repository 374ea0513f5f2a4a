import { describe, expect, test } from 'vitest'
import type { JobEvent } from './job-event.ts'
import type { PipelineRecord } from './pipeline-record.ts'
import { attemptOfJob, attemptOfRun, type KnownAttempt, MAX_UNCOUNTED_ATTEMPTS } from './uncounted-attempts.ts'

const second = (seconds: number): bigint => BigInt(seconds) * 1_000_000_000n

type Times = readonly [startedAt: number, finishedAt: number]

const event = (jobId: bigint, runAttempt: number | undefined, times?: Times): JobEvent =>
  ({ jobId, runAttempt, status: times ? 'success' : 'skipped', ...toTimes(times) }) as unknown as JobEvent
const run = (times: Times): PipelineRecord => toTimes(times) as unknown as PipelineRecord

const toTimes = (times?: Times) => ({
  startedAtNs: times && second(times[0]),
  finishedAtNs: times && second(times[1]),
})

/** The first attempt from second 10 to 20: job 1 failed, job 2 was skipped. */
const first: KnownAttempt = {
  finishedAtNs: second(20),
  jobs: [event(1n, 1, [10, 20]), event(2n, undefined)],
  exportedJobIds: [],
}
const exported: KnownAttempt = { ...first, jobs: [], exportedJobIds: [1n, 2n] }

describe('a job', () => {
  test('of a run that has not ended belongs to the attempt that it names', () => {
    expect(attemptOfJob(event(1n, 2, [30, 40]), new Map())).toBe(2)
    expect(attemptOfJob(event(1n, undefined, [30, 40]), new Map())).toBe(1)
  })

  test.each([first, exported])('that first ran in a later attempt belongs to that one', (known) => {
    expect(attemptOfJob(event(2n, 1, [30, 40]), new Map([[1, known]]))).toBe(2)
  })

  test.each([first, exported])('with a hook that is delivered again stays in its attempt', (known) => {
    expect(attemptOfJob(event(1n, 1, [10, 20]), new Map([[1, known]]))).toBe(1)
    expect(attemptOfJob(event(2n, undefined), new Map([[1, known]]))).toBe(1)
  })

  test('that was skipped again belongs to the attempt that has begun', () => {
    const second = { finishedAtNs: undefined, jobs: [event(1n, 2, [30, 40])], exportedJobIds: [] }
    const known = new Map([
      [1, exported],
      [2, second],
    ])
    expect(attemptOfJob(event(2n, undefined), known)).toBe(2)
  })

  test('that runs after its run has failed is a job of that run', () => {
    expect(attemptOfJob(event(3n, 1, [25, 30]), new Map([[1, first]]))).toBe(1)
  })
})

describe('a run', () => {
  const rerun = { finishedAtNs: undefined, jobs: [event(1n, 2, [30, 40])], exportedJobIds: [] }

  test('that is the first has the first attempt', () => {
    expect(attemptOfRun(run([10, 20]), new Map())).toBe(1)
  })

  test('has the attempt of the jobs within its time', () => {
    const known = new Map([
      [1, exported],
      [2, rerun],
    ])
    expect(attemptOfRun(run([30, 45]), known)).toBe(2)
  })

  test('that is delivered again has the attempt that ended with it', () => {
    const known = new Map([
      [1, exported],
      [2, { ...rerun, finishedAtNs: second(45) }],
    ])
    expect([attemptOfRun(run([10, 20]), known), attemptOfRun(run([30, 45]), known)]).toEqual([1, 2])
  })

  test('without hooks about its jobs follows the attempt that ended before it began', () => {
    expect(attemptOfRun(run([30, 45]), new Map([[1, exported]]))).toBe(2)
  })

  test('has at most the highest attempt', () => {
    const all = Array.from({ length: MAX_UNCOUNTED_ATTEMPTS }, (_, at): [number, KnownAttempt] => [at + 1, exported])
    expect(attemptOfRun(run([30, 45]), new Map(all))).toBe(MAX_UNCOUNTED_ATTEMPTS)
  })
})
