import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readInput } from '../read-input.ts'
import { RecordError } from '../record/record-error.ts'
import { recordExample, recordSchema } from './record-members.ts'

const read = (body: unknown) => {
  const input = readInput(body, { receivedAtNs: 7n })
  if (input.kind !== 'pipeline') throw new Error('no pipeline')
  return { record: input.record, warnings: input.warnings }
}
const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(recordSchema())

test('the example is valid and is read', () => {
  expect(validate(recordExample)).toBe(true)
  const { record, warnings } = read(recordExample)
  expect(warnings.total).toBe(0)
  expect(record).toMatchObject({
    forge: 'penstock',
    id: 'app-main-417',
    status: 'failed',
    source: 'push',
    createdAtNs: 1_770_091_506_000_000_000n,
    project: { id: 12n, webUrl: 'https://ci.example.com/team/app' },
    jobs: [
      { id: 'unit', runner: { name: 'linux-3', tags: ['linux'] }, steps: [{ name: 'npm test', status: 'failed' }] },
    ],
    bridgesListed: false,
    receivedAtNs: 7n,
  })
})

test('attempts, parents, changes and groups', () => {
  const { record } = read({
    penstockRecord: 1,
    run: { id: 9, attempt: 2, status: 'cancelled' },
    previousAttempt: { runId: 9, attempt: 1 },
    parent: { runId: 'a', jobId: 'b' },
    change: { number: 4, title: 'Fix' },
    jobs: [
      { id: 'two', status: 'success', previousAttemptId: 'one', attempt: 2, group: { name: 'unit', index: 1 } },
      { id: 'one', status: 'failure', failureReason: 'timed_out', startsRun: true },
    ],
  })
  expect(record).toMatchObject({
    id: 9n,
    attempt: 2,
    status: 'canceled',
    previousAttempt: { runId: 9n, attempt: 1 },
    upstream: { pipelineId: 'a', bridgeId: 'b', otherProject: false },
    mergeRequest: { iid: 4n, title: 'Fix', draft: false },
    bridgesListed: true,
    jobs: [
      { id: 'one', bridge: true, effective: false, status: 'failed', failureReason: 'timed_out' },
      { id: 'two', bridge: false, effective: true, group: { name: 'unit', index: 1 } },
    ],
  })
})

test('a record without a list of jobs has an unknown number of jobs', () => {
  const run = { id: 1, status: 'success' }
  expect(read({ penstockRecord: 1, run }).record.jobsUnknown).toBe(true)
  expect(read({ penstockRecord: 1, run, jobs: [] }).record.jobsUnknown).toBeUndefined()
})

test('the order of the jobs does not matter', () => {
  const jobs = fc.uniqueArray(
    fc.record({
      id: fc.oneof(fc.integer({ min: 1, max: 99 }), fc.stringMatching(/^[a-z]{1,3}$/)),
      status: fc.constantFrom('success', 'failed', 'skipped'),
      createdAt: fc.constantFrom('2026-02-03T04:05:06Z', '2026-02-03T04:05:07Z'),
    }),
    { selector: ({ id }) => id },
  )
  fc.assert(
    fc.property(
      jobs.chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length }))),
      ([one, other]) => {
        const record = (list: readonly object[]) =>
          read({ penstockRecord: 1, run: { id: 1, status: 'success' }, jobs: list }).record
        expect(record(other)).toEqual(record(one))
      },
    ),
  )
})

describe('refused by the reader and by the schema', () => {
  const run = { id: 1, status: 'success' }
  test.each([
    [{ penstockRecord: 1 }, 'run: must be an object, got nothing'],
    [{ penstockRecord: 2, run }, 'penstockRecord: must be 1'],
    [{ penstockRecord: 1, run: { status: 'success' } }, 'run.id: must be an integer above 0, got nothing'],
    [{ penstockRecord: 1, run: { id: 1 } }, 'run.status: must be a text, got nothing'],
    [{ penstockRecord: 1, run, colour: 'red' }, 'colour: is not a member of a Penstock record'],
    [{ penstockRecord: 1, run, jobs: [{ id: 1, status: 'success', x: 1 }] }, 'jobs[0].x: is not a member'],
    [{ penstockRecord: 1, run, jobs: [{ status: 'success' }] }, 'jobs[0].id: must be an integer above 0'],
    [
      { penstockRecord: 1, run, jobs: [{ id: 1, status: 'success', group: { index: 1 } }] },
      'jobs[0].group.name: must be a text, got nothing',
    ],
  ])('%j', (body, message) => {
    expect(validate(body)).toBe(false)
    expect(() => read(body)).toThrow(RecordError)
    expect(() => read(body)).toThrow(message)
  })
})

test.each([
  ['two jobs with one id', [{ id: '7' }, { id: 7 }], 'jobs[1].id: is the id of another job'],
  [
    'an attempt before that is not listed',
    [{ id: 1, previousAttemptId: 2 }],
    'jobs[0].previousAttemptId: must be the id of another job',
  ],
  [
    'an attempt that is its own',
    [{ id: 1, previousAttemptId: 1 }],
    'jobs[0].previousAttemptId: must be the id of another job',
  ],
])('%s', (_, jobs, message) => {
  const body = {
    penstockRecord: 1,
    run: { id: 1, status: 'success' },
    jobs: jobs.map((job) => ({ ...job, status: 'success' })),
  }
  expect(() => read(body)).toThrow(message)
})

test('attempts count from 1', () => {
  const { record, warnings } = read({ penstockRecord: 1, run: { id: 1, status: 'success', attempt: 0 } })
  expect(record.attempt).toBeUndefined()
  expect(warnings.items).toEqual([{ path: 'run.attempt', reason: 'must be an integer above 0, got 0' }])
})

test('ids that differ only in leading zeros are different', () => {
  const jobs = ['1', '01', '0'].map((id) => ({ id, status: 'success' }))
  const { record } = read({ penstockRecord: 1, run: { id: 1, status: 'success' }, jobs })
  expect(record.jobs.map(({ id }) => id)).toEqual([1n, '0', '01'])
})

test('an environment may name the deployment', () => {
  const environment = { name: 'production', deploymentId: 7, deploymentName: 'blue' }
  const jobs = [
    { id: 1, status: 'success', environment },
    { id: 2, status: 'success', environment: { name: 'production' } },
  ]
  const { record } = read({ penstockRecord: 1, run: { id: 1, status: 'success' }, jobs })
  expect(record.jobs.map((job) => job.environment?.deployment)).toEqual([{ id: 7n, name: 'blue' }, undefined])
})
