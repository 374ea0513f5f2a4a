import { decodeRequest, type Span } from '@penstock/otlp'
import type { ScriptedServer } from '@penstock/testkit'
import { beforeEach, expect, test } from 'vitest'
import { backfill, receiver, stateFile } from '../cli/backfill-run.ts'
import { startSink } from '../gateway/accepting-sink.ts'
import { until } from '../gateway/until.ts'
import { call, dataDirectory, EXPORT, newProject, queued, ROOT_TOKEN, type Service, serve } from './service.ts'
import { signalOf } from './sink.ts'

let sink: ScriptedServer
let dataDir: string
let service: Service
/** Of root alone. */
let vault: number
/** Where Noor is a Developer. */
let garden: number
let noorsToken: string

beforeEach(async () => {
  sink = await startSink()
  dataDir = await dataDirectory()
  service = await serve('core', dataDir, {
    PENSTOCK_EXPORT_ENDPOINT: sink.url,
  })
  vault = await newProject(service, 'vault', { [EXPORT]: 'traces' })
  garden = await newProject(service, 'garden', { [EXPORT]: 'traces' })
  const noor = { username: 'noor', name: 'Noor', email: 'noor@example.test', force_random_password: true }
  const { id } = await call(service, 'POST', '/users', noor)
  await call(service, 'POST', `/projects/${garden}/members`, { user_id: id, access_level: 30 })
  const token = { name: 'laptop', scopes: ['api'] }
  noorsToken = (await call(service, 'POST', `/users/${id}/personal_access_tokens`, token)).token
})

/** A finished pipeline with a job, whose project may be left out. */
const record = (id: number, run: object = {}, more: object = {}) => ({
  object_attributes: {
    ...{ id, status: 'success', ref: 'main' },
    ...{ created_at: '2026-02-03 04:00:00 UTC', finished_at: '2026-02-03 04:02:00 UTC' },
    ...run,
  },
  bridges: [],
  builds: [{ id: id * 10, name: 'unit', stage: 'test', status: 'success', finished_at: '2026-02-03 04:01:00 UTC' }],
  ...more,
})

const put = (project: number, id: number, body: object) =>
  call(service, 'PUT', `/projects/${project}/pipeline_records/${id}`, body)

/** Of what Noor puts into the garden: status and body. */
async function noorPuts(id: number, body: object): Promise<[number, unknown]> {
  const response = await fetch(`${service.url}/api/v4/projects/${garden}/pipeline_records/${id}`, {
    method: 'PUT',
    headers: { 'PRIVATE-TOKEN': noorsToken, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  return [response.status, await response.json()]
}

const delivered = (...ids: readonly number[]) =>
  until(`${ids} have been delivered`, async () => {
    return (await queued(dataDir)).join() === ids.map((id) => `delivered ${id} traces`).join()
  })

interface Exported extends Pick<Span, 'name' | 'traceId' | 'spanId' | 'parentSpanId'> {
  readonly resource: Readonly<Record<string, unknown>>
}

/** All spans that have arrived, by name and id. */
function spansIn({ requests }: Pick<ScriptedServer, 'requests'>): Exported[] {
  return requests
    .filter((request) => signalOf(request) === 'traces')
    .flatMap(({ body }) => decodeRequest('traces', body, 'protobuf').resources)
    .flatMap(({ resource, scopes }) => {
      const entries = resource.attributes.map(({ key, value }) => [key, value])
      const spans = scopes.flatMap(({ items }) => items)
      return spans.map((span) => ({ ...span, resource: Object.fromEntries(entries) }))
    })
    .toSorted((a, b) => (a.spanId < b.spanId ? -1 : 1))
}

const foreign = 'is a pipeline of another project'

test('whoever writes into one project writes neither into a trace nor under the name of another', async () => {
  await put(vault, 31, record(31))
  await delivered(31)
  const before = spansIn(sink)
  const vaultProject = await call(service, 'GET', `/projects/${vault}`)

  const conflict = 'Pipeline 31 belongs to another project: ids of pipelines count for the whole instance'
  expect(await noorPuts(31, record(31, { finished_at: '2026-02-03 05:00:00 UTC' }))).toEqual([
    409,
    { message: conflict },
  ])
  const refused: readonly (readonly [object, object, string])[] = [
    [{ root_pipeline_id: 31 }, {}, foreign],
    [{ root_pipeline_id: '31' }, {}, foreign],
    [{ status: 'running', root_pipeline_id: 31 }, {}, foreign],
    [{}, { source_pipeline: { pipeline_id: 31 } }, 'source_pipeline names'],
    [{}, { source_pipeline: { pipeline_id: '31', project: { id: String(garden) } } }, 'source_pipeline names'],
    [
      { source: 'pipeline' },
      { source_pipeline: { pipeline_id: 31, project: { id: garden } } },
      'source_pipeline names',
    ],
    [
      {},
      { source_pipeline: { pipeline_id: 31, project: { id: vault } }, project: { id: vault } },
      'source_pipeline names',
    ],
  ]
  for (const [run, more, message] of refused) {
    const answer = await noorPuts(41, record(41, run, more))
    expect(answer, JSON.stringify([run, more])).toEqual([400, { message: expect.stringContaining(message) }])
    expect(JSON.stringify(answer)).not.toContain('vault')
  }
  expect(await call(service, 'GET', `/projects/${garden}/pipelines`)).toEqual([])

  // As another project's, of which it is only a link; and as that other project altogether.
  const from = { pipeline_id: 31, job_id: 310, project: { id: vault } }
  expect((await noorPuts(42, record(42, { source: 'pipeline' }, { source_pipeline: from })))[0]).toBe(201)
  expect((await noorPuts(43, record(43, {}, { project: vaultProject })))[0]).toBe(201)
  await delivered(31, 42, 43)
  const others = spansIn(sink).filter(({ spanId }) => !before.some((span) => span.spanId === spanId))
  expect(others).toHaveLength(4)
  for (const { traceId, resource } of others) {
    expect(before.map((span) => span.traceId)).not.toContain(traceId)
    expect(resource).toMatchObject({
      'vcs.repository.name': 'garden',
      'svc.vcs.repository.id': String(garden),
      'vcs.repository.url.full': `${service.url}/root/garden`,
    })
  }
})

test('a root that nobody knew when it was told of is looked at again before the export', async () => {
  expect((await noorPuts(41, record(41, { status: 'running', root_pipeline_id: 31 })))[0]).toBe(201)
  await put(vault, 31, record(31))
  expect(await noorPuts(41, record(41))).toEqual([400, { message: expect.stringContaining(foreign) }])
  await delivered(31)
})

test('a backfill from our own API makes what the live export has made, also of records that name no project', async () => {
  const bridges = [{ id: 319, name: 'start', stage: 'test', status: 'success' }]
  const child = { source_pipeline: { pipeline_id: 31, job_id: 319 } }
  await put(garden, 31, record(31, {}, { bridges }))
  await put(garden, 32, record(32, { source: 'parent_pipeline' }, child))
  await put(garden, 33, record(33, {}, { project: { id: 9, web_url: 'https://elsewhere.example.test/g/p' } }))
  await delivered(31, 32, 33)

  const server = await receiver()
  const { exitCode, stderr } = await backfill({
    from: service.url,
    project: 'root/garden',
    endpoint: server.url,
    state: await stateFile(),
    flags: ['--signals', 'traces', '--encoding', 'protobuf', '--service-name', 'svc-ci'],
    world: { env: { PENSTOCK_FORGE_TOKEN: ROOT_TOKEN } },
  })
  expect([exitCode, stderr]).toEqual([0, expect.any(String)])
  const live = spansIn(sink).map(identityOf)
  expect(live).toHaveLength(7)
  expect(spansIn(server).map(identityOf)).toEqual(live)
  expect(new Set(live.map(({ traceId }) => traceId)).size).toBe(2)
})

const identityOf = ({ name, traceId, spanId, parentSpanId, resource }: Exported): Exported => ({
  ...{ name, traceId, spanId, parentSpanId },
  resource,
})
