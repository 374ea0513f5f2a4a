import {
  createFile,
  createJobToken,
  createPersonalToken,
  type DomainEvent,
  getBranch,
  type Project,
  putPipelineRecord,
  type User,
} from '@penstock/core'
import { type Listening, listen } from '@penstock/http'
import { silentLog } from '@penstock/runtime'
import { recordInput, World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { restListener } from '../server/serve-rest.ts'
import { commitsArea } from './commits.ts'
import { pipelineChangesArea } from './pipeline-changes.ts'
import { pipelinesArea } from './pipelines.ts'
import { repositoryArea } from './repository.ts'

const EXTERNAL_URL = 'https://svc.example.test'
const PIPELINE = 9_007_199_254_740_000

let world: World
let listening: Listening
let root: User
let mira: User
let project: Project
let events: DomainEvent[]

beforeEach(async () => {
  world = await World.open({ externalUrl: EXTERNAL_URL })
  root = await world.user('root', { isAdministrator: true })
  mira = await world.user('mira')
  project = await world.project('tools', await world.group('ops'))
  await world.member(project, mira, 40)
  events = []
  const listener = {
    types: new Set(['pipeline.renamed'] as const),
    onEvent: async (_: unknown, event: DomainEvent) => void events.push(event),
  }
  const core = { ...world.core, listeners: [listener] }
  const areas = [pipelinesArea, pipelineChangesArea, commitsArea, repositoryArea]
  listening = await listen(restListener({ core, areas, log: silentLog, rateLimits: 'off' }), {
    host: '127.0.0.1',
    port: 0,
  })
})

afterEach(async () => {
  await listening.close(AbortSignal.abort())
  await world.close()
})

const tokenOf = async ({ id: userId }: User) =>
  (await world.perform(root, createPersonalToken, { userId, name: 'test', scopes: ['api'] })).value

async function call(method: string, path: string, headers: Record<string, string>, body?: object) {
  const reply = await fetch(`${listening.url}/api/v4${path}`, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await reply.text()
  const isJson = reply.headers.get('content-type')?.startsWith('application/json') === true
  return { status: reply.status, headers: reply.headers, body: isJson ? JSON.parse(text) : text }
}

const inProject = `/projects/ops%2Ftools`
const one = `${inProject}/pipelines/${PIPELINE}`
const as = async (user: User) => ({ 'private-token': await tokenOf(user) })

const record = (run: object = {}, more: object = {}) =>
  world.perform(
    root,
    putPipelineRecord,
    recordInput({
      project: project.id,
      pipelineId: PIPELINE,
      objectAttributes: { id: PIPELINE, status: 'running', ref: 'main', ...run },
      builds: [{ id: 380, status: 'running', name: 'unit' }],
      bridges: [{ id: 381, status: 'created', name: 'deploy' }],
      ...more,
    }),
  )

const variable = (key: string, value: unknown) => ({ key, value })
const shown = (key: string, value: string) => ({ variable_type: 'env_var', key, value, raw: false })

test('the variables of a record are shown to Maintainers, and no others', async () => {
  const long = 'x'.repeat(10_001)
  const given = [
    variable('NIGHTLY', 'true'),
    variable('LONG', long),
    variable('KEY NAME', 'x'),
    7,
    variable('EMPTY', ''),
  ]
  await record({ variables: given })
  expect((await call('GET', `${one}/variables`, await as(mira))).body).toEqual([
    shown('NIGHTLY', 'true'),
    shown('EMPTY', ''),
  ])
  const noor = await world.user('noor')
  await world.member(project, noor, 30)
  expect((await call('GET', `${one}/variables`, await as(noor))).status).toBe(403)
  expect((await call('GET', `${one}/variables`, {})).status).toBe(401)
  await record({ status: 'success', variables: [] })
  expect((await call('GET', `${one}/variables`, await as(mira))).body).toEqual([])
})

test('at most a hundred variables are kept', async () => {
  await record({ variables: Array.from({ length: 101 }, (_, index) => variable(`V${index}`, 'x')) })
  expect((await call('GET', `${one}/variables`, await as(mira))).body).toHaveLength(100)
})

test('durations of pipelines are whole seconds', async () => {
  await record({ duration: 62.5, queuedDuration: 1.4 })
  expect((await call('GET', one, await as(mira))).body).toMatchObject({ duration: 63, queued_duration: 1 })
})

test('test reports are empty', async () => {
  await record()
  const headers = await as(mira)
  expect((await call('GET', `${one}/test_report`, headers)).body).toEqual({
    total_time: 0,
    total_count: 0,
    success_count: 0,
    failed_count: 0,
    skipped_count: 0,
    error_count: 0,
    test_suites: [],
  })
  expect((await call('GET', `${one}/test_report_summary`, headers)).body).toEqual({
    total: { time: 0, count: 0, success: 0, failed: 0, skipped: 0, error: 0, suite_error: null },
    test_suites: [],
  })
  expect((await call('GET', `${inProject}/pipelines/7/test_report`, headers)).status).toBe(404)
})

test('a Developer names a pipeline, until a record has another name', async () => {
  await record({ name: 'Nightly' })
  const headers = await as(mira)
  const rename = (name: unknown) => call('PUT', `${one}/metadata`, headers, { name })
  expect(await rename('Release 7')).toMatchObject({ status: 200, body: { id: PIPELINE, name: 'Release 7' } })
  await record({ status: 'success' })
  expect((await call('GET', one, headers)).body).toMatchObject({ status: 'success', name: 'Release 7' })
  expect(await rename('x'.repeat(256))).toMatchObject({
    status: 400,
    body: { message: { name: ['is too long (maximum is 255 characters)'] } },
  })
  expect(await rename(undefined)).toMatchObject({ status: 400, body: { error: 'name is missing' } })
  expect(events.map(({ type, details }) => [type, details])).toEqual([['pipeline.renamed', { pipelineId: PIPELINE }]])
})

test('the log of a job is empty', async () => {
  await record()
  const { status, headers, body } = await call('GET', `${inProject}/jobs/380/trace`, await as(mira))
  expect([status, body]).toEqual([200, ''])
  expect(headers.get('content-type')).toContain('text/plain')
  expect(headers.get('content-disposition')).toBe('infile; filename="380.log"')
  expect((await call('GET', `${inProject}/jobs/7/trace`, await as(mira))).status).toBe(404)
})

test.each([
  ['pipeline', 'Pipelines are started elsewhere and recorded here'],
  [`pipelines/${PIPELINE}/retry`, 'Pipeline is not retryable'],
  [`pipelines/${PIPELINE}/cancel`, 'Pipeline is not cancelable'],
  ['jobs/380/play', 'Job is not playable'],
  ['jobs/381/retry', 'Job is not retryable'],
  ['jobs/380/cancel', 'Job is not cancelable'],
  ['jobs/380/erase', 'Job is not erasable'],
])('POST %s: 422', async (path, message) => {
  await record()
  const headers = await as(mira)
  expect(await call('POST', `${inProject}/${path}`, headers)).toMatchObject({ status: 422, body: { message } })
  const absent = path.replace(/\d+/, '7')
  if (absent !== path) expect((await call('POST', `${inProject}/${absent}`, headers)).status).toBe(404)
  const noor = await world.user('noor')
  await world.member(project, noor, 20)
  expect((await call('POST', `${inProject}/${path}`, await as(noor))).status).toBe(403)
})

test('a job token shows the job that it names', async () => {
  await record()
  const create = async (more: object) => {
    const { value } = await world.perform(root, createJobToken, { project: project.id, userId: mira.id, ...more })
    return { 'job-token': value }
  }
  const own = await call('GET', '/job', await create({ jobId: 380 }))
  expect(own).toMatchObject({ status: 200, body: { id: 380, name: 'unit', pipeline: { id: PIPELINE } } })
  expect(own.body).toEqual((await call('GET', `${inProject}/jobs/380`, await as(mira))).body)
  const absent = { status: 404, body: { message: '404 Job Not Found' } }
  expect(await call('GET', '/job', await create({}))).toMatchObject(absent)
  expect(await call('GET', '/job', await as(mira))).toMatchObject(absent)
  expect((await call('GET', '/job', await create({ jobId: 7 }))).status).toBe(404)
  expect((await call('GET', '/job', {})).status).toBe(401)
})

test('jobs show the commit in the repository, and commits their last pipeline', async () => {
  const file = { project: project.id, filePath: 'a', content: 'a', commitMessage: 'Fix\n\nWhy' }
  await world.perform(mira, createFile, { ...file, branch: 'main', authorEmail: 'mira@example.test' })
  const { commit } = await world.perform(mira, getBranch, { project: project.id, branch: 'main' })
  const headers = await as(mira)
  const path = `${inProject}/repository/commits/main`
  expect((await call('GET', path, headers)).body).toMatchObject({ status: null, last_pipeline: null })
  const recorded = { id: commit.sha, title: 'Something else', message: 'Something else' }
  await record({ sha: commit.sha, status: 'failed' }, { commit: recorded })
  const whole = (await call('GET', path, headers)).body
  expect(whole).toMatchObject({ status: 'failed', last_pipeline: { id: PIPELINE, sha: commit.sha, status: 'failed' } })
  const [job] = (await call('GET', `${one}/jobs`, headers)).body
  expect(job.commit).toMatchObject({
    id: commit.sha,
    title: 'Fix',
    message: 'Fix\n\nWhy',
    author_email: 'mira@example.test',
  })
  expect(Object.keys(whole)).toEqual(expect.arrayContaining(Object.keys(job.commit)))
  // Guests of a private project see its pipelines, but not its repository.
  const guest = await world.user('guest')
  await world.member(project, guest, 10)
  const [seen] = (await call('GET', `${one}/jobs`, await as(guest))).body
  expect(seen.commit).toMatchObject({ title: 'Something else', author_email: null })
})
