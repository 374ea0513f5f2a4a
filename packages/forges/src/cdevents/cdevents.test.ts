import { describe, expect, test } from 'vitest'
import { type Input, readInput } from '../read-input.ts'
import { OtherHookError } from '../record/record-error.ts'

const event = (type: string, subject: object, more: object = {}) => ({
  specversion: '1.0',
  id: '6f3c2b1a-0d4e-4f5a-9b8c-7d6e5f4a3b2c',
  source: 'https://tekton.example.com/ci',
  type,
  time: '2026-02-03T04:06:40Z',
  datacontenttype: 'application/json',
  data: { context: { timestamp: '2026-02-03T04:06:36.5Z' }, subject },
  ...more,
})
const run = (content: object = {}) =>
  event('dev.cdevents.pipelinerun.finished.0.2.0', {
    id: 'ci/app-417',
    content: { pipelineName: 'build', outcome: 'success', url: 'https://tekton.example.com/ci/app-417', ...content },
  })
const task = (content: object = {}) =>
  event('dev.cdevents.taskrun.finished.0.3.0', {
    id: 'ci/app-417-unit',
    content: { taskName: 'unit', outcome: 'failure', pipelineRun: { id: 'ci/app-417' }, ...content },
  })
const read = (body: object): Input => readInput(body, { receivedAtNs: undefined })

test('a finished run', () => {
  expect(read(run())).toMatchObject({
    kind: 'pipeline',
    record: {
      forge: 'cdevents',
      id: 'ci/app-417',
      name: 'build',
      status: 'success',
      finishedAtNs: 1_770_091_596_500_000_000n,
      url: 'https://tekton.example.com/ci/app-417',
      project: { server: 'tekton.example.com' },
      jobs: [],
      jobsUnknown: true,
    },
    warnings: { total: 0 },
  })
})

test('a finished task is a job of its run', () => {
  expect(read(task())).toMatchObject({
    kind: 'job',
    event: { pipelineId: 'ci/app-417', job: { id: 'ci/app-417-unit', name: 'unit', status: 'failed' } },
    warnings: { total: 0 },
  })
})

test.each([
  ['failure', 'failed', undefined],
  ['error', 'failed', 'infrastructure_failure'],
  ['cancel', 'canceled', undefined],
  ['later', 'later', undefined],
])('the outcome %s is %s', (outcome, status, failureReason) => {
  expect(read(run({ outcome }))).toMatchObject({ record: { status, failureReason } })
})

test('without a timestamp, the time of the envelope is the end; the producer may be a path', () => {
  const { data } = run()
  const body = { ...run(), source: '/ci', data: { subject: data.subject } }
  expect(read(body)).toMatchObject({
    record: { finishedAtNs: 1_770_091_600_000_000_000n, project: { server: '/ci' } },
  })
})

test('without a source, the ids of two producers would be the same', () => {
  for (const body of [run(), task()]) {
    expect(() => read({ ...body, source: undefined })).toThrow('source: must be a text, got nothing')
  }
})

describe('not read', () => {
  test('other events are skipped', () => {
    const started = { ...run(), type: 'dev.cdevents.pipelinerun.started.0.2.0' }
    expect(() => read(started)).toThrow(OtherHookError)
  })

  test('a task without its run, and a run without an outcome', () => {
    const where = 'data.subject.content'
    expect(() => read(task({ pipelineRun: undefined }))).toThrow(`${where}.pipelineRun: must be an object, got nothing`)
    expect(() => read(run({ outcome: undefined }))).toThrow(`${where}.outcome: must be a text, got nothing`)
  })
})
