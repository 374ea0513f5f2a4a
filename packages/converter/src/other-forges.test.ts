import type { PipelineRecord } from '@penstock/forges/record'
import type { KeyValue, Span } from '@penstock/otlp'
import { describe, expect, test } from 'vitest'
import { absentRunnerFields } from '../../forges/src/record/absent-fields.ts'
import { type ConvertOptionsInput, convert, recordInstance, resolveOptions } from './index.ts'
import { job, run, second, step } from './other-forges.harness.ts'

const conversion = (record: PipelineRecord, options: ConvertOptionsInput = {}) =>
  convert(record, resolveOptions(options))
const toSpans = (record: PipelineRecord, options?: ConvertOptionsInput): readonly Span[] =>
  conversion(record, options).traces.resources[0]?.scopes[0]?.items ?? []
const toValues = (attributes: readonly KeyValue[] = []): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value]))
const metricNames = (record: PipelineRecord): string[] =>
  (conversion(record).metrics.resources[0]?.scopes[0]?.items ?? []).map(({ name }) => name)

describe('steps', () => {
  const steps = [
    step('Set up job', 'success', 10, 12),
    step('npm test', 'failed', 12, 39),
    step('Upload', 'skipped', 900_000, 1_800_000),
    step('Never', 'skipped'),
    step(undefined, 'success', 39),
  ]
  const record = run({ jobs: [job({ steps })] })

  test('are spans below their job, numbered by their position', () => {
    const [pipeline, task, ...spans] = toSpans(record)
    expect(spans.map(({ name }) => name)).toEqual(['step: Set up job', 'step: npm test', 'step: Upload', 'step: #5'])
    for (const span of spans) expect(span).toMatchObject({ parentSpanId: task?.spanId, traceId: pipeline?.traceId })
    expect(new Set([pipeline, task, ...spans].map((span) => span?.spanId)).size).toBe(6)
    expect(toValues(spans[1]?.attributes)).toEqual({
      'svc.cicd.pipeline.step.name': 'npm test',
      'svc.cicd.pipeline.step.number': 2n,
      'svc.cicd.pipeline.step.status': 'failed',
      'svc.cicd.pipeline.step.result': 'failure',
    })
    expect(spans.map(({ status }) => status?.code)).toEqual([1, 2, undefined, 1])
  })

  test('a step that never ran has no length and lies within its job, and one without a time has no span', () => {
    const [, , , , upload, last] = toSpans(record)
    expect(upload).toMatchObject({ startTimeUnixNano: second(40), endTimeUnixNano: second(40) })
    expect(toValues(upload?.attributes)).toMatchObject({
      'svc.cicd.pipeline.step.number': 3n,
      'svc.cicd.pipeline.step.result': 'skip',
      'svc.cicd.timestamps.adjusted': true,
    })
    expect(last).toMatchObject({ startTimeUnixNano: second(39), endTimeUnixNano: second(40) })
  })

  test('have no log record and change no metric', () => {
    const without = run({ jobs: [job()] })
    expect(conversion(record).logs).toEqual(conversion(without).logs)
    expect(conversion(record).metrics).toEqual(conversion(without).metrics)
  })

  test('are left out by the option', () => {
    expect(toSpans(record, { steps: false })).toHaveLength(2)
  })

  test('are at most 1,000 for a job', () => {
    const many = Array.from({ length: 1_003 }, (_, at) => step('same', 'success', at, at + 1))
    const { traces, tally } = conversion(run({ jobs: [job({ steps: many })] }))
    expect(traces.resources[0]?.scopes[0]?.items).toHaveLength(1_002)
    expect(tally.droppedElements).toBe(3)
  })
})

test('the number of an attempt with a run id of its own is not part of its ids: only REST contains it', () => {
  const [hook, rest] = [run(), run({ attempt: 2, attemptHasOwnId: true })].map((record) => toSpans(record)[0])
  expect(rest?.traceId).toBe(hook?.traceId)
  expect(rest?.spanId).toBe(hook?.spanId)
  expect(toValues(rest?.attributes)['svc.cicd.pipeline.run.attempt']).toBe(2n)
})

test('a name with two numbers at its end is one of a group on GitLab only', () => {
  const groups = ['github', 'gitlab'].map((forge) => {
    const [, span] = toSpans(run({ forge, jobs: [job({ name: 'node 20 22' })] }))
    return toValues(span?.attributes)['svc.cicd.pipeline.task.group']
  })
  expect(groups).toEqual([undefined, 'node'])
})

describe('attempts of a run', () => {
  const first = run({ attempt: 1 })
  const secondAttempt = run({
    attempt: 2,
    previousAttempt: { runId: first.id, attempt: 1 },
    startedAtNs: second(100),
    updatedAtNs: second(160),
    jobs: [job({ id: 72n, startedAtNs: second(110), finishedAtNs: second(161) })],
  })

  test('each has its own trace, with a link to the span of the attempt before', () => {
    const [one] = toSpans(first)
    const [other] = toSpans(secondAttempt)
    expect(other?.traceId).not.toBe(one?.traceId)
    expect(other?.spanId).not.toBe(one?.spanId)
    expect(one?.links).toEqual([])
    expect(other?.links).toMatchObject([{ traceId: one?.traceId, spanId: one?.spanId }])
    expect(toValues(other?.links[0]?.attributes)).toEqual({ 'svc.cicd.link.type': 'previous_attempt' })
    expect(toValues(other?.attributes)).toMatchObject({ 'svc.cicd.pipeline.run.attempt': 2n })
    expect(toValues(one?.attributes)).toMatchObject({ 'svc.cicd.pipeline.run.attempt': 1n })
  })

  test('the first attempt has the ids of a run without attempts', () => {
    expect(toSpans(first).map(({ spanId }) => spanId)).toEqual(toSpans(run()).map(({ spanId }) => spanId))
  })

  test('a rerun with an id of its own is linked to the run that it names', () => {
    const rerun = run({ forge: 'circleci', id: 'b', previousAttempt: { runId: 'a' } })
    const [before] = toSpans(run({ forge: 'circleci', id: 'a' }))
    expect(toSpans(rerun)[0]?.links).toMatchObject([{ traceId: before?.traceId, spanId: before?.spanId }])
  })

  test('start with the attempt, and end with its last job, at the latest with the update of the run', () => {
    expect(toSpans(secondAttempt)[0]).toMatchObject({ startTimeUnixNano: second(100), endTimeUnixNano: second(160) })
    const early = { ...secondAttempt, jobs: [job({ startedAtNs: second(110), finishedAtNs: second(150) })] }
    expect(toSpans(early)[0]).toMatchObject({ startTimeUnixNano: second(100), endTimeUnixNano: second(150) })
  })
})

describe('ids', () => {
  const toIds = (record: PipelineRecord, options?: ConvertOptionsInput): string[] =>
    toSpans(record, options).flatMap(({ traceId, spanId }) => [traceId, spanId])

  test('are different for every forge, server and attempt', () => {
    const forges = ['gitlab', 'github', 'gitea', 'jenkins', 'penstock']
    const hosts = ['https://ci.example.com/team/app', 'https://ci.example.org/team/app']
    const records = forges.flatMap((forge) =>
      hosts.flatMap((webUrl) =>
        [1, 2, 3].map((attempt) => run({ forge, attempt, project: { ...run().project, webUrl } })),
      ),
    )
    const ids = records.flatMap((record) => [...new Set(toIds(record))])
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.length).toBe(records.length * 3)
  })

  test('of jobs are different in every run, also if the forge counts its jobs within a run', () => {
    const [, one] = toSpans(run({ forge: 'jenkins', id: 'app#1', jobs: [job({ id: '14' })] }))
    const [, other] = toSpans(run({ forge: 'jenkins', id: 'app#2', jobs: [job({ id: '14' })] }))
    expect(one?.spanId).not.toBe(other?.spanId)
  })

  test('are hashed for every forge but GitLab', () => {
    expect(toIds(run(), { idScheme: 'native' })).toEqual(toIds(run()))
  })

  test('of another instance are those of the option', () => {
    const at = (webUrl: string) => toIds(run({ project: { ...run().project, webUrl } }), { instanceId: 'here' })
    expect(at('https://a.example/t/a')).toEqual(at('https://b.example/t/a'))
  })

  test('a child of another run joins its trace, and that of the attempt that started it', () => {
    const parent = run({ attempt: 2 })
    const upstream = {
      pipelineId: parent.id,
      attempt: 2,
      bridgeId: undefined,
      otherProject: false,
      projectWebUrl: undefined,
    }
    const [child] = toSpans(run({ id: 9n, attempt: 1, upstream }))
    const [span] = toSpans(parent)
    expect(child).toMatchObject({ traceId: span?.traceId, parentSpanId: span?.spanId })
  })

  test('a job hook has the instance of its run', () => {
    const { forge, project } = run()
    const instance = recordInstance(run({ attempt: 2 }), { instanceId: undefined })
    expect(recordInstance({ forge, project, runAttempt: 2 }, { instanceId: undefined })).toBe(instance)
    expect(instance).toBe('github github.com#2')
  })
})

describe('attributes', () => {
  test('the provider is the forge', () => {
    const { resource } = conversion(run(), { providerName: 'svc' }).traces.resources[0] ?? {}
    expect(toValues(resource?.attributes)).toMatchObject({ 'vcs.provider.name': 'github', 'service.name': 'app' })
  })

  test('an id that is a text has no attribute of an integer', () => {
    const texts = run({
      forge: 'circleci',
      id: '0b1c4a52-7b1c-4d58-9a40-4f1d0ad6a3f9',
      user: { id: 'u-1', username: 'ada' },
      project: { ...run().project, id: '4f1d' },
      jobs: [job({ id: 'j-1', runner: { ...absentRunnerFields, id: 'r-1', name: 'vm', group: 'large' } })],
    })
    const { resource, scopes } = conversion(texts).traces.resources[0] ?? {}
    const [pipeline, task] = (scopes?.[0]?.items ?? []).map(({ attributes }) => toValues(attributes))
    expect(toValues(resource?.attributes)['svc.vcs.repository.id']).toBe('4f1d')
    expect(pipeline?.['cicd.pipeline.run.id']).toBe('0b1c4a52-7b1c-4d58-9a40-4f1d0ad6a3f9')
    for (const key of ['pipeline.id', 'pipeline.user.id']) expect(pipeline).not.toHaveProperty(key)
    for (const key of ['job.id', 'job.runner.id']) expect(task).not.toHaveProperty(key)
    expect(task).toMatchObject({ 'cicd.worker.id': 'r-1', 'cicd.worker.name': 'vm', 'svc.cicd.worker.group': 'large' })
    const [hidden] = toSpans(texts, { user: 'hash' })
    expect(toValues(hidden?.attributes)).not.toHaveProperty('pipeline.user.id')
  })

  test('durations that no forge reports are computed: busy time is the union of the jobs', () => {
    const jobs = [
      job(),
      job({ id: 72n, startedAtNs: second(30), finishedAtNs: second(50) }),
      job({ id: 73n, startedAtNs: second(55), finishedAtNs: second(60) }),
      job({ id: 74n, status: 'skipped', startedAtNs: second(0), finishedAtNs: second(60) }),
    ]
    const [pipeline, task] = toSpans(run({ jobs })).map(({ attributes }) => toValues(attributes))
    expect(pipeline?.['pipeline.duration']).toBe(45)
    expect(task?.['job.duration']).toBe(30)
    const [given] = toSpans(run({ jobs, durationSeconds: 7 })).map(({ attributes }) => toValues(attributes))
    expect(given?.['pipeline.duration']).toBe(7)
  })

  test('the number of jobs is left out if the forge lists no jobs', () => {
    const names = metricNames(run({ jobs: [], jobsUnknown: true }))
    expect(names).not.toContain('pipeline.jobs_total')
    expect(metricNames(run({ jobs: [] }))).toContain('pipeline.jobs_total')
  })

  test('a forge without stages has none', () => {
    const [pipeline, task] = toSpans(run(), { stageSpans: true }).map(({ attributes }) => toValues(attributes))
    expect(pipeline).not.toHaveProperty('pipeline.stages')
    expect(task).not.toHaveProperty('job.stage')
  })

  test.each([
    ['timed_out', 'timeout'],
    ['startup_failure', 'error'],
    ['infrastructure_failure', 'error'],
    ['unit tests', 'failure'],
  ])('the refined result of a failure by %s is %s', (failureReason, result) => {
    const failed = run({ status: 'failed', failureReason })
    const results = [false, true].map(
      (refinedResults) => toValues(toSpans(failed, { refinedResults })[0]?.attributes)['cicd.pipeline.result'],
    )
    expect(results).toEqual(['failure', result])
  })
})
