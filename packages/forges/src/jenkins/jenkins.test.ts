import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { fixtureBodies, lastRecord, readBody, readRecord } from '../forge-fixtures.harness.ts'
import { hookRules } from './hook-rules.ts'
import { readBuildPlace } from './job-name.ts'

test('a multibranch job has its branch in its name, encoded twice in the URL', () => {
  expect(lastRecord('jenkins-multibranch-build')).toMatchObject({
    id: 'kiln-works/wheel/feature%2Fslow-start#14',
    name: 'kiln-works/wheel/feature/slow-start',
    ref: 'feature/slow-start',
    source: 'push',
    queuedSeconds: 1.5,
    createdAtNs: 1_785_571_200_120_000_000n,
    finishedAtNs: 1_785_571_261_120_000_000n,
    durationSeconds: 61,
    commit: { title: 'Centre the clay', message: 'Centre the clay\n\nSlowly.' },
    project: {
      name: 'wheel',
      path: 'kiln-works/wheel',
      webUrl: 'https://git.example.com/kiln-works/wheel',
      server: 'ci.example.com/jenkins',
    },
  })
})

test('stages are jobs, and their nodes are steps', () => {
  const { jobs } = lastRecord('jenkins-multibranch-build')
  expect(jobs.map(({ id, name, runner, steps }) => [id, name, runner?.name, steps?.map(({ name }) => name)])).toEqual([
    [6n, 'Build', 'agent-1', ['Shell Script', 'Archive the artifacts']],
    [20n, 'Test', 'agent-2', ['Shell Script']],
  ])
})

test('an unstable build failed, and the words of the stage view are its own', () => {
  const { status, failureReason, jobs } = lastRecord('jenkins-unstable-tests')
  expect({ status, failureReason }).toEqual({ status: 'failed', failureReason: 'unstable' })
  expect(jobs.map(({ status, allowFailure }) => [status, allowFailure])).toEqual([
    ['success', false],
    ['failed', false],
    ['skipped', false],
  ])
})

test('a failed stage of a success did not fail the build', () => {
  const [audit] = lastRecord('jenkins-failed-stage-of-a-success').jobs
  expect(audit).toMatchObject({ name: 'Audit', status: 'failed', allowFailure: true })
})

test('a pause is not busy time, and a build that waits for input is not final', () => {
  const [fixture] = fixtureBodies('jenkins-paused-then-aborted')
  expect(fixture?.bodies.map((body) => readRecord(body).status)).toEqual(['manual', 'canceled'])
  const { durationSeconds, jobs } = lastRecord('jenkins-paused-then-aborted')
  expect(durationSeconds).toBe(32)
  expect(jobs.map(({ status, durationSeconds }) => [status, durationSeconds])).toEqual([
    ['success', 30],
    ['canceled', 1],
    ['unknown', 0],
  ])
})

test('a build names the build that started it', () => {
  expect(lastRecord('jenkins-upstream-build-of-another-folder')).toMatchObject({
    upstream: { pipelineId: 'kiln-works/wheel/main#12' },
    user: { username: 'mira-lind' },
    sha: undefined,
  })
})

test('a freestyle build has no stages, and a detached checkout no branch', () => {
  expect(lastRecord('jenkins-freestyle-build')).toMatchObject({ jobsUnknown: true, ref: undefined, source: 'schedule' })
})

test('without a URL, the title names the job', () => {
  expect(lastRecord('jenkins-not-built-without-its-url')).toMatchObject({
    id: 'kiln-works/wheel#20',
    status: 'skipped',
  })
})

test('a notification is the run of the same build, without stages', () => {
  const [hook, bundle] = ['jenkins-notification-of-a-multibranch-build', 'jenkins-multibranch-build'].map(lastRecord)
  expect(hook?.jobsUnknown).toBe(true)
  for (const key of [
    'id',
    'iid',
    'name',
    'status',
    'ref',
    'tag',
    'sha',
    'url',
    'durationSeconds',
    'project',
  ] as const) {
    expect([key, hook?.[key]]).toEqual([key, bundle?.[key]])
  }
})

test('a notification before the last phase is skipped', () => {
  const [fixture] = fixtureBodies('jenkins-notification-of-each-phase')
  expect(fixture?.bodies.map((body) => tryRead(body))).toEqual([
    'build.phase: must be FINALIZED, got "QUEUED"',
    'build.phase: must be FINALIZED, got "STARTED"',
    'build.phase: must be FINALIZED, got "COMPLETED"',
    'failed',
  ])
})

function tryRead(body: unknown): string {
  try {
    return readRecord(body).status
  } catch (error) {
    return String((error as Error).message)
  }
}

test.each([
  ['Bearer the-token', 'the-token', undefined],
  [`Basic ${btoa('penstock:the-token')}`, 'penstock:the-token', undefined],
  [`Basic ${btoa('penstock:other')}`, 'penstock:the-token', 'token_wrong'],
  [undefined, 'the-token', 'token_missing'],
])('a request with %s for the token %s', (authorization, token, refusal) => {
  const tokenDigests = [createHash('sha256').update(token).digest()]
  const credentials = { tokenDigests, secretTokens: [], signingKeys: [] }
  const request = { headers: { authorization }, serviceName: 'svc', nowMs: 0 }
  expect(hookRules.validateHeaders(credentials, request)).toBe(refusal)
})

test('two jobs with one number are two runs', () => {
  const [fixture] = fixtureBodies('jenkins-two-jobs-with-one-number')
  expect(fixture?.bodies.map((body) => readRecord(body).id)).toEqual(['clay#21', 'glaze#21'])
})

test.each([
  [{ build: { number: 3, result: 'SUCCESS' }, stages: null }, /^build\.url: must be the URL/],
  [{ build: { url: 'https://ci.example.com/job/x/3/' }, stages: null }, /^build\.number: must be/],
  [{ build: { number: 3, fullDisplayName: 'x » main 1.2.0' }, stages: null }, /^build\.url: must be the URL/],
  [{ name: 'x', url: 'job/x/', build: { number: 3, phase: 'FINALIZED' } }, /^build\.full_url: must be the URL/],
])('refuses a build without an identity', (body, message) => {
  expect(() => readBody(body)).toThrow(message)
})

test.each([
  ['https://ci.example.com/job/a/job/b%2520c/3/', { server: 'ci.example.com', names: ['a', 'b%20c'] }],
  ['https://ci.example.com/job/100%/3/', { server: 'ci.example.com', names: ['100%'] }],
  ['https://ci.example.com/view/all/', undefined],
  [undefined, undefined],
])('the place of %s', (url, place) => expect(readBuildPlace(url)).toEqual(place))

test('the stages of a matrix are a group', () => {
  const names = ["Matrix - OS = 'linux', NODE = '24'", 'Matrix', 'Test']
  const stages = names.map((name, at) => ({ id: String(at + 1), name, status: 'SUCCESS', startTimeMillis: 1 }))
  const [fixture] = fixtureBodies('jenkins-multibranch-build')
  const { jobs } = readRecord({ ...fixture?.bodies[0], stages: { stages } })
  expect(jobs.map(({ group }) => group?.name)).toEqual(['Matrix', undefined, undefined])
})
