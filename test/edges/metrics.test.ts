import { describe, expect, test } from 'vitest'
import {
  at,
  attribute,
  attributes,
  bucketsOf,
  convertBody,
  convertFixture,
  histogramsOf,
  hookOf,
  pointsOf,
  resourceOf,
  valuesOf,
} from './exported-run.ts'

const nativeBounds = [1, 5, 10, 30, 60, 300, 600, 1800, 3600]
const DELTA = 1

describe('the metric table', () => {
  const run = convertFixture('push-pipeline-five-jobs-three-stages')

  test('metrics have the scope and resource of the table', () => {
    const { resources } = run.conversion.metrics
    expect(resources.flatMap(({ scopes }) => scopes.map(({ scope }) => scope.name))).toEqual(['svc-ci-metrics'])
    expect(resourceOf(run, 'metrics')).toEqual({
      ...resourceOf(run, 'traces'),
      'svc.cicd.pipeline.trace_id': 'f09bd275a66f6824d2b176f2a52ef4b6',
    })
  })

  test('a success has the names, units and instruments of the table', () => {
    expect(Object.values(run.metrics).map(({ name, unit, data }) => [name, unit, data?.type])).toEqual([
      ['pipeline.duration_seconds', 's', 'gauge'],
      ['cicd.pipeline.run.duration', 's', 'histogram'],
      ['pipeline.status_total', '{status_change}', 'sum'],
      ['cicd.pipeline.run.count', '{run}', 'sum'],
      ['pipeline.jobs_total', '{job}', 'gauge'],
      ['cicd.pipeline.task.total', '{job}', 'gauge'],
      ['job.duration_seconds', 's', 'histogram'],
      ['cicd.pipeline.task.duration', 's', 'histogram'],
      ['pipeline.queue_duration_seconds', 's', 'gauge'],
      ['svc.cicd.pipeline.run.queued_duration', 's', 'gauge'],
    ])
  })

  test('a failure also has the error metric', () => {
    const { name, unit, data } = convertFixture('failed-pipeline-with-skipped-deploy').metrics[
      'cicd.pipeline.run.errors'
    ]!
    expect([name, unit, data]).toMatchObject([
      'cicd.pipeline.run.errors',
      '{error}',
      { type: 'sum', isMonotonic: true, aggregationTemporality: DELTA },
    ])
  })

  test('durations are doubles in seconds, counts are integers', () => {
    expect(valuesOf(run.metrics['pipeline.duration_seconds'])).toEqual([282])
    expect(valuesOf(run.metrics['pipeline.status_total'])).toEqual([1n])
    expect(valuesOf(run.metrics['cicd.pipeline.run.count'])).toEqual([1n])
    expect(valuesOf(run.metrics['pipeline.jobs_total'])).toEqual([5n])
    expect(valuesOf(run.metrics['cicd.pipeline.task.total'])).toEqual([5n])
    expect(valuesOf(run.metrics['pipeline.queue_duration_seconds'])).toEqual([3])
    expect(valuesOf(run.metrics['svc.cicd.pipeline.run.queued_duration'])).toEqual([3])
  })

  const common = {
    'pipeline.status': 'success',
    'pipeline.ref': 'main',
    'cicd.pipeline.name': 'tide-tables',
    'cicd.pipeline.result': 'success',
    'cicd.pipeline.run.state': 'executing',
    'svc.cicd.pipeline.trigger.type': 'push',
    'vcs.ref.head.type': 'branch',
  }

  test('every point has the attributes of both families; points per stage also have the stage', () => {
    for (const [name, metric] of Object.entries(run.metrics)) {
      const byStage = ['job.duration_seconds', 'cicd.pipeline.task.duration'].includes(name)
      for (const point of pointsOf(metric)) {
        const stage = attribute(point, 'job.stage')
        const added = byStage ? { 'job.stage': stage, 'cicd.pipeline.task.type': stage } : {}
        expect(attributes(point)).toEqual({ ...common, ...added })
      }
    }
  })

  test('the run duration is one sample in buckets with inclusive upper bounds', () => {
    const [point, ...others] = histogramsOf(run.metrics['cicd.pipeline.run.duration'])
    expect(others).toEqual([])
    expect(point).toMatchObject({ count: 1n, sum: 282, min: 282, max: 282, explicitBounds: nativeBounds })
    expect(point!.bucketCounts).toEqual([0n, 0n, 0n, 0n, 0n, 1n, 0n, 0n, 0n, 0n])
  })

  test.each(['job.duration_seconds', 'cicd.pipeline.task.duration'])('%s has one point per stage, in order', (name) => {
    const points = histogramsOf(run.metrics[name])
    expect(points.map((point) => [attribute(point, 'job.stage'), point.count, bucketsOf(point)])).toEqual([
      ['build', 1n, { 300: 1n }],
      ['test', 2n, { 30: 1n, 300: 1n }],
      ['deploy', 2n, { 5: 1n, 60: 1n }],
    ])
    expect(points.map(({ min, max }) => [min, max])).toEqual([
      [94.713528, 94.713528],
      [22.094185, 151.802617],
      [3.110265, 31.660942],
    ])
    const sums = points.map(({ sum }) => sum!)
    expect(sums[0]).toBe(94.713528)
    expect(sums[1]).toBeCloseTo(173.896802, 9)
    expect(sums[2]).toBeCloseTo(34.771207, 9)
  })

  test('points cover the time of the pipeline span; gauges have no start time', () => {
    for (const metric of Object.values(run.metrics)) {
      for (const point of pointsOf(metric)) {
        expect(point.timeUnixNano).toBe(at('09:25:11'))
        expect(point.startTimeUnixNano).toBe(metric.data?.type === 'gauge' ? 0n : at('09:20:14'))
      }
    }
  })

  test('the temporality is delta, and sums are monotonic', () => {
    for (const { data } of Object.values(run.metrics)) {
      if (data?.type === 'gauge') continue
      expect(data).toMatchObject({ aggregationTemporality: DELTA })
      if (data?.type === 'sum') expect(data.isMonotonic).toBe(true)
    }
  })

  test('exemplars refer to the pipeline span, and those of job durations to the slowest job of the stage', () => {
    const exemplarsOf = (name: string) => pointsOf(run.metrics[name]).flatMap(({ exemplars }) => exemplars)
    expect(exemplarsOf('cicd.pipeline.run.duration')).toEqual([
      {
        filteredAttributes: [],
        timeUnixNano: at('09:25:11'),
        value: { type: 'double', value: 282 },
        spanId: '57597f4a8354785e',
        traceId: 'f09bd275a66f6824d2b176f2a52ef4b6',
      },
    ])
    expect(exemplarsOf('pipeline.status_total')).toMatchObject([
      { value: { type: 'int', value: 1n }, spanId: '57597f4a8354785e' },
    ])
    expect(exemplarsOf('job.duration_seconds')).toMatchObject([
      { value: { value: 94.713528 }, spanId: '7844386fb3f17be8' },
      { value: { value: 151.802617 }, spanId: '1510fa0b066b7919' },
      { value: { value: 31.660942 }, spanId: '0ca1da9dece5d897' },
    ])
  })
})

describe('errors', () => {
  test('count the failed jobs per reason, without allowed failures', () => {
    const errors = convertFixture('failed-for-several-reasons').metrics['cicd.pipeline.run.errors']
    const byType = Object.fromEntries(
      pointsOf(errors).map((point, i) => [attribute(point, 'error.type'), valuesOf(errors)[i]]),
    )
    expect(byType).toEqual({ script_failure: 2n, runner_system_failure: 1n, stuck_or_timeout_failure: 1n })
  })

  test('the run duration of a failure has its reason', () => {
    const run = convertFixture('failed-pipeline-with-skipped-deploy')
    const [point] = pointsOf(run.metrics['cicd.pipeline.run.duration'])
    expect(attribute(point!, 'error.type')).toBe('script_failure')
    expect(attribute(point!, 'cicd.pipeline.result')).toBe('failure')
    const [count] = pointsOf(run.metrics['cicd.pipeline.run.count'])
    expect(attribute(count!, 'error.type')).toBeUndefined()
  })
})

describe('without a value there is no point', () => {
  test('edge 18: a duration of 0 is treated as absent for the pipeline, and as a sample for a job', () => {
    const run = convertFixture('e18-pipeline-duration-zero')
    expect(run.metrics['pipeline.duration_seconds']).toBeUndefined()
    expect(run.metrics['cicd.pipeline.run.duration']).toBeUndefined()

    const points = histogramsOf(convertFixture('e18-job-duration-zero').metrics['job.duration_seconds'])
    expect(points[1]).toMatchObject({ count: 1n, sum: 0, min: 0, max: 0 })
    expect(bucketsOf(points[1]!)).toEqual({ 1: 1n })
  })

  test.each(['e19-negative-durations', 'e19-durations-as-words'])(
    'edge 19: %s has no gauges, and a job that ran is measured by its times',
    (name) => {
      const { metrics } = convertFixture(name)
      expect(Object.keys(metrics)).toEqual([
        'pipeline.status_total',
        'cicd.pipeline.run.count',
        'pipeline.jobs_total',
        'cicd.pipeline.task.total',
        'job.duration_seconds',
        'cicd.pipeline.task.duration',
      ])
      expect(histogramsOf(metrics['job.duration_seconds']).map(({ sum }) => sum)).toEqual([48.213907, 73])
    },
  )

  test('edge 20: 173 milliseconds are in the first bucket', () => {
    const [point] = histogramsOf(convertFixture('e20-job-of-173-milliseconds').metrics['job.duration_seconds'])
    expect(point).toMatchObject({ sum: 0.173, min: 0.173, max: 0.173 })
    expect(bucketsOf(point!)).toEqual({ 1: 1n })
  })

  test('edge 21: whole seconds are doubles in gauges', () => {
    const { metrics } = convertFixture('e21-duration-of-a-whole-number')
    expect(valuesOf(metrics['pipeline.duration_seconds'])).toEqual([17])
    expect(pointsOf(metrics['pipeline.duration_seconds'])[0]).toMatchObject({ value: { type: 'double' } })
    expect(histogramsOf(metrics['job.duration_seconds'])[0]).toMatchObject({ count: 2n, sum: 34, min: 17, max: 17 })
  })

  test('edge 22: without a queue time there are no queue gauges', () => {
    const { metrics } = convertFixture('e22-queued-less-than-a-second')
    expect(metrics['pipeline.queue_duration_seconds']).toBeUndefined()
    expect(metrics['svc.cicd.pipeline.run.queued_duration']).toBeUndefined()
  })

  test.each(['e37-builds-empty', 'e37-builds-absent', 'e05-e37-skipped-by-commit-message'])(
    'edge 37: %s has one span, no job histograms, and a total of 0',
    (name) => {
      const run = convertFixture(name)
      expect(run.spans).toHaveLength(1)
      expect(valuesOf(run.metrics['pipeline.jobs_total'])).toEqual([0n])
      expect(valuesOf(run.metrics['cicd.pipeline.task.total'])).toEqual([0n])
      expect(run.metrics['job.duration_seconds']).toBeUndefined()
      expect(run.metrics['cicd.pipeline.task.duration']).toBeUndefined()
    },
  )
})

describe('bridges are treated as jobs', () => {
  test('edge 38: a pipeline with only bridges', () => {
    const run = convertFixture('e38-only-bridges')
    expect(valuesOf(run.metrics['pipeline.jobs_total'])).toEqual([2n])
    const [point] = histogramsOf(run.metrics['job.duration_seconds'])
    expect(point).toMatchObject({ count: 2n, min: 280.442019, max: 312.007114 })
    expect(bucketsOf(point!)).toEqual({ 300: 1n, 600: 1n })
  })

  test('edge 38: a bridge that is still running ends with the pipeline, and has no sample', () => {
    const run = convertFixture('e38-bridge-still-running')
    const bridge = run.jobs['kessel-nord']!
    expect([bridge.startTimeUnixNano, bridge.endTimeUnixNano]).toEqual([at('09:20:23'), at('09:21:19')])
    expect(attribute(bridge, 'cicd.pipeline.task.run.state')).toBe('executing')
    expect(valuesOf(run.metrics['pipeline.jobs_total'])).toEqual([2n])
    const points = histogramsOf(run.metrics['job.duration_seconds'])
    expect(points.map((point) => attribute(point, 'job.stage'))).toEqual(['build'])
  })
})

describe('stages', () => {
  const stagesOf = (name: string) =>
    histogramsOf(convertFixture(name).metrics['job.duration_seconds']).map((point) => [
      attribute(point, 'job.stage'),
      point.count,
    ])

  test('edge 53: are in the declared order', () => {
    expect(stagesOf('e53-stage-order-differs-from-job-order')).toEqual([
      ['bottle', 1n],
      ['press', 1n],
      ['mill', 1n],
    ])
  })

  test('edge 53: jobs without a stage share a point without the stage attribute', () => {
    expect(stagesOf('e53-job-without-a-stage')).toEqual([
      ['build', 1n],
      [undefined, 2n],
    ])
  })

  test('edge 53: a stage that is not declared comes last', () => {
    expect(stagesOf('e53-job-in-an-undeclared-stage').map(([stage]) => stage)).toEqual(['build', 'test', '.post'])
  })

  test('edge 53: 500 generated stages give 500 points in the declared order', () => {
    const hook = hookOf('push-pipeline-five-jobs-three-stages')
    const [template] = hook.builds
    const stages = Array.from({ length: 500 }, (_, i) => `stage-${i}`)
    hook.object_attributes.stages = stages
    hook.builds = stages.map((stage, i) => ({ ...template, id: 1000 - i, name: `job-${i}`, stage }))
    const points = histogramsOf(convertBody(hook).metrics['job.duration_seconds'])
    expect(points.map((point) => attribute(point, 'job.stage'))).toEqual(stages)
    for (const { count } of points) expect(count).toBe(1n)
  })
})

describe('bucket limits', () => {
  test.each([
    [1, { 1: 1n }],
    [1.000001, { 5: 1n }],
    [3600, { 3600: 1n }],
    [3600.5, { more: 1n }],
  ])('a job of %d s', (duration, buckets) => {
    const hook = hookOf('e53-job-without-a-stage')
    hook.builds = [{ ...hook.builds[0], duration }]
    const [point] = histogramsOf(convertBody(hook).metrics['job.duration_seconds'])
    expect(bucketsOf(point!)).toEqual(buckets)
  })
})
