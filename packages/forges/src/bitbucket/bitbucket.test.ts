import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { fixtureBodies, lastRecord, readBody, readRecord } from '../forge-fixtures.harness.ts'
import { OtherHookError } from '../record/record-error.ts'
import { hookRules } from './hook-rules.ts'

test('ids have no braces, and URLs have them escaped', () => {
  const { id, project, jobs, url } = lastRecord('bitbucket-push-to-main')
  for (const each of [id, project.id, ...jobs.map((job) => job.id)]) expect(each).toMatch(/^[\da-f]{8}-[\da-f-]{27}$/)
  expect(url).toBe('https://bitbucket.org/kiln-works/shelf/pipelines/results/71')
  expect(jobs[0]?.url).toBe(`${url}/steps/%7B${jobs[0]?.id}%7D`)
})

test('the result is inside the state', () => {
  const { status, failureReason, jobs } = lastRecord('bitbucket-failed-pull-request')
  expect({ status, failureReason }).toEqual({ status: 'failed', failureReason: undefined })
  expect(jobs.map(({ name, status, failureReason }) => [name, status, failureReason]).toSorted()).toEqual([
    ['Build', 'success', undefined],
    ['Deploy', 'skipped', undefined],
    ['Lint', 'failed', 'infrastructure_failure'],
    ['Test', 'failed', undefined],
  ])
})

test('the seconds that were used are the busy time; a runner of one’s own uses none', () => {
  expect(lastRecord('bitbucket-push-to-main').durationSeconds).toBe(203)
  expect(lastRecord('bitbucket-own-runner').jobs.map(({ durationSeconds }) => durationSeconds)).toEqual([58])
})

test('a pipeline that is paused for a manual step is not final', () => {
  const [fixture] = fixtureBodies('bitbucket-paused-then-deployed')
  expect(fixture?.bodies.map((body) => readRecord(body).status)).toEqual(['manual', 'success'])
  expect(lastRecord('bitbucket-paused-then-deployed').jobs.find(({ name }) => name === 'Deploy')?.manual).toBe(true)
})

test('steps that another run of the pipeline has made are left out', () => {
  const { id, attempt, previousAttempt, jobs } = lastRecord('bitbucket-failed-steps-again')
  expect({ attempt, previousAttempt }).toEqual({ attempt: 2, previousAttempt: { runId: id, attempt: 1 } })
  expect(jobs.map(({ name }) => name)).toEqual(['Test'])
})

test('a custom pipeline has a name', () => {
  expect(lastRecord('bitbucket-custom-pipeline-stopped')).toMatchObject({ name: 'fire-the-kiln', status: 'canceled' })
  expect(lastRecord('bitbucket-push-to-main').name).toBeUndefined()
})

test('a hook about the status of a commit is another hook', () => {
  const hook = { repository: { full_name: 'kiln-works/shelf' }, actor: {}, commit_status: { state: 'SUCCESSFUL' } }
  expect(() => readBody(hook)).toThrow(OtherHookError)
})

test.each([
  [true, undefined],
  [false, 'signature_wrong'],
])('a signature is valid: %s', (isValid, refusal) => {
  const body = Buffer.from('{}')
  const credentials = { tokenDigests: [], secretTokens: [Buffer.from('secret')], signingKeys: [] }
  const signature = createHmac('sha256', isValid ? 'secret' : 'other')
    .update(body)
    .digest('hex')
  const headers = { 'x-hub-signature': `sha256=${signature}` }
  expect(hookRules.validateHeaders(credentials, { headers, serviceName: 'x', nowMs: 0 })).toBeUndefined()
  expect(hookRules.validateSignature(credentials, headers, body)).toBe(refusal)
  expect(hookRules.validateHeaders(credentials, { headers: {}, serviceName: 'x', nowMs: 0 })).toBe('signature_missing')
})

test('a page of the steps is not all of them', () => {
  const state = { name: 'COMPLETED', result: { name: 'SUCCESSFUL' } }
  const steps = { values: [{ uuid: '{s}', state }], next: 'https://api.bitbucket.org/2.0/…?page=2' }
  expect(readRecord({ pipeline: { uuid: '{p}', state }, steps })).toMatchObject({
    jobs: [{ id: 's' }],
    jobsUnreadable: true,
  })
})
