import { type DomainEvent, type Project, projectVariables, putPipelineRecord, type User } from '@penstock/core'
import { recordInput, World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'
import { pipelinesArea } from './pipelines.ts'

const EXTERNAL_URL = 'https://svc.example.test/forge'

let world: World
let server: RestServer
let mira: User
let project: Project
let token: string
let events: DomainEvent[]

beforeEach(async () => {
  world = await World.open({ externalUrl: EXTERNAL_URL })
  mira = await world.user('mira')
  project = await world.project('tools', await world.group('ops'))
  await world.member(project, mira, 40)
  events = []
  const listener = {
    types: new Set(['pipeline.created', 'pipeline.updated'] as const),
    onEvent: async (_: unknown, event: DomainEvent) => void events.push(event),
  }
  const core = { ...world.core, listeners: [listener] }
  server = await RestServer.start({ world, core, areas: [pipelinesArea] })
  token = await server.tokenOf(mira)
})

afterEach(() => server.close())

const call = (method: string, path: string, text?: string, headers: Record<string, string> = {}) =>
  server.call(method, `projects/ops%2Ftools/${path}`, { token, text, headers })
const put = (body: string, headers?: Record<string, string>) => call('PUT', 'pipeline_records/31', body, headers)
/** Returns a record that is too large to be read on the event loop. */
const large = (more: object = {}) =>
  JSON.stringify({
    object_attributes: { id: 31, status: 'success', finished_at: '2026-02-03 04:09:00 UTC' },
    builds: Array.from({ length: 1_200 }, (_, index) => ({
      id: 900 + index,
      status: 'success',
      name: `job number ${index}`,
    })),
    ...more,
  })
const minimal = '{"object_attributes":{"id":31,"status":"running"}}'

/** A body as a pipeline hook sends it, with a number that JavaScript cannot represent, and with variables. */
const hook = `{
  "object_kind": "pipeline",
  "object_attributes": {
    "id": 31, "iid": 3, "name": "Nightly", "ref": "main", "tag": false, "sha": "bcbb5ec396a2c0f828686f14fac9b80b780504f2",
    "before_sha": "0000000000000000000000000000000000000000", "source": "push", "status": "success",
    "detailed_status": "passed with warnings", "stages": ["build"], "created_at": "2026-02-03 03:00:00 UTC",
    "finished_at": "2026-02-03 03:02:00 UTC", "duration": 63, "queued_duration": 10,
    "variables": [{ "key": "PASSWORD", "value": "canary-4f1d" }], "url": "https://ci.example.com/g/p/-/pipelines/31"
  },
  "user": { "id": 1, "name": "Ada", "username": "ada", "avatar_url": "canary-4f1d", "email": "canary-4f1d" },
  "project": { "id": 9, "name": "p", "path_with_namespace": "g/p" },
  "commit": {
    "id": "bcbb5ec396a2c0f828686f14fac9b80b780504f2", "message": "Fix\\n", "title": "Fix",
    "timestamp": "2026-02-03T03:59:00+01:00", "author": { "name": "Ada", "email": "canary-4f1d" }
  },
  "builds": [{
    "id": 380, "stage": "build", "name": "compile", "status": "failed", "created_at": "2026-02-03 03:00:00 UTC",
    "started_at": "2026-02-03 03:00:10 UTC", "finished_at": "2026-02-03 03:01:13 UTC", "duration": 63.5,
    "queued_duration": 10.25, "failure_reason": "script_failure", "when": "on_success", "manual": false,
    "allow_failure": true, "user": { "id": 1, "name": "Ada", "username": "ada" },
    "runner": { "id": 6, "description": "shared-6", "active": true, "is_shared": true, "runner_type": "instance_type", "tags": ["linux"] },
    "artifacts_file": { "filename": "a.zip", "size": 9223372036854775807 },
    "environment": { "name": "staging", "action": "start", "deployment_tier": "staging" }
  }],
  "bridges": [{ "id": 381, "stage": "build", "name": "trigger", "status": "success", "bridge": true }]
}`

const summary = () => ({
  id: 31,
  iid: 3,
  project_id: project.id,
  sha: 'bcbb5ec396a2c0f828686f14fac9b80b780504f2',
  ref: 'main',
  status: 'success',
  source: 'push',
  created_at: '2026-02-03T03:00:00.000Z',
  updated_at: '2026-02-03T04:05:06.789Z',
  web_url: 'https://svc.example.test/forge/ops/tools/-/pipelines/31',
})
const ada = {
  id: 1,
  username: 'ada',
  name: 'Ada',
  state: 'active',
  avatar_url: null,
  web_url: 'https://svc.example.test/forge/ada',
}

describe('a record', () => {
  test('is answered with the pipeline, with 201 at first and 200 afterwards', async () => {
    const first = await put(minimal)
    expect([first.status, first.body.status]).toEqual([201, 'running'])
    const { status, body } = await put(hook)
    expect([status, body]).toEqual([200, (await call('GET', 'pipelines/31')).body])
    expect((await put(hook)).status).toBe(200)
    expect(events.map(({ type }) => type)).toEqual(['pipeline.created', 'pipeline.updated'])
  })

  test('is passed to listeners as the text that was sent', async () => {
    await put(hook)
    expect(events[0]!.payload).toBe(hook)
  })

  test('stores and returns no secrets', async () => {
    await put(hook)
    const paths = ['pipelines', 'pipelines/31', 'pipelines/31/jobs', 'pipelines/31/bridges', 'jobs', 'jobs/380']
    const answers = await Promise.all(paths.map((path) => call('GET', path)))
    expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200))
    const tables = ['pipelines', 'pipeline_jobs', 'pipeline_variables', 'events'] as const
    const rows = await Promise.all(tables.map((table) => world.core.db.read.selectFrom(table).selectAll().execute()))
    expect(JSON.stringify([answers, rows])).not.toContain('canary')
  })

  test.each([
    ['{"object_attributes":{"id":31}}', 'object_attributes[status] is missing'],
    ['{"object_attributes":{"id":"31","status":"success"}}', 'object_attributes[id] is invalid'],
    ['{"object_attributes":{"id":32,"status":"success"}}', 'object_attributes[id] must be the same as in the path'],
    ['{"object_attributes":{"id":31,"status":7}}', 'object_attributes[status] is invalid'],
    [
      '{"object_attributes":{"id":31,"status":"success"},"builds":[{"id":9223372036854775807,"status":"success"}]}',
      'builds[0][id] is invalid',
    ],
    [
      '{"object_kind":"build","object_attributes":{"id":31,"status":"success"}}',
      'object_kind does not have a valid value',
    ],
    ['[]', 'object_attributes is missing'],
    ['7', 'object_attributes is missing'],
  ])('%s: %s', async (body, error) => {
    expect(await put(body)).toMatchObject({ status: 400, body: { error } })
  })

  test('is accepted with an id that another project has used before', async () => {
    const secret = await world.project('secret', await world.group('elsewhere'))
    const builds = [{ id: 380, status: 'running' }]
    const objectAttributes = { id: 31, status: 'running' }
    const record = { project: secret.id, pipelineId: 31, objectAttributes, builds }
    await world.perform(await world.user('owner', { isAdministrator: true }), putPipelineRecord, recordInput(record))
    const shown = { id: 31, project_id: project.id, web_url: `${EXTERNAL_URL}/${project.fullPath}/-/pipelines/31` }
    const own = JSON.stringify({
      object_attributes: { id: 31, status: 'failed' },
      builds: [{ id: 380, status: 'failed' }],
    })
    expect(await put(own)).toMatchObject({ status: 201, body: { ...shown, status: 'failed' } })
    expect((await call('GET', 'pipelines')).body).toMatchObject([shown])
    expect((await call('GET', 'pipelines/31')).body).toMatchObject(shown)
    expect((await call('GET', 'jobs')).body).toMatchObject([{ id: 380, status: 'failed', pipeline: shown }])
    expect((await call('GET', 'jobs/380')).body).toMatchObject({ id: 380, pipeline: shown })
  })

  test('is read only from a JSON body, and not from the query or a form', async () => {
    const query = 'object_attributes[id]=31&object_attributes[status]=success'
    expect(await call('PUT', `pipeline_records/31?${query}`)).toMatchObject({ status: 400 })
    const form = 'application/x-www-form-urlencoded'
    expect(await put(query, { 'content-type': form })).toMatchObject({ status: 415 })
    expect(await put('{', {})).toMatchObject({ status: 400 })
    expect(events).toEqual([])
  })

  test('is accepted with deep nesting and invalid text in unknown members, and its credentials are ignored', async () => {
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`
    const odd = `{"private_token":"x","sudo":"y","id":7,"pipeline_id":8,"a\\u0000":"\\ud83d","deep":${deep},${minimal.slice(1)}`
    expect(await put(odd)).toMatchObject({ status: 201, body: { project_id: project.id } })
    const { body } = await put(`{"private_token":"${token}",${minimal.slice(1)}`, { 'private-token': '' })
    expect(body).toEqual({ message: '401 Unauthorized' })
  })

  test('that is large is read in the worker thread, and stored and reported like a small one', async () => {
    expect(await put(large())).toMatchObject({ status: 201, body: { id: 31, status: 'success' } })
    expect(events).toMatchObject([{ type: 'pipeline.created', payload: large() }])
    const page = await call('GET', 'pipelines/31/jobs?per_page=100&page=12')
    expect(page.headers.get('x-total')).toBe('1200')
    expect(page.body.at(-1)).toMatchObject({ id: 900, name: 'job number 0' })
    expect((await put(large())).status).toBe(200)
    expect(events).toHaveLength(1)
  })

  test('that is large replaces an earlier one job by job', async () => {
    await put(large())
    const later = { object_attributes: { id: 31, status: 'success', finished_at: '2026-02-03 05:00:00 UTC' } }
    const builds = [
      { id: 901, status: 'failed' },
      ...Array.from({ length: 2_000 }, (_, index) => ({ id: 5_000 + index, status: 'success' })),
    ]
    expect((await put(large({ ...later, builds }))).status).toBe(200)
    const { headers } = await call('GET', 'pipelines/31/jobs?per_page=1')
    expect(headers.get('x-total')).toBe('2001')
    expect((await call('GET', 'jobs/901')).body.status).toBe('failed')
    expect((await call('GET', 'jobs/900')).status).toBe(404)
  })

  test('that is large and invalid gets the same error as a small one', async () => {
    const padding = `"x":"${'x'.repeat(70_000)}"`
    for (const [small, big] of [
      ['{"a":', `{${padding},"a":`],
      ['{}', `{${padding}}`],
      ['{"object_attributes":{"id":7}}', `{${padding},"object_attributes":{"id":7}}`],
    ] as const) {
      const [answer, expected] = [await put(big), await put(small)]
      expect([answer.status, answer.body]).toEqual([400, expected.body])
    }
    expect(events).toEqual([])
  })

  test('may have at most 16 MiB', async () => {
    const padded = (bytes: number) => `${minimal.slice(0, -1)},"x":"${'x'.repeat(bytes - minimal.length - 7)}"}`
    expect(padded(100)).toHaveLength(100)
    expect(await put(padded(16 * 1024 * 1024))).toMatchObject({ status: 201 })
    expect(await put(padded(16 * 1024 * 1024 + 1))).toMatchObject({ status: 413 })
  })
})

describe('shapes', () => {
  beforeEach(async () => {
    await put(hook)
  })

  test('of a pipeline', async () => {
    expect((await call('GET', 'pipelines')).body).toEqual([{ ...summary(), name: 'Nightly' }])
    const label = 'passed with warnings'
    const whole = {
      ...summary(),
      name: 'Nightly',
      before_sha: '0000000000000000000000000000000000000000',
      tag: false,
      yaml_errors: null,
      user: ada,
      started_at: '2026-02-03T03:00:10.000Z',
      finished_at: '2026-02-03T03:02:00.000Z',
      committed_at: '2026-02-03T02:59:00.000Z',
      duration: 63,
      queued_duration: 10,
      coverage: null,
      detailed_status: {
        icon: 'status_warning',
        text: 'Warning',
        label,
        group: 'success-with-warnings',
        tooltip: label,
        has_details: true,
        details_path: '/forge/ops/tools/-/pipelines/31',
        illustration: null,
        favicon: '/assets/ci_favicons/favicon_status_warning.png',
      },
      archived: false,
    }
    expect((await call('GET', 'pipelines/31')).body).toEqual(whole)
    expect((await call('GET', 'pipelines/latest?ref=main')).body).toEqual(whole)
  })

  test('of jobs and bridges', async () => {
    const common = {
      stage: 'build',
      ref: 'main',
      tag: false,
      coverage: null,
      erased_at: null,
      commit: {
        id: 'bcbb5ec396a2c0f828686f14fac9b80b780504f2',
        short_id: 'bcbb5ec3',
        created_at: '2026-02-03T02:59:00.000Z',
        parent_ids: null,
        title: 'Fix',
        message: 'Fix\n',
        author_name: 'Ada',
        author_email: null,
        authored_date: null,
        committer_name: null,
        committer_email: null,
        committed_date: '2026-02-03T02:59:00.000Z',
        trailers: null,
        extended_trailers: null,
        web_url: `${EXTERNAL_URL}/ops/tools/-/commit/bcbb5ec396a2c0f828686f14fac9b80b780504f2`,
      },
      pipeline: summary(),
      project: { ci_job_token_scope_enabled: false },
    }
    const job = {
      ...common,
      id: 380,
      status: 'failed',
      name: 'compile',
      allow_failure: true,
      created_at: '2026-02-03T03:00:00.000Z',
      started_at: '2026-02-03T03:00:10.000Z',
      finished_at: '2026-02-03T03:01:13.000Z',
      duration: 63.5,
      queued_duration: 10.25,
      user: ada,
      failure_reason: 'script_failure',
      when: 'on_success',
      manual: false,
      web_url: 'https://svc.example.test/forge/ops/tools/-/jobs/380',
      environment: { name: 'staging', action: 'start', deployment_tier: 'staging' },
      artifacts_file: { filename: 'a.zip', size: null },
      artifacts: [{ file_type: 'archive', size: null, filename: 'a.zip', file_format: 'zip' }],
      artifacts_expire_at: null,
      runner: {
        id: 6,
        description: 'shared-6',
        active: true,
        paused: false,
        is_shared: true,
        runner_type: 'instance_type',
        name: null,
        online: null,
        status: null,
        tags: ['linux'],
      },
      runner_manager: null,
      tag_list: [],
      archived: false,
    }
    expect((await call('GET', 'pipelines/31/jobs')).body).toEqual([job])
    expect((await call('GET', 'jobs?scope[]=failed&scope[]=success')).body).toEqual([job])
    expect((await call('GET', 'jobs/380')).body).toEqual(job)
    expect((await call('GET', 'pipelines/31/bridges')).body).toEqual([
      {
        ...common,
        id: 381,
        status: 'success',
        name: 'trigger',
        allow_failure: false,
        created_at: null,
        started_at: null,
        finished_at: null,
        duration: null,
        queued_duration: null,
        user: ada,
        when: 'on_success',
        manual: null,
        web_url: 'https://svc.example.test/forge/ops/tools/-/jobs/381',
        environment: null,
        downstream_pipeline: null,
      },
    ])
  })

  test.each([
    ['jobs/381', 404, { message: '404 Not found' }],
    ['pipelines/32', 404, { message: '404 Not found' }],
    ['pipelines/32/jobs', 404, { message: '404 Not found' }],
    ['pipelines/latest?ref=nowhere', 404, { message: '404 Not found' }],
    ['pipelines/x', 400, { error: 'pipeline_id is invalid' }],
    ['pipelines?status=melting', 400, { error: 'status does not have a valid value' }],
    ['pipelines?order_by=sha', 400, { error: 'order_by does not have a valid value' }],
    ['jobs?scope=melting', 400, { error: 'scope does not have a valid value' }],
  ])('%s: %d', async (path, status, body) => {
    expect(await call('GET', path)).toMatchObject({ status, body })
  })

  test('pages', async () => {
    const { headers } = await call('GET', 'pipelines?per_page=1&ref=main')
    expect(headers.get('x-total')).toBe('1')
    expect(headers.get('link')).toContain('/pipelines?id=ops%2Ftools&order_by=id&page=1&per_page=1&ref=main&sort=desc')
    const keyset = await call('GET', 'jobs?pagination=keyset&per_page=1')
    expect([keyset.headers.get('link'), keyset.body.length]).toEqual([null, 1])
  })
})

test('returns the export settings without the token', async () => {
  const add = (key: string, value: string) =>
    world.perform(mira, projectVariables.create, { parent: project.id, key, value })
  await add('SVC_OBSERVABILITY_EXPORT', 'traces,spans')
  await add('SVC_OBSERVABILITY_TOKEN', 'canary-4f1d')
  expect((await call('GET', 'pipeline_export?environment=production&ref_protected=true')).body).toEqual({
    signals: ['traces'],
    token_set: true,
    warnings: [
      'SVC_OBSERVABILITY_EXPORT contains spans: valid signals are traces, metrics, logs',
      'SVC_OBSERVABILITY_TOKEN is not masked, so job logs may contain it: mask the variable',
    ],
  })
})
