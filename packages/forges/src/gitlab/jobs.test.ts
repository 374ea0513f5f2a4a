import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bodyFields } from '../body/fields.ts'
import { arrangeJobs } from '../record/arrange-jobs.ts'
import type { JobRecord } from '../record/pipeline-record.ts'
import { newWarnings } from '../record/warnings.ts'
import { readJobs } from './jobs.ts'

const noProject = { id: undefined, name: undefined, webUrl: undefined, path: undefined }

function jobsOf(builds: readonly object[], bridges: readonly object[] = []): readonly JobRecord[] {
  const body = bodyFields({ builds, bridges }, newWarnings())
  return arrangeJobs([...readJobs(body, 'builds', noProject)!, ...readJobs(body, 'bridges', noProject)!])
}

const at = (second: number) => new Date(Date.UTC(2026, 0, 5, 10, 0, second)).toISOString()

describe('the order of jobs', () => {
  test('is by creation time, then id; jobs without a creation time come last, by id', () => {
    const jobs = jobsOf([
      { id: 9, status: 'success' },
      { id: 4, status: 'success', created_at: at(2) },
      { id: 8, status: 'success', created_at: '' },
      { id: 7, status: 'success', created_at: at(1) },
      { id: 2, status: 'success', created_at: at(2) },
    ])
    expect(jobs.map((job) => job.id)).toEqual([7n, 2n, 4n, 8n, 9n])
  })
})

describe('edge 39: of two jobs with one id, the list keeps', () => {
  test('the bridge, even if it ended earlier', () => {
    const bridge = { id: 5, name: 'deploy', status: 'running' }
    const build = { id: 5, name: 'deploy', status: 'success', finished_at: at(9) }
    expect(jobsOf([build], [bridge])).toMatchObject([{ id: 5n, bridge: true, status: 'running' }])
  })

  test('else the job with the later end', () => {
    const jobs = jobsOf([
      { id: 5, status: 'running', retries_count: 7 },
      { id: 5, status: 'success', finished_at: at(9) },
      { id: 5, status: 'failed', finished_at: at(8) },
    ])
    expect(jobs).toMatchObject([{ status: 'success' }])
  })

  test('else the job with the higher attempt', () => {
    const jobs = jobsOf([
      { id: 5, status: 'failed', finished_at: at(9), retries_count: 1 },
      { id: 5, status: 'success', finished_at: at(9), retries_count: 2 },
      { id: 5, status: 'canceled', finished_at: at(9) },
    ])
    expect(jobs).toMatchObject([{ status: 'success', attempt: 3 }])
  })
})

describe('edge 40: attempts', () => {
  test('jobs of one name and stage are numbered by id, and the last one is effective', () => {
    const jobs = jobsOf([
      { id: 7, name: 'unit', stage: 'test', status: 'success', created_at: at(3) },
      { id: 5, name: 'unit', stage: 'test', status: 'failed', created_at: at(1) },
      { id: 6, name: 'unit', stage: 'test', status: 'failed', created_at: at(2) },
    ])
    expect(jobs).toMatchObject([
      { id: 5n, attempt: 1, previousAttemptId: undefined, effective: false },
      { id: 6n, attempt: 2, previousAttemptId: 5n, effective: false },
      { id: 7n, attempt: 3, previousAttemptId: 6n, effective: true },
    ])
  })

  test('a single job has no attempt number unless the source contains it', () => {
    expect(jobsOf([{ id: 5, name: 'unit', stage: 'test', status: 'failed' }])).toMatchObject([
      { attempt: undefined, previousAttemptId: undefined, effective: true },
    ])
    expect(jobsOf([{ id: 5, name: 'unit', stage: 'test', status: 'failed', retries_count: 2 }])).toMatchObject([
      { attempt: 3, previousAttemptId: undefined, effective: true },
    ])
  })

  test('the attempt number of the source takes precedence over the position', () => {
    const unit = { name: 'unit', stage: 'test', status: 'failed' }
    expect(
      jobsOf([
        { ...unit, id: 6, retries_count: 3 },
        { ...unit, id: 5, retries_count: 2 },
      ]),
    ).toMatchObject([
      { id: 5n, attempt: 3, effective: false },
      { id: 6n, attempt: 4, previousAttemptId: 5n, effective: true },
    ])
  })

  test('jobs of the same name in other stages are other jobs', () => {
    const jobs = jobsOf(
      [
        { id: 1, name: 'unit', stage: 'test', status: 'success' },
        { id: 2, name: 'unit', stage: 'deploy', status: 'success' },
        { id: 3, name: 'unit', status: 'success' },
        { id: 4, status: 'success' },
        { id: 5, status: 'success' },
        { id: 6, name: 't unit', stage: 'tes', status: 'success' },
      ],
      [{ id: 7, name: 'unit', stage: 'test', status: 'success' }],
    )
    expect(jobs.every((job) => job.effective && job.attempt === undefined)).toBe(true)
  })

  test('bridges have attempts too', () => {
    const jobs = jobsOf(
      [],
      [
        { id: 2, name: 'child', stage: 'deploy', status: 'success' },
        { id: 1, name: 'child', stage: 'deploy', status: 'failed' },
      ],
    )
    expect(jobs).toMatchObject([
      { id: 1n, attempt: 1, effective: false },
      { id: 2n, attempt: 2, previousAttemptId: 1n, effective: true },
    ])
  })
})

const job = fc.record(
  {
    id: fc.integer({ min: 1, max: 9 }),
    name: fc.constantFrom('unit', 'lint', ''),
    stage: fc.constantFrom('test', 'build', null),
    status: fc.constantFrom('success', 'failed'),
    created_at: fc.constantFrom(at(1), at(2), null),
    finished_at: fc.constantFrom(at(3), at(4), null),
    retries_count: fc.constantFrom(0, 1, null),
    duration: fc.constantFrom(1, 2.5),
    bridge: fc.boolean(),
  },
  { requiredKeys: ['id', 'status'] },
)
const listings = fc
  .array(job, { maxLength: 12 })
  .chain((jobs) => fc.tuple(fc.constant(jobs), fc.shuffledSubarray(jobs, { minLength: jobs.length })))

test('edges 39, 40: the result does not depend on the order of the list', () => {
  fc.assert(
    fc.property(listings, ([jobs, shuffled]) => {
      expect(jobsOf(shuffled)).toEqual(jobsOf(jobs))
    }),
    { numRuns: 1000 },
  )
})

test('edges 39, 40: ids are unique, one attempt of each job is effective, and each later one refers to a listed one', () => {
  fc.assert(
    fc.property(fc.array(job, { maxLength: 12 }), (listed) => {
      const jobs = jobsOf(listed)
      const ids = new Set(jobs.map((one) => one.id))
      expect(ids.size).toBe(jobs.length)
      expect(ids).toEqual(new Set(listed.map((one) => BigInt(one.id))))
      for (const one of jobs) {
        if (one.previousAttemptId !== undefined) {
          expect(ids.has(one.previousAttemptId)).toBe(true)
          expect(one.previousAttemptId < one.id).toBe(true)
        }
        const replaced = jobs.some((other) => other.previousAttemptId === one.id)
        expect(one.effective).toBe(!replaced)
      }
    }),
  )
})
