import { RecordError } from '@penstock/forges'
import { describe, expect, test } from 'vitest'
import { conversionOf } from '../conversion.ts'
import {
  at,
  attribute,
  attributes,
  convertEachOfFixture,
  convertFixture,
  histogramsOf,
  hookOf,
  keysOf,
  timesOf,
  utc,
  valuesOf,
} from './exported-run.ts'

const ADJUSTED = 'svc.cicd.timestamps.adjusted'
const EXECUTED = 'svc.cicd.pipeline.task.run.executed'
const receivedAtNs = 1_790_000_000_000_000_000n

describe('a final pipeline without finished_at', () => {
  test.each([
    ['e05-e37-skipped-by-commit-message', at('09:20:14'), at('09:20:14')],
    ['e05-skipped-with-unstarted-jobs', at('09:20:14'), at('09:20:14')],
    ['e05-success-without-finish', at('09:20:14'), at('09:22:26')],
    ['e05-no-finish-anywhere-but-duration', at('09:20:14'), at('09:21:15')],
    ['e05-rest-without-finish-has-updated-at', at('09:20:14.318'), at('09:20:14.318')],
  ])('edge 05: %s is exported', (name, startNs, endNs) => {
    const run = convertFixture(name)
    expect(timesOf(run.pipeline)).toEqual([startNs, endNs])
    expect(attribute(run.pipeline, ADJUSTED)).toBeUndefined()
  })

  test('edge 05: the log record of a run has the time of its last update', () => {
    expect(convertFixture('e05-rest-without-finish-has-updated-at').log.timeUnixNano).toBe(at('09:20:23.613'))
    expect(convertFixture('e05-e37-skipped-by-commit-message').log.timeUnixNano).toBe(at('09:20:14'))
  })

  test('edge 05: a job that is still open ends with the pipeline', () => {
    const { jobs } = convertFixture('e05-no-finish-anywhere-but-duration')
    expect(timesOf(jobs.unit)).toEqual([at('09:20:19'), at('09:21:15')])
  })
})

describe('a missing created_at', () => {
  test.each([
    ['e06-created-at-null', at('09:20:14'), at('09:22:26')],
    ['e06-created-at-absent-jobs-without-times', at('09:20:19'), at('09:21:15')],
    ['e06-rest-created-at-null-started-at-given', at('09:20:20.114'), at('09:21:02.870')],
  ])('edge 06: %s', (name, startNs, endNs) => {
    expect(timesOf(convertFixture(name).pipeline)).toEqual([startNs, endNs])
  })

  test('edge 06: a job without any time is at the start of the pipeline, marked as adjusted', () => {
    const { compile } = convertFixture('e06-created-at-absent-jobs-without-times').jobs
    expect(timesOf(compile)).toEqual([at('09:20:19'), at('09:20:19')])
    expect(attribute(compile!, ADJUSTED)).toBe(true)
    expect(attribute(compile!, 'job.duration')).toBe(55.5)
  })

  test('edge 06: a failed job with a duration is treated as executed, whatever its times', () => {
    const run = convertFixture('e06-created-at-absent-jobs-without-times')
    expect(attribute(run.jobs.compile!, EXECUTED)).toBeUndefined()
    expect(histogramsOf(run.metrics['job.duration_seconds']).map((point) => point.sum)).toEqual([55.5])
  })
})

describe('a pipeline without times', () => {
  test('edge 07: the pipeline span covers its jobs', () => {
    const run = convertFixture('e07-no-pipeline-times-jobs-have-them')
    expect(timesOf(run.pipeline)).toEqual([at('09:20:14'), at('09:22:26')])
    expect(timesOf(run.jobs.compile)).toEqual([at('09:20:20'), at('09:21:08')])
    expect(run.log.timeUnixNano).toBe(0n)
    expect(run.jobLogs.compile!.timeUnixNano).toBe(at('09:21:08'))
  })

  test('edge 07: without any time all spans are zero-length at the time of receipt, marked, and logs have only an observed time', () => {
    const run = convertFixture('e07-no-time-anywhere', {}, receivedAtNs)
    expect(run.spans).toHaveLength(3)
    for (const span of run.spans) {
      expect(timesOf(span)).toEqual([receivedAtNs, receivedAtNs])
      expect(attribute(span, ADJUSTED)).toBe(true)
    }
    for (const record of [run.log, ...Object.values(run.jobLogs)]) {
      expect(record.timeUnixNano).toBe(0n)
      expect(record.observedTimeUnixNano).toBe(receivedAtNs)
    }
    expect(run.conversion.tally.adjustedSpans).toBe(3)
  })

  test('edge 07: without any time and without a time of receipt nothing is exported', () => {
    expect(() => conversionOf(hookOf('e07-no-time-anywhere'))).toThrow(RecordError)
  })
})

describe('dates', () => {
  test('edge 08: a UTC date with spaces is read', () => {
    const run = convertFixture('e08-utc-space-date')
    expect(timesOf(run.pipeline)).toEqual([1_471_015_408_000_000_000n, 1_471_015_453_000_000_000n])
    expect(timesOf(run.jobs.warp)).toEqual([1_471_015_413_000_000_000n, 1_471_015_453_000_000_000n])
  })

  test.each([
    ['e09-space-date-offset-minus-0700', 1_785_276_565_000_000_000n, utc('2026-07-28 22:10:31')],
    ['e09-space-date-offset-with-colon', utc('2026-07-28 22:09:25'), utc('2026-07-28 22:10:31')],
    ['e09-offset-of-five-and-a-half-hours', utc('2026-07-28 18:31:40'), utc('2026-07-28 18:32:46')],
    ['e09-iso-date-with-offset', utc('2026-07-28 22:59:58'), utc('2026-07-28 23:01:04')],
  ])('edge 09: %s', (name, startNs, endNs) => {
    expect(timesOf(convertFixture(name).pipeline)).toEqual([startNs, endNs])
  })

  test('edge 10: fractions are exact to the nanosecond', () => {
    const run = convertFixture('e10-fractions-of-one-three-six-and-nine-digits')
    expect(timesOf(run.pipeline)).toEqual([1_769_707_548_819_000_000n, 1_769_707_615_123_456_789n])
    expect(timesOf(run.jobs.unit)).toEqual([1_769_707_553_619_004_000n, 1_769_707_614_823_419_007n])
    expect(attribute(run.jobs.unit!, 'job.created_at')).toBe(1_769_707_548_900_000_000n)
  })

  test('edge 10: a fraction and an offset are read', () => {
    const run = convertFixture('e10-fraction-with-offset')
    expect(timesOf(run.pipeline)).toEqual([at('09:20:14.318'), at('09:21:20.602')])
    expect(attribute(run.jobs.unit!, 'job.created_at')).toBe(at('09:20:14.368') + 1_000n)
  })

  test.each([
    ['e10-iso-date-without-zone', utc('2026-10-25 02:30:00'), utc('2026-10-25 02:31:06')],
    ['e10-space-date-without-zone', utc('2026-03-29 02:30:00'), utc('2026-03-29 02:31:06')],
  ])('edge 10: %s is read as UTC, also in the hours that local clocks repeat or skip', (name, startNs, endNs) => {
    expect(timesOf(convertFixture(name).pipeline)).toEqual([startNs, endNs])
  })

  test.each([
    ['e11-month-thirteen', at('09:20:14'), at('09:21:20'), ['created_at', 'finished_at']],
    ['e11-thirtieth-of-february', at('09:20:14'), at('09:21:20'), ['created_at', 'finished_at']],
    ['e11-hour-and-minute-out-of-range', at('09:20:14'), at('09:21:20'), ['created_at', 'finished_at']],
    ['e11-leap-day-of-a-common-year', utc('2024-02-29 09:20:14'), utc('2024-02-29 09:21:21'), ['created_at']],
    ['e11-date-as-a-number', at('09:20:14'), at('09:21:21'), ['created_at']],
  ])('edge 11: %s is absent and counted', (name, startNs, endNs, fields) => {
    const run = convertFixture(name)
    expect(timesOf(run.pipeline)).toEqual([startNs, endNs])
    expect(run.warnings.items.map(({ path }) => path)).toEqual(fields.map((field) => `object_attributes.${field}`))
    expect(run.warnings.total).toBe(fields.length)
  })

  test('edge 11: a time in year one is absent', () => {
    expect(timesOf(convertFixture('e11-year-one').pipeline)).toEqual([at('09:20:14'), at('09:21:20')])
  })

  test('edge 11: an empty text and the word null are absent; the other times of the job determine the pipeline', () => {
    const run = convertFixture('e11-empty-string-and-word-null')
    const derivedStartNs = at('09:21:20') - 61_204_415_000n
    expect(timesOf(run.jobs.unit)).toEqual([derivedStartNs, at('09:21:20')])
    expect(attribute(run.jobs.unit!, 'job.created_at')).toBeUndefined()
    expect(timesOf(run.pipeline)).toEqual([derivedStartNs, at('09:21:20')])
  })
})

describe('jobs that never ran', () => {
  test.each([
    ['e12-jobs-skipped-after-a-failure', 'unit', at('09:20:14'), 3n, ['build']],
    ['e12-optional-manual-job-never-played', 'wave-1', at('09:20:14.368'), 2n, ['build']],
    ['e12-created-job-in-a-canceled-pipeline', 'unit', at('09:20:14'), 2n, ['build']],
    ['e12-canceled-before-it-started', 'unit', at('09:20:49'), 2n, ['build']],
    ['e12-never-ran-job-created-before-the-pipeline', 'flash-bench', at('09:20:14'), 2n, ['build']],
  ])('edge 12: %s: %s is zero-length, counted and in no histogram', (name, job, timeNs, total, stages) => {
    const run = convertFixture(name)
    const span = run.jobs[job]!
    expect(timesOf(span)).toEqual([timeNs, timeNs])
    expect(attribute(span, EXECUTED)).toBe(false)
    expect(attribute(span, ADJUSTED)).toBeUndefined()
    expect(keysOf(span).filter((key) => key.endsWith('duration'))).toEqual([])
    expect(valuesOf(run.metrics['pipeline.jobs_total'])).toEqual([total])
    expect(valuesOf(run.metrics['cicd.pipeline.task.total'])).toEqual([total])
    const points = histogramsOf(run.metrics['job.duration_seconds'])
    expect(points.map((point) => attribute(point, 'job.stage'))).toEqual(stages)
  })

  test('edge 12: moving the span does not change the creation time', () => {
    const { jobs } = convertFixture('e12-never-ran-job-created-before-the-pipeline')
    expect(attribute(jobs['flash-bench']!, 'job.created_at')).toBe(at('09:19:40'))
  })

  test('edge 12: a job that ran has no attribute about it', () => {
    const { jobs } = convertFixture('e12-jobs-skipped-after-a-failure')
    expect(attribute(jobs.firmware!, EXECUTED)).toBeUndefined()
  })

  test('edge 13: a skipped job with a duration and a runner keeps both, but never ran', () => {
    const run = convertFixture('e13-skipped-job-with-duration-and-runner')
    const { unit } = run.jobs
    expect(timesOf(unit)).toEqual([at('09:20:14'), at('09:20:14')])
    expect(attributes(unit!)).toMatchObject({
      [EXECUTED]: false,
      'job.duration': 12.904417,
      'svc.cicd.pipeline.task.run.duration': 12.904417,
      'job.queued_duration': 0.880214,
      'job.runner.id': 14n,
      'cicd.pipeline.task.run.result': 'skip',
    })
    const points = histogramsOf(run.metrics['job.duration_seconds'])
    expect(points.map((point) => [attribute(point, 'job.stage'), point.sum])).toEqual([['build', 30.114008]])
  })
})

describe('a time of a job is missing or contradicts another', () => {
  test.each([
    ['edge 14', 'e14-success-job-without-finish', at('09:21:13'), at('09:21:13') + 73_480_112_000n],
    ['edge 14', 'e14-success-job-without-finish-and-duration', at('09:21:13'), at('09:22:26')],
    ['edge 15', 'e15-finish-without-start', at('09:22:26') - 73_480_112_000n, at('09:22:26')],
    ['edge 15', 'e15-finish-without-start-and-duration', at('09:22:26'), at('09:22:26')],
  ])('%s: %s', (_edge, name, startNs, endNs) => {
    const { jobs } = convertFixture(name)
    expect(timesOf(jobs.unit)).toEqual([startNs, endNs])
    expect(attribute(jobs.unit!, ADJUSTED)).toBeUndefined()
    expect(attribute(jobs.unit!, EXECUTED)).toBeUndefined()
  })

  test('edge 16: a job that finished before it started is zero-length at its start, with the duration that is given', () => {
    const run = convertFixture('e16-job-finished-before-it-started')
    expect(timesOf(run.jobs.unit)).toEqual([at('09:21:13'), at('09:21:13')])
    expect(attribute(run.jobs.unit!, ADJUSTED)).toBe(true)
    expect(run.conversion.tally.adjustedSpans).toBe(1)
    const sums = histogramsOf(run.metrics['job.duration_seconds']).map((point) => point.sum)
    expect(sums).toEqual([48.213907, 73.480112])
  })

  test('edge 16: a negative duration is ignored', () => {
    const run = convertFixture('e16-job-finished-before-it-started-negative-duration')
    expect(timesOf(run.jobs.unit)).toEqual([at('09:21:13'), at('09:21:13')])
    expect(attribute(run.jobs.unit!, 'job.duration')).toBeUndefined()
    expect(histogramsOf(run.metrics['job.duration_seconds']).map((point) => point.sum)).toEqual([48.213907])
    expect(run.warnings.items.map(({ path }) => path)).toEqual(['builds[0].duration'])
  })

  test('edge 16: a pipeline that finished before it was created is zero-length at its creation', () => {
    const run = convertFixture('e16-pipeline-finished-before-it-was-created')
    expect(timesOf(run.pipeline)).toEqual([at('09:20:14'), at('09:20:14')])
    expect(attribute(run.pipeline, ADJUSTED)).toBe(true)
    expect(valuesOf(run.metrics['pipeline.duration_seconds'])).toEqual([122])
    expect(timesOf(run.jobs.unit)).toEqual([at('09:21:13'), at('09:22:26')])
  })

  test('edge 17: a job created after it started has no computed queue time', () => {
    const { jobs } = convertFixture('e17-job-created-after-it-started')
    expect(timesOf(jobs.unit)).toEqual([at('09:20:19'), at('09:21:20')])
    expect(attribute(jobs.unit!, 'job.created_at')).toBe(at('09:20:20'))
    expect(keysOf(jobs.unit!).filter((key) => key.includes('queued'))).toEqual([])
  })
})

describe('times far in the past or the future', () => {
  test.each([
    ['e57-timestamps-in-the-future', utc('2099-12-31 23:58:40'), utc('2099-12-31 23:59:46'), 'lies in the future'],
    ['e57-timestamps-of-2009', 1_234_567_890_000_000_000n, 1_234_567_956_000_000_000n, 'is more than a week old'],
  ])('edge 57: %s are exported unchanged, with a warning', (name, startNs, endNs, reason) => {
    const run = convertFixture(name, {}, receivedAtNs)
    expect(timesOf(run.pipeline)).toEqual([startNs, endNs])
    expect(run.warnings.items).toEqual([{ path: 'object_attributes.finished_at', reason }])
  })
})

test('a job may start and end outside its pipeline', () => {
  const [, child] = convertEachOfFixture('child-outlives-its-parent')
  expect(timesOf(child!.exported!.pipeline)).toEqual([utc('2026-05-02 10:00:27.900'), utc('2026-05-02 10:30:37.407')])
})
