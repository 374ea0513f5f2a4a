import { describe, expect, test } from 'vitest'
import { at, attributes, convertBody, convertFixture, hookOf, keysOf } from './exported-run.ts'

const receivedAtNs = 1_790_000_000_000_000_000n

test('there is one record for the pipeline and one per job, in the order of the spans', () => {
  const run = convertFixture('push-pipeline-five-jobs-three-stages', {}, receivedAtNs)
  const { resources } = run.conversion.logs
  expect(resources).toHaveLength(1)
  expect(resources[0]!.scopes.map(({ scope }) => scope.name)).toEqual(['svc-ci-logs'])
  const records = resources[0]!.scopes[0]!.items
  expect(records.map(({ body }) => body?.value)).toEqual([
    'Pipeline success: main',
    'Job success: compile (build)',
    'Job success: unit (test)',
    'Job success: lint (test)',
    'Job success: publish-tables (deploy)',
    'Job success: notify-pilots (deploy)',
  ])
  expect(records.map(({ spanId }) => spanId)).toEqual(run.spans.map(({ spanId }) => spanId))
  for (const record of records) {
    expect(record.observedTimeUnixNano).toBe(receivedAtNs)
    expect(record.eventName).toBe('')
  }
})

test('a record has its level and source, then the attributes of its span', () => {
  const run = convertFixture('push-pipeline-five-jobs-three-stages')
  expect(keysOf(run.log).slice(0, 2)).toEqual(['log.level', 'log.source'])
  expect(attributes(run.log)).toEqual({ 'log.level': 'INFO', 'log.source': 'pipeline', ...attributes(run.pipeline) })
  expect(attributes(run.jobLogs.lint!)).toEqual({
    'log.level': 'INFO',
    'log.source': 'job',
    ...attributes(run.jobs.lint!),
  })
})

test('without a time of receipt, records are observed when the pipeline ended', () => {
  const run = convertFixture('push-pipeline-five-jobs-three-stages')
  expect(run.log.observedTimeUnixNano).toBe(at('09:25:11'))
  expect(run.jobLogs.compile!.observedTimeUnixNano).toBe(at('09:25:11'))
  expect(run.jobLogs.compile!.timeUnixNano).toBe(at('09:21:52'))
})

describe('the time of a job record is the first of finished, started, created and pipeline time', () => {
  test.each([
    [{ finished_at: '2026-02-11 09:22:00 UTC' }, at('09:22:00')],
    [{ finished_at: null, started_at: '2026-02-11 09:21:30 UTC' }, at('09:21:30')],
    [{ finished_at: null, started_at: null, created_at: '2026-02-11 09:21:00 UTC' }, at('09:21:00')],
    [{ finished_at: null, started_at: null, created_at: null }, at('09:25:11')],
  ])('%j', (fields, timeNs) => {
    const hook = hookOf('push-pipeline-five-jobs-three-stages')
    Object.assign(hook.builds[0]!, fields)
    expect(convertBody(hook).jobLogs.unit!.timeUnixNano).toBe(timeNs)
  })
})

test.each([
  ['success', 9, 'INFO'],
  ['failed', 17, 'ERROR'],
  ['canceled', 13, 'WARN'],
  ['canceling', 13, 'WARN'],
  ['skipped', 5, 'DEBUG'],
  ['manual', 5, 'DEBUG'],
  ['scheduled', 5, 'DEBUG'],
  ['created', 5, 'DEBUG'],
  ['pending', 5, 'DEBUG'],
  ['preparing', 5, 'DEBUG'],
  ['waiting_for_resource', 5, 'DEBUG'],
  ['waiting_for_callback', 5, 'DEBUG'],
  ['running', 5, 'DEBUG'],
  ['quarantined', 5, 'DEBUG'],
])('a job with status %s has the severity %i %s', (status, severityNumber, severityText) => {
  const hook = hookOf('push-pipeline-five-jobs-three-stages')
  hook.builds[0]!.status = status
  expect(convertBody(hook).jobLogs.unit).toMatchObject({
    severityNumber,
    severityText,
    body: { type: 'string', value: `Job ${status}: unit (test)` },
  })
})

describe('bodies', () => {
  const bodyOf = (name: string) => convertFixture(name).log.body?.value

  test('a pipeline with a name', () =>
    expect(bodyOf('pipeline-with-workflow-name')).toBe('Pipeline success: Tables for the winter season'))

  test.each(['e26-name-null-ref-present', 'e26-name-blank-ref-present'])(
    'edge 26: %s: the body contains the ref',
    (name) => expect(bodyOf(name)).toBe('Pipeline success: feature/slack-water'),
  )

  test('edge 27: without name and ref, the body contains the id', () => {
    expect(bodyOf('e27-name-and-ref-blank')).toBe('Pipeline success: #31')
    expect(bodyOf('e27-name-ref-and-project-name-missing')).toBe('Pipeline success: #445')
  })

  test('edge 53: the body of a job without a stage has no brackets', () => {
    const { jobLogs } = convertFixture('e53-job-without-a-stage')
    expect(jobLogs.stray!.body?.value).toBe('Job success: stray')
    expect(jobLogs['stray-null']!.body?.value).toBe('Job success: stray-null')
    expect(jobLogs.compile!.body?.value).toBe('Job success: compile (build)')
  })
})
