import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { guarded, type Listening, listen, openApiDocument, serveRoutes } from '@penstock/http'
import { silentLog } from '@penstock/runtime'
import { ManualClock } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { LiveStreams } from '../live/live-streams.ts'
import { OneThreadStore } from '../one-thread-store.harness.ts'
import { pipelineBody, pipelineTraceId } from '../pipeline.harness.ts'
import { counter, logBody, logRecord, metricBody, numberedTrace, toTraceId } from '../telemetry.harness.ts'
import { observeRoutes } from './observe-routes.ts'
import { runJson } from './pipeline-routes.ts'
import { observePath } from './query-route.ts'

class BadQuery extends Error {}
class NoSuchTrace extends Error {}
class StoreGone extends Error {}

let directory: string
let store: OneThreadStore
let listening: Listening

const routes = () =>
  observeRoutes<string, 'anyone'>({
    store,
    access: 'anyone',
    streams: new LiveStreams(new ManualClock(0)),
    callerOf: (caller) => caller,
    notSupported: () => new StoreGone(),
    tooManyStreams: () => new StoreGone(),
    unavailable: () => new StoreGone(),
    traceNotFound: () => new NoSuchTrace(),
    answerTooLarge: () => new BadQuery(),
    parse(schema, value) {
      const result = schema.safeParse(value)
      if (!result.success) throw new BadQuery()
      return result.data
    },
  })

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-observe-'))
  store = await OneThreadStore.open({ file: join(directory, 'observe.db'), clock: new ManualClock(1_767_225_600_000) })
  const served = guarded(routes(), (_, access) => access)
  const renderError = (error: unknown) => {
    if (error instanceof BadQuery) return { status: 400 }
    if (error instanceof StoreGone) return { status: 503 }
    return { status: error instanceof NoSuchTrace ? 404 : 500 }
  }
  listening = await listen(serveRoutes(served, { renderError, headers: {}, log: silentLog }), {
    host: '127.0.0.1',
    port: 0,
  })
  await store.receiveBody('traces', numberedTrace(1, { name: 'buy' }), 'json')
  await store.receiveBody('traces', numberedTrace(2), 'json')
  await store.receiveBody('logs', logBody('shop', logRecord(1, 9, 'open'), logRecord(2, 17, 'fire')), 'json')
  await store.receiveBody('metrics', metricBody('shop', counter(1, '3')), 'json')
})
afterEach(async () => {
  await listening.close()
  await store.close()
  rmSync(directory, { recursive: true })
})

async function get(path: string) {
  const response = await fetch(listening.url + observePath + path)
  const body = await response.text()
  const { status, headers } = response
  return { status, headers, json: body === '' ? undefined : JSON.parse(body) }
}

test.each([
  { path: '/services', found: [{ name: 'shop', signals: ['traces', 'metrics', 'logs'] }] },
  { path: '/traces', found: [{ trace_id: toTraceId(2) }, { trace_id: toTraceId(1), root: { name: 'buy' } }] },
  { path: '/traces?service=shop&until=2026-01-01T00:00:02Z', found: [{ trace_id: toTraceId(1) }] },
  { path: '/traces?since=1767225602000000000&limit=5', found: [{ trace_id: toTraceId(2) }] },
  {
    path: `/traces/${toTraceId(1).toUpperCase()}`,
    found: { resourceSpans: [{ scopeSpans: [{ spans: [{ name: 'buy' }] }] }] },
  },
  { path: '/metric_names?service=shop', found: [{ name: 'requests', series: 1 }] },
  { path: '/metrics?name=requests', found: { series: [{ points: [{ asInt: '3' }] }] } },
  { path: '/logs?severity=error', found: [{ record: { severityNumber: 17 } }] },
  { path: '/status', found: { retention_seconds: 604_800, max_bytes: 1_073_741_824, kept: { spans: 2 } } },
])('$path', async ({ path, found }) => {
  const answer = await get(path)
  expect(answer.status).toBe(200)
  expect(answer.json).toMatchObject(found)
  if (Array.isArray(found)) expect(answer.json).toHaveLength(found.length)
})

test('returns the purpose of the store with the status', async () => {
  expect((await get('/status')).json.purpose).toMatch(/laptop.*first five minutes/)
})

test.each([
  '/traces?limit=0',
  '/traces?limit=201',
  '/traces?limit=1&limit=2',
  '/traces?since=yesterday',
  '/traces?since=99999999999999999999',
  '/traces?since=2026-01-01T00:00:00',
  '/traces?colour=red',
  '/traces/1234',
  '/traces?cursor=abc',
  '/traces?attribute=colour',
  `/traces?attribute=a=${'x'.repeat(1_001)}`,
  '/traces?min_duration_ns=-1',
  '/traces?status=ok',
  '/pipelines?children=yes',
  '/pipelines?limit=201',
  '/pipelines/1234',
  '/metrics',
  '/logs?severity=loud',
  '/status?full',
  '/insights?since=2024-01-01T00:00:00Z',
  '/insights?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z',
  '/insights?timezone_offset_minutes=900',
  '/compare?a=median&b=median',
  `/compare?a=${toTraceId(1)}`,
])("refuses %s with the API's own error", async (path) => {
  expect((await get(path)).status).toBe(400)
})

test.each(['since', 'until'])('names the expected form for a malformed %s', (name) => {
  const query = routes().find(({ path }) => path.endsWith('/traces'))!.query!
  expect(query.safeParse({ [name]: '2026-02-01' }).error?.issues).toMatchObject([
    { path: [name], params: { expected: expect.stringContaining('2026-02-01T00:00:00Z') } },
  ])
})

test.each(['traces', 'pipelines'])('answers not found for an unknown trace (%s)', async (list) => {
  expect((await get(`/${list}/${'0'.repeat(32)}`)).status).toBe(404)
})

test('leads to the next page with the parameters of this one', async () => {
  const first = await get('/traces?limit=1&attribute=service.name%3Dshop&attribute=service.name%3Dshop')
  expect(first.json).toMatchObject([{ trace_id: toTraceId(2) }])
  const [, next] = /^<([^>]+)>; rel="next"$/.exec(first.headers.get('Link')!)!
  expect(next).toContain(`cursor=${first.headers.get('X-Next-Cursor')}`)
  expect(new URL(next!, listening.url).searchParams.getAll('attribute')).toHaveLength(2)
  const second = await get(next!.slice(observePath.length))
  expect(second.json).toMatchObject([{ trace_id: toTraceId(1) }])
  expect(second.headers.get('Link')).toBeNull()
})

test('refuses the cursor of another list', async () => {
  const { headers } = await get('/logs?limit=1')
  expect((await get(`/traces?cursor=${headers.get('X-Next-Cursor')}`)).status).toBe(400)
})

test('lists pipeline runs in the documented shape, and the values of filters', async () => {
  const attributes = { 'vcs.provider.name': 'github' }
  const jobs = [{ name: 'unit', start: 0, end: 9 }]
  await store.receiveBody('traces', pipelineBody({ number: 3, attributes, jobs }), 'json')
  const { json } = await get('/pipelines?project=Shop&status=success&children=0')
  expect(z.array(z.strictObject(runJson.shape)).parse(json)).toHaveLength(1)
  expect((await get('/pipelines?project=moss/shop')).json).toEqual(json)
  expect((await get('/pipelines?forge=github')).json).toEqual(json)
  expect((await get('/pipelines?forge=gitea')).json).toEqual([])
  expect((await get('/pipelines?forge=')).status).toBe(400)
  expect((await get('/pipelines?ref=none')).json).toEqual([])
  expect((await get(`/pipelines/${pipelineTraceId(3)}`)).json).toEqual(json[0])
  expect((await get('/facets')).json).toEqual({
    services: ['ci'],
    projects: ['moss/shop'],
    forges: ['github'],
    refs: [],
    statuses: ['success'],
  })
})

test('documents every route in the published API', () => {
  const api = { info: { title: 'observe', version: '0' }, securitySchemes: {}, security: () => [] }
  const { paths } = openApiDocument(routes(), api) as { paths: Record<string, unknown> }
  expect(Object.keys(paths)).toEqual(
    [
      'status',
      'services',
      'pipelines',
      'pipelines/{trace_id}',
      'facets',
      'insights',
      'compare',
      'traces',
      'traces/{trace_id}',
      'metric_names',
      'metrics',
      'metric_intervals',
      'logs',
      'live',
    ].map((path) => `${observePath}/${path}`),
  )
})
