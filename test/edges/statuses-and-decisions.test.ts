import { StatusCode } from '@penstock/otlp'
import { describe, expect, test } from 'vitest'
import { bodiesOf } from '../fixtures.ts'
import {
  at,
  attribute,
  attributes,
  convertBody,
  convertEach,
  convertEachOfFixture,
  convertFixture,
  type ExportedRun,
  hookOf,
  keysOf,
  type PipelineHook,
  timesOf,
  utc,
  valuesOf,
} from './exported-run.ts'

/** Returns `exported`, or the reason why it was skipped, for each body. */
const decisionsOf = (name: string, options = {}) =>
  convertEachOfFixture(name, options).map((result) => (result.exported ? 'exported' : result.skipped))

describe('pipelines that are not final', () => {
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

  test('edge 01: a running child provides the root of the final hook, which contains none', () => {
    const [running, final] = convertEachOfFixture('e01-running-child-teaches-its-root')
    expect(running).toEqual({ exported: undefined, skipped: 'not final (running)' })
    expect(final!.exported!.pipeline.traceId).toBe('7615a6d1f217c307ad48aeb372565ed0')
    expect(attribute(final!.exported!.pipeline, 'svc.cicd.root.resolved')).toBeUndefined()
  })

  test.each([
    ['e02-blocked-by-a-manual-job', 'manual'],
    ['e02-waiting-for-a-delayed-job', 'scheduled'],
  ])('edge 02: %s is skipped unless exportBlocked is set', (name, status) => {
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

  test('edge 02: a blocked pipeline ends with its last job, and a waiting job is at its creation time', () => {
    const run = convertFixture('e02-blocked-by-a-manual-job', { exportBlocked: true })
    expect(timesOf(run.pipeline)).toEqual([at('09:20:14.318'), at('09:21:21.018')])
    expect(timesOf(run.jobs['wave-1'])).toEqual([at('09:20:14.368'), at('09:20:14.368')])
  })
})

describe('unusual statuses', () => {
  const failed = { status: 'failed', result: 'failure', code: StatusCode.ERROR, severityNumber: 17 }
  const canceled = { status: 'canceled', result: 'cancellation', code: undefined, severityNumber: 13 }
  test.each([
    { name: 'e03-status-failure', ...failed },
    { name: 'e03-status-in-capitals', ...failed },
    { name: 'e03-status-cancelled', ...canceled },
  ])('edge 03: $name is read as $status', ({ name, status, result, code, severityNumber }) => {
    const run = convertFixture(name)
    expect(attributes(run.pipeline)).toMatchObject({ 'pipeline.status': status, 'cicd.pipeline.result': result })
    expect(run.pipeline.status?.code).toBe(code)
    expect(run.log.severityNumber).toBe(severityNumber)
    expect(attributes(run.jobs.weft!)).toMatchObject({ 'job.status': status, 'cicd.pipeline.task.run.result': result })
    expect(run.jobs.weft!.status?.code).toBe(code)
  })

  test('edge 03: the status of a job in mixed case is recognized', () => {
    expect(attribute(convertFixture('e03-status-in-capitals').jobs.warp!, 'job.status')).toBe('success')
  })

  test('edge 04: a pipeline with an unknown status is exported only if exportUnknown is set', () => {
    expect(decisionsOf('e04-unknown-status-with-finish')).toEqual(['unknown status'])

    const run = convertFixture('e04-unknown-status-with-finish', { exportUnknown: true })
    expect(attribute(run.pipeline, 'pipeline.status')).toBe('shelved')
    expect(keysOf(run.pipeline)).not.toContain('cicd.pipeline.result')
    expect(run.pipeline.status).toBeUndefined()
    expect(run.log).toMatchObject({ severityNumber: 5, body: { value: 'Pipeline shelved: master' } })
  })

  test('edge 04: a job with an unknown status does not prevent the export of its pipeline', () => {
    const run = convertFixture('e04-unknown-status-of-one-job')
    expect(attribute(run.jobs.unit!, 'job.status')).toBe('quarantined')
    expect(keysOf(run.jobs.unit!)).not.toContain('cicd.pipeline.task.run.result')
    expect(run.jobs.unit!.status).toBeUndefined()
    expect(run.jobLogs.unit).toMatchObject({ severityNumber: 5, body: { value: 'Job quarantined: unit (test)' } })
  })

  test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'edge 04: %s is treated like any unknown status, failure reason and state',
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
  test('edge 41: a completion after a retry is not exported again', () => {
    expect(decisionsOf('e41-finishes-again-after-a-retry')).toEqual([
      'exported',
      'already exported',
      'already exported',
    ])
  })

  test('edge 41: replace exports the pipeline span again, with the jobs that were not exported', () => {
    const [first, running, second] = convertEachOfFixture('e41-finishes-again-after-a-retry', { reexport: 'replace' })
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

  test('edge 41: link gives the later completion its own span in the same trace, linked to the first', () => {
    const [first, , second] = convertEachOfFixture('e41-finishes-again-after-a-retry', { reexport: 'link' })
    const { pipeline, jobs } = second!.exported!
    expect(first!.exported!.pipeline.spanId).toBe('83d27aa82063f28e')
    expect(pipeline).toMatchObject({ traceId: '0308e38774c4bdf58e9aaf7f81917a47', spanId: '81db3bfa304d22f6' })
    expect(pipeline.links).toMatchObject([
      { traceId: '0308e38774c4bdf58e9aaf7f81917a47', spanId: '83d27aa82063f28e', flags: 0x103 },
    ])
    expect(jobs.simulate!.parentSpanId).toBe('81db3bfa304d22f6')
  })

  test('edge 41: link: a later completion without a finish time has no link to itself', () => {
    const bodies = structuredClone(bodiesOf('e41-finishes-again-after-a-retry')) as PipelineHook[]
    bodies[2]!.object_attributes.finished_at = null
    const { pipeline } = convertEach(bodies, { reexport: 'link' })[2]!.exported!
    expect(pipeline.links.map(({ spanId }) => spanId)).not.toContain(pipeline.spanId)
  })

  test('edge 41: a later completion is not counted as a second run', () => {
    const [, , second] = convertEachOfFixture('e41-finishes-again-after-a-retry', { reexport: 'replace' })
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

describe('span status', () => {
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

  test('edge 54: an allowed failure is an ERROR of the job and a warning in its log, and does not affect the pipeline', () => {
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

  test('edge 54: the reason of a failed pipeline is never that of an allowed failure, even if that is earlier', () => {
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
  ])('edge 55: %s: the pipeline itself failed with the reason %s', (name, reason) => {
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

  test('edge 56: unknown_failure of a successful job is not a failure', () => {
    const run = convertFixture('e56-unknown-failure-on-a-job-that-succeeded')
    for (const owner of [run.jobs.unit!, run.jobLogs.unit!, run.pipeline]) {
      expect(keysOf(owner).filter((key) => /failure_reason|error\.type/.test(key))).toEqual([])
    }
    expect(run.jobs.unit!.status?.code).toBe(1)
    expect(attribute(run.jobs.unit!, 'svc.cicd.pipeline.task.run.attempt')).toBe(1n)
  })
})
