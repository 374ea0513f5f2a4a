import { type JobRecord, type PipelineRecord, readInput } from '@penstock/forges'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hasNeverRun } from '../base/status-maps.ts'
import { jobTimes, pipelineTimes, ranSeconds } from './span-times.ts'

/** Returns seconds as nanoseconds. */
const s = (seconds: number): bigint => BigInt(Math.round(seconds * 1000)) * 1_000_000n

/** A pipeline and a job with no fields except id and status. */
const { bare, bareJob } = (() => {
  const hook = { object_attributes: { id: 31, status: 'success' }, builds: [{ id: 380, status: 'success' }] }
  const input = readInput(hook, { receivedAtNs: undefined })
  if (input.kind !== 'pipeline') throw new Error('not a pipeline')
  return { bare: { ...input.record, jobs: [] } as PipelineRecord, bareJob: input.record.jobs[0]! }
})()

const job = (fields: Partial<JobRecord>): JobRecord => ({ ...bareJob, ...fields })
const pipeline = (fields: Partial<PipelineRecord>): PipelineRecord => ({ ...bare, ...fields })

describe('the pipeline span', () => {
  test.each<[string, Partial<PipelineRecord>, number, number]>([
    ['created, finished', { createdAtNs: s(10), finishedAtNs: s(100) }, 10, 100],
    [
      'created takes precedence over jobs',
      { createdAtNs: s(10), jobs: [job({ createdAtNs: s(5), finishedAtNs: s(90) })] },
      10,
      90,
    ],
    [
      'the earliest job created',
      { startedAtNs: s(40), finishedAtNs: s(100), jobs: [job({ createdAtNs: s(30) }), job({ createdAtNs: s(20) })] },
      20,
      100,
    ],
    ['started (REST)', { startedAtNs: s(40), finishedAtNs: s(100), durationSeconds: 10 }, 40, 100],
    ['finished minus duration', { finishedAtNs: s(100), durationSeconds: 30.5 }, 69.5, 100],
    [
      'the latest job finished',
      { createdAtNs: s(10), durationSeconds: 5, jobs: [job({ finishedAtNs: s(90) }), job({ finishedAtNs: s(80) })] },
      10,
      90,
    ],
    ['start plus duration', { createdAtNs: s(10), durationSeconds: 5, updatedAtNs: s(99) }, 10, 15],
    ['updated, once something started', { createdAtNs: s(10), startedAtNs: s(12), updatedAtNs: s(99) }, 10, 99],
    ['never ran: zero-length at created', { createdAtNs: s(10), updatedAtNs: s(99) }, 10, 10],
    ['the envelope of jobs that started', { jobs: [job({ startedAtNs: s(20), finishedAtNs: s(50) })] }, 20, 50],
    ['updated alone', { updatedAtNs: s(99) }, 99, 99],
  ])('%s', (_row, fields, start, end) => {
    expect(pipelineTimes(pipeline(fields))).toEqual({ startNs: s(start), endNs: s(end), adjusted: false })
  })

  test('the envelope contains a job with a computed start', () => {
    const jobs = [job({ finishedAtNs: s(50), durationSeconds: 30 })]
    expect(pipelineTimes(pipeline({ jobs }))).toEqual({ startNs: s(20), endNs: s(50), adjusted: false })
  })

  test('finished before it was created: zero-length at the start, adjusted', () => {
    const times = pipelineTimes(pipeline({ createdAtNs: s(10), finishedAtNs: s(9) }))
    expect(times).toEqual({ startNs: s(10), endNs: s(10), adjusted: true })
  })

  test('no usable time: zero-length at the receipt, adjusted; none without a receipt', () => {
    const times = pipelineTimes(pipeline({ durationSeconds: 30, receivedAtNs: s(500) }))
    expect(times).toEqual({ startNs: s(500), endNs: s(500), adjusted: true })
    expect(pipelineTimes(pipeline({ durationSeconds: 30 }))).toBeUndefined()
  })

  test('the receipt time is not used if the run has times', () => {
    expect(pipelineTimes(pipeline({ createdAtNs: s(10), receivedAtNs: s(500) }))?.endNs).toBe(s(10))
  })

  test('a duration that exceeds the time range of OTLP is ignored', () => {
    expect(pipelineTimes(pipeline({ createdAtNs: s(10), durationSeconds: 1e300 }))?.endNs).toBe(s(10))
    expect(pipelineTimes(pipeline({ finishedAtNs: s(10), durationSeconds: 11 }))?.startNs).toBe(s(10))
  })
})

describe('a job span in a pipeline from 10 to 100', () => {
  const run = { startNs: s(10), endNs: s(100), adjusted: false }

  test.each<[string, Partial<JobRecord>, number, number]>([
    ['started, finished', { startedAtNs: s(20), finishedAtNs: s(50), durationSeconds: 7 }, 20, 50],
    ['times outside the pipeline are kept', { startedAtNs: s(5), finishedAtNs: s(200) }, 5, 200],
    ['finished minus duration', { finishedAtNs: s(50), durationSeconds: 12.5 }, 37.5, 50],
    ['started plus duration', { startedAtNs: s(20), durationSeconds: 12.5 }, 20, 32.5],
    ['still running: the end of the pipeline', { status: 'running', startedAtNs: s(20) }, 20, 100],
    ['success without an end: the end of the pipeline', { startedAtNs: s(20) }, 20, 100],
    ['started after the end of the pipeline', { status: 'running', startedAtNs: s(120) }, 120, 120],
    ['success, finished alone', { finishedAtNs: s(50) }, 50, 50],
  ])('%s', (_row, fields, start, end) => {
    expect(jobTimes(job(fields), run)).toMatchObject({ startNs: s(start), endNs: s(end), executed: true })
  })

  test.each<[string, Partial<JobRecord>, number]>([
    ['canceled, finished alone', { status: 'canceled', createdAtNs: s(20), finishedAtNs: s(50) }, 50],
    ['skipped, created', { status: 'skipped', createdAtNs: s(30) }, 30],
    ['created before the pipeline', { status: 'manual', createdAtNs: s(1) }, 10],
    ['created after the pipeline', { status: 'manual', createdAtNs: s(300) }, 100],
    ['skipped with a duration has no start', { status: 'skipped', createdAtNs: s(30), durationSeconds: 12 }, 30],
    ['skipped with a start has no start', { status: 'skipped', startedAtNs: s(20), finishedAtNs: s(50) }, 50],
    [
      'skipped with a finish and a duration has no start',
      { status: 'skipped', finishedAtNs: s(50), durationSeconds: 12 },
      50,
    ],
    [
      'waiting for a callback has no start',
      { status: 'waiting_for_callback', finishedAtNs: s(50), durationSeconds: 12 },
      50,
    ],
  ])('never ran: %s', (_row, fields, at) => {
    const times = { startNs: s(at), endNs: s(at), adjusted: false, executed: false }
    expect(jobTimes(job(fields), run)).toEqual(times)
  })

  test('no usable time: zero-length at the start of the pipeline, adjusted', () => {
    const times = { startNs: s(10), endNs: s(10), adjusted: true }
    expect(jobTimes(job({ status: 'failed' }), run)).toMatchObject({ ...times, executed: false })
    expect(jobTimes(job({ status: 'success' }), run)).toMatchObject({ ...times, executed: true })
  })

  test('finished before it started: zero-length at the start, adjusted', () => {
    const times = { startNs: s(50), endNs: s(50), adjusted: true, executed: true }
    expect(jobTimes(job({ startedAtNs: s(50), finishedAtNs: s(20) }), run)).toEqual(times)
  })
})

describe('the duration sample of a job', () => {
  test.each<[string, Partial<JobRecord>, number | undefined]>([
    ['its duration', { durationSeconds: 7.5, startedAtNs: s(20), finishedAtNs: s(50) }, 7.5],
    ['a duration of 0', { durationSeconds: 0 }, 0],
    ['finished minus started', { startedAtNs: s(20), finishedAtNs: s(50.25) }, 30.25],
    ['none when it finished before it started', { startedAtNs: s(50), finishedAtNs: s(20) }, undefined],
    ['none without an end', { startedAtNs: s(20) }, undefined],
    ['none when skipped', { status: 'skipped', durationSeconds: 7.5 }, undefined],
    ['none while waiting', { status: 'pending', durationSeconds: 7.5 }, undefined],
    ['none while waiting for a callback', { status: 'waiting_for_callback', durationSeconds: 7.5 }, undefined],
  ])('%s', (_row, fields, seconds) => expect(ranSeconds(job(fields))).toBe(seconds))
})

describe('laws', () => {
  const decade = 315_360_000
  const times = fc.option(fc.integer({ min: decade, max: 2 * decade }).map(s), { nil: undefined, freq: 2 })
  const durations = fc.option(
    fc.integer({ min: 0, max: 1_000_000 }).map((ms) => ms / 1000),
    { nil: undefined },
  )
  const jobs = fc
    .record({
      status: fc.constantFrom('success', 'failed', 'canceled', 'skipped', 'running', 'manual', 'foo'),
      createdAtNs: times,
      startedAtNs: times,
      finishedAtNs: times,
      durationSeconds: durations,
    })
    .map(job)
  const pipelines = fc
    .record({
      createdAtNs: times,
      startedAtNs: times,
      updatedAtNs: times,
      finishedAtNs: times,
      durationSeconds: durations,
      receivedAtNs: times,
      jobs: fc.array(jobs, { maxLength: 4 }),
    })
    .map(pipeline)

  const later = (time: bigint | undefined): bigint | undefined => time && time + s(1000)
  function shifted<Run extends JobRecord | PipelineRecord>(run: Run): Run {
    const { createdAtNs, startedAtNs, finishedAtNs } = run
    return {
      ...run,
      createdAtNs: later(createdAtNs),
      startedAtNs: later(startedAtNs),
      finishedAtNs: later(finishedAtNs),
    }
  }

  test('no span ends before it starts, and no time is 0', () => {
    fc.assert(
      fc.property(pipelines, (run) => {
        const span = pipelineTimes(run)
        if (span === undefined) return
        for (const { startNs, endNs } of [span, ...run.jobs.map((each) => jobTimes(each, span))]) {
          expect(startNs).toBeGreaterThan(0n)
          expect(endNs).toBeGreaterThanOrEqual(startNs)
        }
      }),
    )
  })

  test('the order of the jobs does not matter', () => {
    fc.assert(
      fc.property(pipelines, (run) => {
        expect(pipelineTimes({ ...run, jobs: run.jobs.toReversed() })).toEqual(pipelineTimes(run))
      }),
    )
  })

  test('shifting all times by a thousand seconds shifts the spans by a thousand seconds', () => {
    fc.assert(
      fc.property(pipelines, (run) => {
        const span = pipelineTimes(run)
        const moved = pipelineTimes({
          ...shifted(run),
          updatedAtNs: later(run.updatedAtNs),
          receivedAtNs: later(run.receivedAtNs),
          jobs: run.jobs.map(shifted),
        })
        expect(moved).toEqual(
          span && { startNs: later(span.startNs), endNs: later(span.endNs), adjusted: span.adjusted },
        )
      }),
    )
  })

  test('the times of a job that ran are kept, even outside the times of its pipeline', () => {
    fc.assert(
      fc.property(jobs, pipelines, (each, run) => {
        const span = pipelineTimes(run)
        const { startedAtNs, finishedAtNs } = each
        fc.pre(span !== undefined && startedAtNs !== undefined && finishedAtNs !== undefined)
        fc.pre(startedAtNs! <= finishedAtNs! && !hasNeverRun(each.status))
        expect(jobTimes(each, span!)).toMatchObject({ startNs: startedAtNs, endNs: finishedAtNs, adjusted: false })
      }),
    )
  })

  test('a job with a duration sample was executed', () => {
    fc.assert(
      fc.property(jobs, pipelines, (each, run) => {
        const span = pipelineTimes(run)
        fc.pre(span !== undefined)
        if (ranSeconds(each) !== undefined) expect(jobTimes(each, span!).executed).toBe(true)
      }),
    )
  })
})
