import { StatusCode } from '@penstock/otlp'
import { describe, expect, test } from 'vitest'
import { bodiesOf } from '../fixtures.ts'
import {
  arrivalsOf,
  arrivalsOfFixture,
  at,
  attribute,
  attributes,
  convertBody,
  convertFixture,
  type ExportedRun,
  hookOf,
  keysOf,
  type PipelineHook,
  timesOf,
  utc,
  valuesOf,
} from './reading.ts'

/** Per body: exported, or why not. */
const decisionsOf = (name: string, options = {}) =>
  arrivalsOfFixture(name, options).map((arrival) => (arrival.exported ? 'exported' : arrival.skipped))

describe('not final', () => {
  test.each([
    ['e01-status-created', 'not final (created)'],
    ['e01-status-pending', 'not final (pending)'],
    ['e01-status-preparing', 'not final (preparing)'],
    ['e01-status-running', 'not final (running)'],
    ['e01-status-canceling', 'not final (canceling)'],
    ['e01-status-waiting-for-callback', 'not final (waiting_for_callback)'],
    ['e01-status-waiting-for-resource', 'not final (waiting_for_resource)'],
  ])('edge 01: %s is skipped', (name, reason) => {
    expect(decisionsOf(name)).toEqual([reason])
  })

  test('edge 01: a running child teaches its root to the final hook, which names none', () => {
    const [running, final] = arrivalsOfFixture('e01-running-child-teaches-its-root')
    expect(running).toEqual({ exported: undefined, skipped: 'not final (running)' })
    expect(final!.exported!.pipeline.traceId).toBe('7615a6d1f217c307ad48aeb372565ed0')
    expect(attribute(final!.exported!.pipeline, 'svc.cicd.root.resolved')).toBeUndefined()
  })

  test.each([
    ['e02-blocked-by-a-manual-job', 'manual'],
    ['e02-waiting-for-a-delayed-job', 'scheduled'],
  ])('edge 02: %s is skipped, unless asked for', (name, status) => {
    expect(decisionsOf(name)).toEqual([`waits (${status})`])

    const run = convertFixture(name, { exportBlocked: true })
    expect(attribute(run.pipeline, 'pipeline.status')).toBe(status)
    expect(run.pipeline.status).toBeUndefined()
    expect(run.log).toMatchObject({ severityNumber: 5, severityText: 'DEBUG' })
    for (const owner of [run.pipeline, run.log]) {
      expect(keysOf(owner)).not.toContain('cicd.pipeline.result')
      expect(keysOf(owner)).not.toContain('cicd.pipeline.run.state')
    }
    expect(run.metrics['cicd.pipeline.run.errors']).toBeUndefined()
  })

  test('edge 02: a blocked pipeline ends with its last job, a job that waits is where it was created', () => {
    const run = convertFixture('e02-blocked-by-a-manual-job', { exportBlocked: true })
    expect(timesOf(run.pipeline)).toEqual([at('09:20:14.318'), at('09:21:21.018')])
    expect(timesOf(run.jobs['wave-1'])).toEqual([at('09:20:14.368'), at('09:20:14.368')])
  })
})

describe('statuses of other spellings', () => {
  const failed = { status: 'failed', result: 'failure', code: StatusCode.ERROR, severityNumber: 17 }
  const canceled = { status: 'canceled', result: 'cancellation', code: undefined, severityNumber: 13 }
  test.each([
    { name: 'e03-status-failure', ...failed },
    { name: 'e03-status-in-capitals', ...failed },
    { name: 'e03-status-cancelled', ...canceled },
  ])('edge 03: $name reads as $status', ({ name, status, result, code, severityNumber }) => {
    const run = convertFixture(name)
    expect(attributes(run.pipeline)).toMatchObject({ 'pipeline.status': status, 'cicd.pipeline.result': result })
    expect(run.pipeline.status?.code).toBe(code)
    expect(run.log.severityNumber).toBe(severityNumber)
    expect(attributes(run.jobs.weft!)).toMatchObject({ 'job.status': status, 'cicd.pipeline.task.run.result': result })
    expect(run.jobs.weft!.status?.code).toBe(code)
  })

  test('edge 03: a job in mixed case', () => {
    expect(attribute(convertFixture('e03-status-in-capitals').jobs.warp!, 'job.status')).toBe('success')
  })

  test('edge 04: an unknown status is exported only when asked for', () => {
    expect(decisionsOf('e04-unknown-status-with-finish')).toEqual(['unknown status'])

    const run = convertFixture('e04-unknown-status-with-finish', { exportUnknown: true })
    expect(attribute(run.pipeline, 'pipeline.status')).toBe('shelved')
    expect(keysOf(run.pipeline)).not.toContain('cicd.pipeline.result')
    expect(run.pipeline.status).toBeUndefined()
    expect(run.log).toMatchObject({ severityNumber: 5, body: { value: 'Pipeline shelved: master' } })
  })

  test('edge 04: one job of an unknown status does not hold its pipeline back', () => {
    const run = convertFixture('e04-unknown-status-of-one-job')
    expect(attribute(run.jobs.unit!, 'job.status')).toBe('quarantined')
    expect(keysOf(run.jobs.unit!)).not.toContain('cicd.pipeline.task.run.result')
    expect(run.jobs.unit!.status).toBeUndefined()
    expect(run.jobLogs.unit).toMatchObject({ severityNumber: 5, body: { value: 'Job quarantined: unit (test)' } })
  })

  test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'edge 04: %s is a status, a failure reason and a state like any unknown one',
    (word) => {
      const hook = hookOf('e04-unknown-status-of-one-job')
      hook.builds[0]!.status = word
      Object.assign(hook.builds[1]!, { status: 'failed', failure_reason: word })
      hook.merge_request = { iid: 4, state: word }
      const run = convertBody(hook, { refinedResults: true })
      expect(attribute(run.jobs.unit!, 'job.status')).toBe(word)
      expect(keysOf(run.jobs.unit!)).not.toContain('cicd.pipeline.task.run.result')
      expect(run.jobLogs.unit!.severityText).toBe('DEBUG')
      expect(attribute(run.jobs.compile!, 'error.type')).toBe(word)
      expect(attribute(run.jobs.compile!, 'cicd.pipeline.task.run.result')).toBe('failure')
      expect(keysOf(run.pipeline)).not.toContain('vcs.change.state')
    },
  )
})

describe('one export per pipeline', () => {
  test('edge 41: a completion after a retry is not sent again', () => {
    expect(decisionsOf('e41-finishes-again-after-a-retry')).toEqual([
      'exported',
      'already exported',
      'already exported',
    ])
  })

  test('edge 41: replace: the pipeline span again, with the jobs that were not sent', () => {
    const [first, running, second] = arrivalsOfFixture('e41-finishes-again-after-a-retry', { reexport: 'replace' })
    expect(running).toEqual({ exported: undefined, skipped: 'not final (running)' })
    const { pipeline, jobs, log, jobLogs } = second!.exported!
    expect(pipeline.spanId).toBe('83d27aa82063f28e')
    expect(pipeline.spanId).toBe(first!.exported!.pipeline.spanId)
    expect(pipeline.links).toEqual([])
    expect(timesOf(pipeline)).toEqual([utc('2026-03-11 08:15:02'), utc('2026-03-11 08:52:09')])
    expect(Object.keys(jobs)).toEqual(['simulate'])
    expect(jobs.simulate).toMatchObject({ spanId: 'bab241e02c8e7576', parentSpanId: '83d27aa82063f28e' })
    expect(log.body).toEqual({ type: 'string', value: 'Pipeline success: main' })
    expect(Object.keys(jobLogs)).toEqual(['simulate'])
  })

  test('edge 41: link: the later completion has its own span in the same trace, linked to the first', () => {
    const [first, , second] = arrivalsOfFixture('e41-finishes-again-after-a-retry', { reexport: 'link' })
    const { pipeline, jobs } = second!.exported!
    expect(first!.exported!.pipeline.spanId).toBe('83d27aa82063f28e')
    expect(pipeline).toMatchObject({ traceId: '0308e38774c4bdf58e9aaf7f81917a47', spanId: '81db3bfa304d22f6' })
    expect(pipeline.links).toMatchObject([
      { traceId: '0308e38774c4bdf58e9aaf7f81917a47', spanId: '83d27aa82063f28e', flags: 0x103 },
    ])
    expect(jobs.simulate!.parentSpanId).toBe('81db3bfa304d22f6')
  })

  test('edge 41: link: a later completion that does not say when it finished is no link to itself', () => {
    const bodies = structuredClone(bodiesOf('e41-finishes-again-after-a-retry')) as PipelineHook[]
    bodies[2]!.object_attributes.finished_at = null
    const { pipeline } = arrivalsOf(bodies, { reexport: 'link' })[2]!.exported!
    expect(pipeline.links.map(({ spanId }) => spanId)).not.toContain(pipeline.spanId)
  })

  test('edge 41: a later completion counts no second run', () => {
    const [, , second] = arrivalsOfFixture('e41-finishes-again-after-a-retry', { reexport: 'replace' })
    const { metrics } = second!.exported!
    expect(metrics['cicd.pipeline.run.count']).toBeUndefined()
    expect(metrics['cicd.pipeline.run.duration']).toBeUndefined()
    expect(valuesOf(metrics['pipeline.status_total'])).toEqual([1n])
  })

  describe.each(['none', 'replace', 'link'] as const)('reexport %s', (reexport) => {
    test('edge 42: an identical redelivery is not exported', () => {
      expect(decisionsOf('e42-identical-redelivery', { reexport })).toEqual(['exported', 'already exported'])
    })

    test('edge 43: a late running hook is ignored', () => {
      const late = reexport === 'none' ? 'already exported' : 'not final (running)'
      expect(decisionsOf('e43-running-hook-arrives-after-the-final-one', { reexport })).toEqual(['exported', late])
    })
  })

  test('one hook per status change gives one export', () => {
    const running = Array(3).fill('not final (running)')
    const decisions = decisionsOf('one-hook-per-status-change')
    expect(decisions).toEqual(['not final (created)', 'not final (pending)', ...running, 'exported'])
  })
})

describe('table 3.2: span status', () => {
  const codes = (run: ExportedRun) =>
    Object.fromEntries(Object.entries(run.jobs).map(([name, span]) => [name, span.status?.code]))

  test('success is OK, failed is ERROR, both without a message; skipped is unset', () => {
    const run = convertFixture('failed-pipeline-with-skipped-deploy')
    expect(run.pipeline.status).toEqual({ code: 2, message: '' })
    expect(run.jobs.simulate!.status).toEqual({ code: 2, message: '' })
    expect(run.jobs.firmware!.status).toEqual({ code: 1, message: '' })
    expect(run.jobs['flash-bench']!.status).toBeUndefined()
  })

  test('canceled is unset', () => {
    const run = convertFixture('canceled-pipeline')
    expect(run.pipeline.status).toBeUndefined()
    expect(codes(run)).toEqual({ site: 1, browser: undefined, links: undefined, pages: undefined })
  })

  test('edge 54: an allowed failure is an ERROR of the job and a warning in the log; the pipeline knows nothing', () => {
    const run = convertFixture('e54-only-an-allowed-failure')
    expect(run.pipeline.status).toEqual({ code: 1, message: '' })
    expect(keysOf(run.pipeline)).not.toContain('error.type')
    expect(attribute(run.pipeline, 'pipeline.detailed_status')).toBe('passed with warnings')
    expect(codes(run)).toEqual({ vitest: 1, links: 2 })
    expect(attribute(run.jobs.links!, 'error.type')).toBe('script_failure')
    expect(run.jobLogs.links).toMatchObject({ severityNumber: 13, severityText: 'WARN' })
    expect(attribute(run.jobLogs.links!, 'log.level')).toBe('WARN')
    expect(run.log.severityNumber).toBe(9)
    expect(run.metrics['cicd.pipeline.run.errors']).toBeUndefined()
  })

  test('edge 54: beside a real failure the allowed one, though earlier, is not the reason', () => {
    const run = convertFixture('e54-allowed-failure-beside-a-real-one')
    expect(attribute(run.pipeline, 'error.type')).toBe('script_failure')
    expect(attribute(run.jobs.links!, 'error.type')).toBe('runner_system_failure')
    const errors = run.metrics['cicd.pipeline.run.errors']
    expect(valuesOf(errors)).toEqual([1n])
  })

  test.each([
    ['e55-failed-without-a-failed-job', '_OTHER'],
    ['e55-failure-reason-of-the-pipeline-given', 'config_error'],
    ['e55-rest-yaml-errors', 'config_error'],
  ])('edge 55: %s: the pipeline failed by itself', (name, reason) => {
    const run = convertFixture(name)
    expect(run.pipeline.status?.code).toBe(2)
    expect(attribute(run.pipeline, 'error.type')).toBe(reason)
    expect(run.log).toMatchObject({ severityNumber: 17, severityText: 'ERROR' })
    expect(valuesOf(run.metrics['cicd.pipeline.run.errors'])).toEqual([1n])
    const { data } = run.metrics['cicd.pipeline.run.errors']!
    expect(data?.type === 'sum' && attribute(data.dataPoints[0]!, 'error.type')).toBe(reason)
  })

  test('error.type of a pipeline is the reason of the failed job that finished first', () => {
    const run = convertFixture('failed-for-several-reasons')
    expect(attribute(run.pipeline, 'error.type')).toBe('runner_system_failure')
  })

  test('edge 56: unknown_failure on a job that succeeded is no failure', () => {
    const run = convertFixture('e56-unknown-failure-on-a-job-that-succeeded')
    for (const owner of [run.jobs.unit!, run.jobLogs.unit!, run.pipeline]) {
      expect(keysOf(owner).filter((key) => /failure_reason|error\.type/.test(key))).toEqual([])
    }
    expect(run.jobs.unit!.status?.code).toBe(1)
    expect(attribute(run.jobs.unit!, 'svc.cicd.pipeline.task.run.attempt')).toBe(1n)
  })
})
