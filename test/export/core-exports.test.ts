import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { signalNames } from '@penstock/otlp'
import { expect, test } from 'vitest'
import { accept, startSink } from '../gateway/accepting-sink.ts'
import { until } from '../gateway/until.ts'
import { finished, running } from './pipelines.ts'
import {
  ADMIN_KEY,
  beside,
  call,
  changeVariable,
  dataDirectory,
  EXPORT,
  newProject,
  queued,
  type Service,
  serve,
  setVariable,
  TOKEN,
} from './service.ts'
import { credentialsBySignal, isoOf, receivedAtNs, signalOf } from './sink.ts'

const put = (service: Service, project: number, body: string, id = 31): Promise<unknown> =>
  call(service, 'PUT', `/projects/${project}/pipeline_records/${id}`, body)

const delivered = (id = 31) => ['logs', 'metrics', 'traces'].map((signal) => `delivered ${id} ${signal}`)

const untilQueued = (dataDir: string, expected: readonly string[]) =>
  until(`the queue is ${expected}`, async () => (await queued(dataDir)).join() === expected.join())

/** Creates an ingest token, and makes the gateway require one from now on. */
async function enforcedToken(service: Service): Promise<string> {
  const ask = async (method: string, path: string, body: object) => {
    const response = await fetch(`${service.healthUrl}/api/v1/ingest_auth/${path}`, {
      method,
      headers: { 'OBS-API-KEY': ADMIN_KEY, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    return (await response.json()) as { token: string }
  }
  const { token } = await ask('POST', 'tokens', { name: 'ci' })
  await ask('PUT', 'state', { enabled: true })
  return token
}

/** Returns the project of an API response in the form of hooks. */
// biome-ignore lint/suspicious/noExplicitAny: callers know the response
const hookProject = ({ id, name, web_url, path_with_namespace, default_branch }: any) => ({
  ...{ id, name, web_url, path_with_namespace, default_branch },
})

test('exports a finished pipeline through the gateway once per signal, with the same bytes as convert', async () => {
  const [sink, dataDir] = [await startSink(), await dataDirectory()]
  const upstream = { PENSTOCK_UPSTREAM: sink.url, PENSTOCK_PASS_CREDENTIAL_THROUGH: 'true' }
  const service = await serve('all', dataDir, upstream)
  const token = await enforcedToken(service)
  const project = await newProject(service, 'tide-tables', { [EXPORT]: 'traces,metrics,logs', [TOKEN]: token })

  await put(service, project, running())
  expect(await queued(dataDir)).toEqual([])
  await put(service, project, finished())
  await untilQueued(dataDir, delivered())
  expect(credentialsBySignal(sink)).toEqual(signalNames.map((signal) => `${signal} with Bearer ${token}`))

  const outside = join(dataDir, 'converted')
  const own = join(dataDir, 'own.json')
  const shown = await call(service, 'GET', `/projects/${project}`)
  writeFileSync(own, JSON.stringify({ ...JSON.parse(finished()), project: hookProject(shown) }))
  const conversion = ['convert', own, '--encoding', 'protobuf']
  const received = ['--received-at', isoOf(receivedAtNs(sink)), '--service-name', 'svc-ci']
  expect(await beside(dataDir, ...conversion, ...received, '--output', outside)).toMatchObject({ exitCode: 0 })
  for (const request of sink.requests) {
    const expected = readFileSync(join(outside, `31.${signalOf(request)}.pb`))
    expect(Buffer.from(request.body).equals(expected), signalOf(request)).toBe(true)
  }
})

test('exports a pipeline of posted statuses once, when they are finished', async () => {
  const [sink, dataDir] = [await startSink(), await dataDirectory()]
  const service = await serve('all', dataDir, { PENSTOCK_UPSTREAM: sink.url })
  const project = await newProject(service, 'checked', { [EXPORT]: 'traces' })
  const actions = [{ action: 'create', file_path: 'a.txt', content: 'a' }]
  const change = { branch: 'main', commit_message: 'Begin', actions }
  await call(service, 'POST', `/projects/${project}/repository/commits`, change)
  const post = (state: string, name: string) =>
    call(service, 'POST', `/projects/${project}/statuses/main`, { state, name })
  await post('running', 'lint')
  expect(await queued(dataDir)).toEqual([])
  const { pipeline_id } = await post('failed', 'lint')
  await untilQueued(dataDir, [`delivered ${pipeline_id} traces`])
  await post('success', 'lint')
  expect(await queued(dataDir)).toEqual([`delivered ${pipeline_id} traces`])
  expect(sink.requests.map(signalOf)).toEqual(['traces'])
  const body = Buffer.from(sink.requests[0]!.body).toString('latin1')
  for (const text of ['lint', 'api_failure', 'external']) expect(body).toContain(text)
})

test('exports a large record, which is read in another thread, like a small one', async () => {
  const [sink, dataDir] = [await startSink(), await dataDirectory()]
  const service = await serve('core', dataDir, { PENSTOCK_EXPORT_ENDPOINT: sink.url })
  const project = await newProject(service, 'tide-tables', { [EXPORT]: 'traces' })
  const large = { ...JSON.parse(finished()), unknown: 'x'.repeat(70_000) }
  await put(service, project, JSON.stringify(large))
  await untilQueued(dataDir, ['delivered 31 traces'])

  const [own, outside] = [join(dataDir, 'own.json'), join(dataDir, 'converted')]
  const shown = await call(service, 'GET', `/projects/${project}`)
  writeFileSync(own, JSON.stringify({ ...large, project: hookProject(shown) }))
  const conversion = ['convert', own, '--encoding', 'protobuf', '--signals', 'traces', '--service-name', 'svc-ci']
  expect(await beside(dataDir, ...conversion, '--output', outside)).toMatchObject({ exitCode: 0 })
  const [request] = sink.requests
  expect(Buffer.from(request!.body).equals(readFileSync(join(outside, '31.traces.pb')))).toBe(true)
})

test('exports the signals that the variable lists, and ignores unknown words', async () => {
  const [sink, dataDir] = [await startSink(), await dataDirectory()]
  const service = await serve('core', dataDir, { PENSTOCK_EXPORT_ENDPOINT: sink.url })
  const cases: readonly [string | undefined, readonly string[]][] = [
    ['traces', ['traces']],
    ['metrics', ['metrics']],
    ['logs', ['logs']],
    [' Logs , nothing,TRACES,traces', ['logs', 'traces']],
    ['traces,metrics,logs', ['logs', 'metrics', 'traces']],
    ['nothing', []],
    ['', []],
    [undefined, []],
  ]
  for (const [index, [value]] of cases.entries()) {
    const project = await newProject(service, `case-${index}`, value === undefined ? {} : { [EXPORT]: value })
    await put(service, project, finished(100 + index), 100 + index)
  }
  const expected = cases.flatMap(([, signals], index) => signals.map((signal) => `delivered ${100 + index} ${signal}`))
  await untilQueued(dataDir, expected)
  expect(new Set(credentialsBySignal(sink).map((text) => text.replace(/^\w+ /, '')))).toEqual(new Set(['with nothing']))
})

test('ignores variables of type file, and applies environment scopes and protection', async () => {
  const [sink, dataDir] = [await startSink(), await dataDirectory()]
  const service = await serve('core', dataDir, { PENSTOCK_EXPORT_ENDPOINT: sink.url })
  const project = await newProject(service, 'tide-tables')
  const variables = `/projects/${project}/variables`
  await call(service, 'POST', variables, { key: EXPORT, value: 'traces', environment_scope: 'review/*' })
  await call(service, 'POST', variables, { key: TOKEN, value: 'of-a-file', variable_type: 'file' })
  await put(service, project, finished(41), 41)
  expect(await queued(dataDir)).toEqual([])

  await call(service, 'POST', variables, { key: EXPORT, value: 'logs', environment_scope: '*', protected: true })
  await put(service, project, finished(42).replace('"protected_ref": true', '"protected_ref": false'), 42)
  expect(await queued(dataDir)).toEqual([])
  await put(service, project, finished(43), 43)
  await call(service, 'POST', variables, { key: EXPORT, value: 'metrics', environment_scope: 'staging' })
  await put(service, project, finished(44), 44)
  await untilQueued(dataDir, ['delivered 43 logs', 'delivered 44 metrics'])
  expect(credentialsBySignal(sink)).toEqual(['metrics with nothing', 'logs with nothing'])
})

test('an export with a wrong token is dead and logged, and arrives after the token is fixed and the export replayed', async () => {
  const [sink, dataDir] = [await startSink(), await dataDirectory()]
  const service = await serve('all', dataDir, { PENSTOCK_UPSTREAM: sink.url })
  const right = await enforcedToken(service)
  const wrong = 'psin_a-token-that-does-not-exist'
  const project = await newProject(service, 'tide-tables', { [EXPORT]: 'traces', [TOKEN]: wrong })
  await put(service, project, finished())
  await untilQueued(dataDir, ['dead 31 traces'])
  expect(sink.requests).toEqual([])

  const { stdout } = await beside(dataDir, 'export-queue', 'list')
  expect(stdout).toMatch(/^ *1 +root\/tide-tables +31 +traces +dead +1 .* .*401/m)
  const alarms = service
    .logs()
    .split('\n')
    .filter((line) => line.includes('"export.authentication_refused"'))
  expect(alarms).toHaveLength(1)
  expect(JSON.parse(alarms[0]!)).toMatchObject({ level: 'error' })
  const metrics = await (await fetch(`${service.healthUrl}/metrics`)).text()
  expect(metrics).toContain('penstock_export_dead{signal="traces",reason="authentication"} 1\n')
  expect(metrics).toContain('otelcol_ingestauth_decisions')
  expect(stdout + service.logs() + metrics).not.toContain(wrong)

  await changeVariable(service, project, TOKEN, right)
  expect(await beside(dataDir, 'export-queue', 'replay', '--all')).toMatchObject({ exitCode: 0 })
  await untilQueued(dataDir, ['delivered 31 traces'])
  expect(sink.requests).toHaveLength(1)
})

test('sends the new token after a rotation while the endpoint is down', async () => {
  const dataDir = await dataDirectory()
  let isDown = true
  const sink = await startSink(() => (isDown ? { play: 'reply', status: 503 } : accept()))
  const service = await serve('core', dataDir, { PENSTOCK_EXPORT_ENDPOINT: sink.url })
  const project = await newProject(service, 'tide-tables', { [EXPORT]: 'traces', [TOKEN]: 'the-old-token' })
  await put(service, project, finished())
  await sink.received(1)
  await changeVariable(service, project, TOKEN, 'the-new-token')
  isDown = false
  await untilQueued(dataDir, ['delivered 31 traces'])
  expect(sink.requests[0]!.headers.authorization).toBe('Bearer the-old-token')
  expect(sink.requests.at(-1)!.headers.authorization).toBe('Bearer the-new-token')
})

test('exports once for ten concurrent identical records', async () => {
  const [sink, dataDir] = [await startSink(), await dataDirectory()]
  const service = await serve('core', dataDir, { PENSTOCK_EXPORT_ENDPOINT: sink.url })
  const project = await newProject(service, 'tide-tables', { [EXPORT]: 'traces,metrics,logs' })
  await Promise.all(Array.from({ length: 10 }, () => put(service, project, finished())))
  await untilQueued(dataDir, delivered())
  expect(credentialsBySignal(sink)).toEqual(signalNames.map((signal) => `${signal} with nothing`))
})

test('exports each project with its own token', async () => {
  const [sink, dataDir] = [await startSink(), await dataDirectory()]
  const service = await serve('core', dataDir, { PENSTOCK_EXPORT_ENDPOINT: sink.url })
  for (const [path, token, id] of [
    ['one', 'token-of-one', 31],
    ['other', 'token-of-the-other', 32],
  ] as const) {
    await put(service, await newProject(service, path, { [EXPORT]: 'traces', [TOKEN]: token }), finished(id), id)
  }
  await untilQueued(dataDir, ['delivered 31 traces', 'delivered 32 traces'])
  expect(credentialsBySignal(sink).toSorted()).toEqual([
    'traces with Bearer token-of-one',
    'traces with Bearer token-of-the-other',
  ])
})

test('an export of a removed project is dead, with the reason', async () => {
  const dataDir = await dataDirectory()
  let isDown = true
  const sink = await startSink(() => (isDown ? { play: 'reply', status: 503 } : accept()))
  const service = await serve('core', dataDir, { PENSTOCK_EXPORT_ENDPOINT: sink.url })
  const project = await newProject(service, 'tide-tables')
  await setVariable(service, project, EXPORT, 'traces')
  await put(service, project, finished())
  await sink.received(1)
  await call(service, 'DELETE', `/projects/${project}`)
  isDown = false
  await untilQueued(dataDir, ['dead 31 traces'])
  const { stdout } = await beside(dataDir, 'export-queue', 'list')
  expect(stdout).toMatch(/ project 1, gone .*the project has been removed$/m)
})

test.each([
  ['"object_kind": "pipeline"', '"object_kind": "note"'],
  ['"object_kind": "pipeline"', '"object_kind": "build"'],
])('refuses a record with %s replaced by %s, and stores nothing', async (words, others) => {
  const dataDir = await dataDirectory()
  const service = await serve('core', dataDir)
  const project = await newProject(service, 'tide-tables', { [EXPORT]: 'traces' })
  await expect(put(service, project, finished().replace(words, others))).rejects.toThrow(/: 4\d\d \{/)
  expect(await call(service, 'GET', `/projects/${project}/pipelines`)).toEqual([])
  expect(await queued(dataDir)).toEqual([])
})
