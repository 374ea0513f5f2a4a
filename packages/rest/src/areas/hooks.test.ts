import { accessLevels, endHookCall, insertHookCall, switchByColumn, type User } from '@penstock/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Call, RestServer } from '../server/rest-server.harness.ts'
import { hooksArea } from './hooks.ts'

let server: RestServer
let token: string

beforeEach(async () => {
  server = await RestServer.start({ areas: [hooksArea] })
  const { world } = server
  const mira: User = await world.user('mira')
  const project = await world.project('tools', await world.group('ops'))
  await world.member(project, mira, accessLevels.maintainer)
  token = await server.tokenOf(mira)
})
afterEach(() => server.close())

const all = 'projects/ops%2Ftools/hooks'
const url = 'https://ci.example.test/in'
const call = async (request: string, json?: object, rest: Omit<Call, 'token' | 'json'> = {}) => {
  const [method, path] = request.split(' ') as [string, string]
  const { status, body } = await server.call(method, path, { ...rest, json, token })
  return [status, body]
}
const create = async (draft: object = {}): Promise<number> => (await call(`POST ${all}`, { url, ...draft }))[1].id

test('a hook in the form of the API, with its defaults', async () => {
  const [status, body] = await call(`POST ${all}`, {
    url: `${url}/{tenant}`,
    custom_headers: [{ key: 'X-Team', value: 'a' }],
    url_variables: [{ key: 'tenant', value: 'b' }],
    token: 'secret',
    pipeline_events: 'true',
  })
  expect(status).toBe(201)
  const isOn = (name: string) => name === 'push_events' || name === 'pipeline_events'
  const flags = {
    ...Object.fromEntries([...switchByColumn.keys()].map((name) => [name, isOn(name)])),
    enable_ssl_verification: true,
    vulnerability_events: false,
    token_present: true,
    signing_token_present: false,
    ai_flow_callback_enabled: false,
  }
  expect(body).toEqual({
    id: body.id,
    url: 'https://ci.example.test/in/{tenant}',
    name: null,
    description: null,
    created_at: '2026-02-03T04:05:06.789Z',
    alert_status: 'executable',
    disabled_until: null,
    url_variables: [{ key: 'tenant' }],
    push_events_branch_filter: null,
    branch_filter_strategy: 'wildcard',
    custom_webhook_template: null,
    custom_headers: [{ key: 'X-Team' }],
    project_id: body.project_id,
    ...flags,
  })
  expect(await call(`GET ${all}`)).toEqual([200, [body]])
  // Clients send back everything that they have read.
  expect(await call(`PUT ${all}/${body.id}`, { ...body, name: 'CI' })).toEqual([200, { ...body, name: 'CI' }])
  expect(await call(`DELETE ${all}/${body.id}`)).toEqual([200, { ...body, name: 'CI' }])
  expect(await call(`DELETE ${all}/${body.id}`)).toEqual([204, undefined])
  expect(await call(`GET ${all}/${body.id}`)).toEqual([404, { message: '404 Not found' }])
})

describe('errors', () => {
  test.each<[object, number, object]>([
    [{}, 400, { error: 'url is missing' }],
    [
      { branch_filter_strategy: 'all' },
      400,
      { error: 'url is missing, branch_filter_strategy does not have a valid value' },
    ],
    [{ url, push_events: 'maybe' }, 400, { error: 'push_events is invalid' }],
    [{ url, custom_headers: [{ key: 'X-A' }] }, 400, { error: 'custom_headers[0][value] is missing' }],
    [
      { url: '', ai_flow_callback_enabled: true },
      400,
      { message: '400 Bad request - ai_flow_callback_enabled is not available for this namespace' },
    ],
    [{ url: '' }, 422, { error: 'Invalid url given' }],
    [{ url, push_events_branch_filter: 'a..b' }, 422, { error: 'Invalid branch filter given' }],
    [{ url, token: 'a\nb' }, 422, { error: 'Token is invalid' }],
  ])('of POST %j', async (draft, status, body) => {
    expect(await call(`POST ${all}`, draft)).toEqual([status, body])
  })

  test('of PUT, by attribute', async () => {
    const one = `${all}/${await create()}`
    expect(await call(`PUT ${one}`, { name: 'x' })).toEqual([400, { error: 'url is missing' }])
    expect(await call(`PUT ${one}`, { url: 'x' })).toEqual([422, { error: 'Invalid url given' }])
    expect(await call(`PUT ${one}`, { url, token: 'a\nb' })).toEqual([422, { message: { token: ['is invalid'] } }])
    expect(await call(`PUT ${one}`, { url, custom_headers: [{ key: '-', value: 'a' }] })).toEqual([
      422,
      { error: 'Custom headers validation failed: must be a valid json schema' },
    ])
  })

  test('of single headers and variables', async () => {
    const one = `${all}/${await create()}`
    expect(await call(`PUT ${one}/custom_headers/X-A`, { value: 'a' })).toEqual([204, undefined])
    expect(await call(`PUT ${one}/custom_headers/X-A`, {})).toEqual([400, { error: 'value is missing' }])
    expect(await call(`PUT ${one}/custom_headers/X1b`, { value: 'a' })).toEqual([
      422,
      { error: 'Illegal key or value' },
    ])
    const long = 'x'.repeat(256)
    expect(await call(`PUT ${one}/custom_headers/${long}`, { value: 'a' })).toEqual([
      400,
      { error: 'key is too long (maximum is 255 characters)' },
    ])
    expect(await call(`DELETE ${one}/custom_headers/X-B`)).toEqual([404, { message: '404 Custom header Not Found' }])
    expect(await call(`DELETE ${one}/url_variables/a.json`)).toEqual([404, { message: '404 URL variable Not Found' }])
  })

  test('of tests', async () => {
    const one = `${all}/${await create()}`
    expect(await call(`POST ${one}/test/other_events`)).toEqual([400, { error: 'trigger does not have a valid value' }])
    expect(await call(`POST ${all}/99/test/push_events`)).toEqual([404, { message: '404 Not found' }])
    const unavailable = [422, { message: 'Testing not available for this hook' }]
    expect(await call(`POST ${one}/test/deployment_events`)).toEqual(unavailable)
    for (let calls = 2; calls <= 5; calls += 1) await call(`POST ${one}/test/deployment_events`)
    const other = `${all}/${await create()}`
    expect((await call(`POST ${other}/test/deployment_events`))[0]).toBe(429)
    expect((await call(`POST ${all}/99/test/push_events`))[0]).toBe(404)
  })
})

test('the event log of the past seven days, filtered by status', async () => {
  const hookId = await create()
  const add = (status: number | undefined) =>
    server.world.core.db.write(async (db) => {
      const tx = { db, nowMs: server.world.clock.nowMs() }
      const id = await insertHookCall(tx, {
        hookId,
        trigger: 'push_hooks',
        url,
        urlDigest: '',
        idempotencyKey: 'k',
        requestHeaders: { 'Content-Type': 'application/json' },
        requestData: '{"object_kind":"push"}',
      })
      const answer = { responseHeaders: {}, responseBody: '', durationMs: 214 }
      await endHookCall(tx, id, { ...answer, status, internalError: status === undefined ? 'refused' : undefined })
      server.world.clock.advance(1_000)
    })
  for (const status of [200, 404, 500, undefined]) await add(status)
  const statuses = async (query: string) => {
    const [, events] = await call(`GET ${all}/${hookId}/events${query}`)
    return events.map(({ response_status }: { response_status: string }) => response_status)
  }
  expect(await statuses('')).toEqual(['internal error', '500', '404', '200'])
  expect(await statuses('?status=successful,404')).toEqual(['404', '200'])
  expect(await statuses('?status=server_failure')).toEqual(['500'])
  expect(await statuses('?status=internal%20error')).toEqual(['internal error'])
  expect((await call(`GET ${all}/${hookId}/events?per_page=1&page=4`))[1]).toMatchObject([
    {
      url,
      trigger: 'push_hooks',
      request_headers: { 'Content-Type': 'application/json' },
      request_data: { object_kind: 'push' },
      response_body: '',
      execution_duration: 0.214,
      response_status: '200',
      created_at: '2026-02-03T04:05:06.789Z',
    },
  ])
  const invalid = (name: string) => [400, { error: `${name} does not have a valid value` }]
  expect(await call(`GET ${all}/${hookId}/events?status=299`)).toEqual(invalid('status'))
  expect(await call(`GET ${all}/${hookId}/events?per_page=21`)).toEqual(invalid('per_page'))
  expect(await call(`GET ${all}/${hookId}/events?per_page=0`)).toEqual(invalid('per_page'))
  server.world.clock.advance(8 * 86_400_000)
  expect(await statuses('')).toEqual([])
})
