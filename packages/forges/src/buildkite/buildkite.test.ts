import { createHash, createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { fixtureBodies, lastRecord, readBody, readRecord } from '../forge-fixtures.harness.ts'
import { withJobEvents } from '../gitlab/job-events.ts'
import type { JobRecord } from '../record/pipeline-record.ts'
import { hookRules } from './hook-rules.ts'

const retriedBuild = { id: 'b', number: 1, state: 'failed', commit: 'HEAD', branch: 'main' }

const jobsOf = (name: string): readonly JobRecord[] => lastRecord(name).jobs

test('waits and blocks are no jobs', () => {
  expect(jobsOf('buildkite-build-of-the-api').map(({ name }) => name)).toEqual(['Test', 'Lint', 'Package'])
})

test('a job waits in the queue since it was runnable', () => {
  expect(jobsOf('buildkite-build-of-the-api').map(({ queuedSeconds }) => queuedSeconds)).toEqual([19, 49, 30])
})

test('a retry names the job before it, whatever the order of the list', () => {
  const jobs = jobsOf('buildkite-retried-job')
  expect(jobs.map(({ attempt, effective }) => [attempt, effective])).toEqual([
    [1, false],
    [2, false],
    [3, true],
  ])
  expect(jobs.map(({ previousAttemptId }) => previousAttemptId)).toEqual([undefined, jobs[0]?.id, jobs[1]?.id])
})

test('parallel jobs of one name are no attempts', () => {
  const jobs = jobsOf('buildkite-parallel-jobs-of-one-name')
  expect(jobs.map(({ attempt, effective }) => [attempt, effective])).toEqual(Array(3).fill([undefined, true]))
})

test('a soft failure does not fail the build, and a broken job was skipped', () => {
  const words = jobsOf('buildkite-soft-failed-and-broken-jobs').map(({ name, status, allowFailure }) => [
    name,
    status,
    allowFailure,
  ])
  expect(words.toSorted()).toEqual([
    ['Audit', 'failed', true],
    ['Nightly', 'skipped', false],
    ['Publish', 'skipped', false],
    ['Test', 'success', false],
  ])
})

test('a blocked build is not final, although it is sent as finished', () => {
  const [fixture] = fixtureBodies('buildkite-blocked-then-finished')
  expect(fixture?.bodies.map((body) => readRecord(body).status)).toEqual(['manual', 'manual', 'success'])
})

test('a trigger is a bridge, and the triggered build names the build before it', () => {
  const [fixture] = fixtureBodies('buildkite-trigger-and-the-triggered-build')
  const [parent, child] = fixture?.bodies.map(readRecord) ?? []
  expect(parent?.jobs.find(({ bridge }) => bridge)?.downstream?.pipelineId).toBe(child?.id)
  expect(child?.upstream?.pipelineId).toBe(parent?.id)
})

test('a rebuild is linked to the build before it', () => {
  const [fixture] = fixtureBodies('buildkite-rebuilt-pull-request-without-creator')
  const [first, second] = fixture?.bodies.map(readRecord) ?? []
  expect(second?.previousAttempt).toEqual({ runId: first?.id })
  expect(first).toMatchObject({ mergeRequest: { iid: 77n, targetBranch: 'main' }, user: undefined })
})

test('a build of HEAD has no commit yet', () => {
  expect(lastRecord('buildkite-tag-build-of-head')).toMatchObject({ sha: undefined, ref: 'v1.4.0', tag: true })
})

test('the hook of a retry names the job before it', () => {
  const build = { id: 'b' }
  const job = { id: 'j2', type: 'script', state: 'passed', retries_count: 1, retry_source: { job_id: 'j1' } }
  const input = readBody({ event: 'job.finished', build, job })
  expect(input).toMatchObject({ kind: 'job', event: { pipelineId: 'b', job: { attempt: 2, previousAttemptId: 'j1' } } })
})

test('the hook of a retry replaces the job before it, although the hook of that job does not contain the retry', () => {
  const build = { id: 'b' }
  const jobs = [
    { id: 'j1', type: 'script', state: 'failed', retried: false },
    { id: 'j2', type: 'script', state: 'passed', retry_source: { job_id: 'j1' } },
  ]
  const events = jobs.flatMap((job) => {
    const input = readBody({ event: 'job.finished', build, job })
    return input.kind === 'job' ? [input.event] : []
  })
  const run = readRecord({ event: 'build.finished', build: { ...build, number: 1, state: 'passed' } })
  const effective = withJobEvents(run, events).jobs.map(({ id, effective }) => [id, effective])
  expect(effective).toEqual([
    ['j1', false],
    ['j2', true],
  ])
})

const token = Buffer.from('secret-token')
const credentials = {
  tokenDigests: [createHash('sha256').update(token).digest()],
  secretTokens: [token],
  signingKeys: [],
}
const body = Buffer.from('{"event":"build.finished"}')
const nowMs = 1_764_500_000_000
const sign = (timestamp: number): string =>
  `timestamp=${timestamp},signature=${createHmac('sha256', token).update(`${timestamp}.`).update(body).digest('hex')}`

test.each([
  [sign(1_764_500_000), undefined],
  [sign(1_764_499_700), undefined],
  [sign(1_764_499_699), 'timestamp_outside_window'],
  [sign(1_764_500_301), 'timestamp_outside_window'],
  ['timestamp=soon,signature=00', 'timestamp_unreadable'],
  ['timestamp=1764500000', 'signature_missing'],
  ['timestamp=1764500000,signature=00ff', 'signature_wrong'],
  [sign(1_764_500_000).replace('1764500000', '1764500001'), 'signature_wrong'],
])('the signature %s', (signature, refusal) => {
  const headers = { 'x-buildkite-signature': signature }
  const early = hookRules.validateHeaders(credentials, { headers, serviceName: 'x', nowMs })
  expect(early ?? hookRules.validateSignature(credentials, headers, body)).toBe(refusal)
})

test('without a signature, the token is validated', () => {
  const validate = (headers: Record<string, string>) =>
    hookRules.validateHeaders(credentials, { headers, serviceName: 'x', nowMs })
  expect(validate({ 'x-buildkite-token': 'secret-token' })).toBeUndefined()
  expect(validate({})).toBe('token_missing')
  expect(validate({ 'x-buildkite-token': 'wrong' })).toBe('token_wrong')
})

test('a long chain of retries is numbered in time that grows with its length', () => {
  const jobs = Array.from({ length: 20_000 }, (_, index) => ({
    id: `j${index}`,
    type: 'script',
    state: 'failed',
    retried_in_job_id: `j${index + 1}`,
  }))
  const { jobs: read } = readRecord({ ...retriedBuild, jobs })
  expect(Math.max(...read.map(({ attempt }) => attempt ?? 0))).toBe(20_000)
})

test('retries that form a circle have no numbers', () => {
  const jobs = [
    { id: 'a', state: 'failed', retried_in_job_id: 'b' },
    { id: 'b', state: 'failed', retried_in_job_id: 'a' },
  ]
  expect(readRecord({ ...retriedBuild, jobs }).jobs.map(({ attempt }) => attempt)).toEqual([undefined, undefined])
})
