import { createHash } from 'node:crypto'
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
/** A project that only root can access. */
let vault: number
/** A project in which Noor is a Developer. */
let garden: number
let noorsToken: string

beforeEach(() => begin())

/** Starts a service with both projects. */
async function begin(env: Readonly<Record<string, string>> = {}): Promise<void> {
  sink = await startSink()
  dataDir = await dataDirectory()
  service = await serve('core', dataDir, {
    PENSTOCK_EXPORT_ENDPOINT: sink.url,
    ...env,
  })
  vault = await newProject(service, 'vault', { [EXPORT]: 'traces' })
  garden = await newProject(service, 'garden', { [EXPORT]: 'traces' })
  const noor = { username: 'noor', name: 'Noor', email: 'noor@example.test', force_random_password: true }
  const { id } = await call(service, 'POST', '/users', noor)
  await call(service, 'POST', `/projects/${garden}/members`, { user_id: id, access_level: 30 })
  const token = { name: 'laptop', scopes: ['api'] }
  noorsToken = (await call(service, 'POST', `/users/${id}/personal_access_tokens`, token)).token
}

/** Returns the record of a finished pipeline with a job. The project may be left out. */
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

/** Returns status and body of the answer to a record that Noor puts into the garden. */
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
    const expected = ids.map((id) => `delivered ${id} traces`)
    return (await queued(dataDir)).toSorted().join() === expected.toSorted().join()
  })

interface Exported extends Pick<Span, 'name' | 'traceId' | 'spanId' | 'parentSpanId' | 'attributes' | 'links'> {
  readonly resource: Readonly<Record<string, unknown>>
}

/** Returns all received spans, sorted by id. */
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

/** Returns the projects with spans in each trace, by trace id. */
function projectsByTrace(): Map<string, Set<unknown>> {
  const projects = new Map<string, Set<unknown>>()
  for (const { traceId, resource } of spansIn(sink)) {
    projects.set(traceId, (projects.get(traceId) ?? new Set()).add(resource['svc.vcs.repository.id']))
  }
  return projects
}
const expectNoSharedTrace = () => {
  for (const [traceId, projects] of projectsByTrace()) expect([traceId, ...projects]).toHaveLength(2)
}

const spansOf = (project: number, id: number) =>
  spansIn(sink).filter(
    ({ resource, attributes }) =>
      resource['svc.vcs.repository.id'] === String(project) &&
      attributes.some(({ key, value }) => key === 'cicd.pipeline.run.id' && value === String(id)),
  )

test('ids that another project recorded earlier are recorded and exported in separate traces', async () => {
  for (const id of [31, 32]) expect((await noorPuts(id, record(id)))[0]).toBe(201)
  await delivered(31, 32)
  for (const id of [31, 32]) await put(vault, id, record(id))
  await delivered(31, 32, 31, 32)
  expectNoSharedTrace()
  expect(projectsByTrace().size).toBe(4)
  const url = `${service.url}/root/vault`
  const sha = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32)
  expect(new Set(spansOf(vault, 31).map(({ traceId }) => traceId))).toEqual(
    new Set([sha(`svc-ci\n1\ntrace\n${url}\n31`)]),
  )
  const host = new URL(service.url).host
  expect(spansOf(garden, 31)[0]!.traceId).toBe(sha(`svc-ci\n1\ntrace\n${host}\n31`))
  expect(await call(service, 'GET', `/projects/${vault}/pipelines`)).toMatchObject([{ id: 32 }, { id: 31 }])
})

test('a record that claims pipelines of another project writes into no trace of that project', async () => {
  await put(vault, 31, record(31))
  await delivered(31)
  const vaultProject = await call(service, 'GET', `/projects/${vault}`)
  const claims: readonly (readonly [object, object])[] = [
    [{ root_pipeline_id: 31 }, {}],
    [{ root_pipeline_id: '31' }, {}],
    [{}, { source_pipeline: { pipeline_id: 31 } }],
    [{}, { source_pipeline: { pipeline_id: '31', project: { id: String(garden) } } }],
    [{ source: 'pipeline' }, { source_pipeline: { pipeline_id: 31, project: { id: garden } } }],
    [{}, { source_pipeline: { pipeline_id: 31, project: { id: vault } }, project: { id: vault } }],
    [{}, { project: vaultProject }],
  ]
  const ids = claims.map((_, index) => 41 + index)
  for (const [index, [run, more]] of claims.entries()) {
    expect((await noorPuts(41 + index, record(41 + index, run, more)))[0]).toBe(201)
  }
  await delivered(31, ...ids)
  expectNoSharedTrace()
  for (const { resource } of ids.flatMap((id) => spansOf(garden, id))) {
    expect(resource).toMatchObject({
      'vcs.repository.name': 'garden',
      'vcs.repository.url.full': `${service.url}/root/garden`,
    })
  }
  // Pipelines that name 31 form one tree, as if the project's own 31 were recorded.
  await noorPuts(31, record(31))
  await delivered(31, ...ids, 31)
  expectNoSharedTrace()
  const trees = new Set([31, ...ids.slice(0, -1)].map((id) => spansOf(garden, id)[0]!.traceId))
  expect(trees.size).toBe(1)
})

test('a root that one project names before another records it stays in the trace of the first', async () => {
  expect((await noorPuts(41, record(41, { root_pipeline_id: 31 })))[0]).toBe(201)
  await put(vault, 31, record(31))
  await delivered(31, 41)
  expectNoSharedTrace()
})

test('a link leads to the upstream pipeline of the named project, and of no other', async () => {
  const path = 'root/shed'
  const shed = await newProject(service, 'shed', { [EXPORT]: 'traces' })
  await put(vault, 31, record(31))
  const from = (project: object) => ({ source_pipeline: { pipeline_id: 31, job_id: 319, project } })
  const cases: readonly (readonly [number, object])[] = [
    [42, { id: vault }],
    [43, { path_with_namespace: 'root/vault' }],
    [44, { path_with_namespace: path }],
    [45, { path_with_namespace: 'root/nowhere' }],
    [46, { web_url: `${service.url}/root/nowhere` }],
    [47, { web_url: 'https://elsewhere.example.test/root/vault' }],
  ]
  for (const [id, project] of cases) {
    expect((await noorPuts(id, record(id, { source: 'pipeline' }, from(project))))[0]).toBe(201)
  }
  await put(shed, 31, record(31))
  await delivered(31, ...cases.map(([id]) => id), 31)
  const linked = new Map(
    cases.map(([id]) => [id, spansOf(garden, id).flatMap(({ links }) => links.map(({ traceId }) => traceId))]),
  )
  const traceOf = (project: number) => spansOf(project, 31)[0]!.traceId
  expect(linked.get(42)).toEqual([traceOf(vault)])
  expect(linked.get(43)).toEqual([traceOf(vault)])
  expect(linked.get(44)).toEqual([traceOf(shed)])
  expect(linked.get(45)).toEqual([])
  expect(linked.get(46)).toEqual([])
  expect(linked.get(47)).toHaveLength(1)
  for (const id of [44, 47]) expect(linked.get(id)).not.toContain(traceOf(vault))
  expectNoSharedTrace()
})

test('a renamed project keeps its trace ids, and a project that takes its path gets others', async () => {
  await noorPuts(31, record(31))
  await noorPuts(32, record(32))
  await put(vault, 31, record(31))
  await delivered(31, 32, 31)
  await call(service, 'PUT', `/projects/${vault}`, { path: 'cellar' })
  const other = await newProject(service, 'vault', { [EXPORT]: 'traces' })
  await put(other, 31, record(31))
  const child = record(33, { source: 'parent_pipeline' }, { source_pipeline: { pipeline_id: 31, job_id: 319 } })
  await put(vault, 33, child)
  await put(vault, 32, record(32))
  await delivered(31, 32, 31, 31, 32, 33)
  expectNoSharedTrace()
  expect(spansOf(vault, 33)[0]!.traceId).toBe(spansOf(vault, 31)[0]!.traceId)
})

test('a pipeline that finishes again is exported into the same trace, even under another URL', async () => {
  await begin({ PENSTOCK_EXPORT_REEXPORT: 'link' })
  await noorPuts(31, record(31))
  await put(vault, 31, record(31))
  await delivered(31, 31)
  await call(service, 'PUT', `/projects/${vault}`, { path: 'cellar' })
  await call(service, 'DELETE', `/projects/${garden}`)
  await put(vault, 31, record(31, { finished_at: '2026-02-03 05:00:00 UTC' }))
  await delivered(31, 31, 31)
  const again = spansOf(vault, 31).filter(({ links }) => links.length > 0)
  expect(again).toHaveLength(1)
  const first = spansOf(vault, 31).find(({ links, name }) => links.length === 0 && name === again[0]!.name)!
  expect(again[0]).toMatchObject({ traceId: first.traceId, links: [{ traceId: first.traceId, spanId: first.spanId }] })
  expectNoSharedTrace()
})

test('under same-trace, a pipeline joins a trace of another project only below a pipeline which that project recorded', async () => {
  await begin({ PENSTOCK_EXPORT_OPTIONS: '{"multiProject": "same-trace"}' })
  for (const id of [31, 42]) await put(vault, id, record(id))
  const from = (id: number, project: object) => ({ source_pipeline: { pipeline_id: id, job_id: 319, project } })
  const cases: readonly (readonly [number, object])[] = [
    [42, from(31, { path_with_namespace: 'root/vault' })],
    [43, from(32, { path_with_namespace: 'root/vault' })],
    [44, from(31, { path_with_namespace: 'root/nowhere' })],
  ]
  for (const [id, more] of cases) expect((await noorPuts(id, record(id, { source: 'pipeline' }, more)))[0]).toBe(201)
  await delivered(31, 42, 42, 43, 44)
  const shared = [...projectsByTrace()].filter(([, projects]) => projects.size > 1).map(([traceId]) => traceId)
  expect(shared).toEqual([spansOf(vault, 31)[0]!.traceId])
  expect(spansOf(garden, 42)[0]!.traceId).toBe(shared[0])
  // Pipelines 42 of both projects are distinct.
  const spanIds = spansIn(sink).map(({ spanId }) => spanId)
  expect(new Set(spanIds).size).toBe(spanIds.length)
})

test('a backfill from our own API exports the same as the live export, also for records that name no project', async () => {
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

const identityOf = ({ name, traceId, spanId, parentSpanId, resource }: Exported) => ({
  ...{ name, traceId, spanId, parentSpanId },
  resource,
})
