import { expect, test } from 'vitest'
import { server, token, withAdministeredServer } from '../server/administered-server.harness.ts'

withAdministeredServer()

const SELF = 'https://svc.example.test/api/v4/geo_nodes'
const draft = { name: 'eu-2', url: 'https://eu2.example.test' }
const call = (method: string, path: string, json?: object) =>
  server.call(method, path, { token, ...(json && { json }) })
const create = (json: object = {}, path = 'geo_nodes') => call('POST', path, { ...draft, ...json })
const createPrimary = () => create({ name: 'main', url: 'https://svc.example.test/', primary: true })

const eu2 = {
  id: 1,
  name: 'eu-2',
  url: 'https://eu2.example.test/',
  internal_url: 'https://eu2.example.test/',
  primary: false,
  enabled: true,
  current: false,
  files_max_capacity: 10,
  repos_max_capacity: 25,
  verification_max_capacity: 100,
  container_repositories_max_capacity: 10,
  selective_sync_type: null,
  selective_sync_shards: [],
  selective_sync_namespace_ids: [],
  minimum_reverification_interval: 90,
  sync_object_storage: false,
  blob_download_timeout: 28_800,
  clone_protocol: 'http',
  web_edit_url: 'https://svc.example.test/admin/geo/sites/1/edit',
  web_geo_replication_details_url: 'https://svc.example.test/admin/geo/sites/1/replication/lfs_objects',
  _links: { self: `${SELF}/1`, status: `${SELF}/1/status`, repair: `${SELF}/1/repair` },
}

test('a node is created, listed, shown, changed and deleted', async () => {
  const { status, body, headers } = await create()
  expect([status, body]).toEqual([201, eu2])
  expect([headers.get('deprecation'), headers.get('sunset')]).toEqual([null, null])
  const listed = await call('GET', 'geo_nodes')
  expect([listed.status, listed.body, listed.headers.get('x-total')]).toEqual([200, [eu2], '1'])
  expect(await call('PUT', 'geo_nodes/1')).toMatchObject({ status: 200, body: eu2 })
  const changed = await call('PUT', 'geo_nodes/1', {
    selective_sync_type: 'shards',
    selective_sync_shards: 'default,other',
    enabled: false,
  })
  expect(changed.body).toEqual({
    ...eu2,
    enabled: false,
    selective_sync_type: 'shards',
    selective_sync_shards: ['default', 'other'],
  })
  expect(await call('GET', 'geo_nodes/1')).toMatchObject({ status: 200, body: changed.body })
  expect((await call('DELETE', 'geo_nodes/1')).status).toBe(204)
  expect(await call('GET', 'geo_nodes/1')).toMatchObject({ status: 404, body: { message: '404 Not found' } })
})

test('a site is the same as a node, with other links', async () => {
  const { body } = await create({}, 'geo_sites')
  const self = 'https://svc.example.test/api/v4/geo_sites/1'
  const links = { self, status: `${self}/status`, repair: `${self}/repair` }
  expect(body).toEqual({ ...eu2, _links: links })
  expect((await call('GET', 'geo_nodes')).body).toEqual([eu2])
  expect((await call('PUT', 'geo_sites/1', { primary: true })).body).toMatchObject({ primary: true })
  const { body: status } = await call('GET', 'geo_sites/1/status')
  expect(status._links).toEqual({ self: `${self}/status`, site: self })
  expect((await call('GET', 'geo_sites/status')).body).toEqual([status])
})

test('a secondary has an OAuth application, which is listed and goes with the node', async () => {
  await create()
  const listed = async () => (await call('GET', 'applications')).body
  expect(await listed()).toMatchObject([
    {
      application_name: 'Geo node: https://eu2.example.test/',
      callback_url: 'https://eu2.example.test/oauth/geo/callback',
      scopes: ['read_user'],
    },
  ])
  await call('PUT', 'geo_nodes/1', { url: 'https://eu3.example.test' })
  expect(await listed()).toMatchObject([{ application_name: 'Geo node: https://eu3.example.test/' }])
  await call('DELETE', 'geo_nodes/1')
  expect(await listed()).toEqual([])
})

test.each([
  [{}, { error: 'name is missing, url is missing' }],
  [{ name: 'eu-2' }, { error: 'url is missing' }],
  [{ ...draft, files_max_capacity: 'many' }, { error: 'files_max_capacity is invalid' }],
  [{ ...draft, url: 'eu2' }, { message: { url: ['must be a valid URL'] } }],
  [
    { ...draft, url: 'ftp://eu2', files_max_capacity: -1 },
    {
      message: {
        url: ['is blocked: Only allowed schemes are http, https'],
        files_max_capacity: ['must be greater than or equal to 0'],
      },
    },
  ],
  [
    { ...draft, name: 'https://svc.example.test' },
    { message: { base: ['Current node must be the primary node or you will be locking yourself out'] } },
  ],
])('refuses %j', async (json, body) => {
  expect(await call('POST', 'geo_nodes', json)).toMatchObject({ status: 400, body })
})

test('the status of the primary has what the database knows, and null or zero for the rest', async () => {
  await createPrimary()
  const { status, body } = await call('GET', 'geo_nodes/1/status?refresh=true')
  expect(status).toBe(200)
  expect(body).toMatchObject({
    geo_node_id: 1,
    healthy: true,
    health: 'Healthy',
    health_status: 'Healthy',
    missing_oauth_application: false,
    db_replication_lag_seconds: null,
    projects_count: 0,
    repositories_count: 0,
    project_repositories_count: 0,
    snippet_repositories_count: 0,
    merge_request_diffs_count: 0,
    lfs_objects_count: null,
    replication_slots_used_in_percentage: '0.00%',
    lfs_objects_synced_in_percentage: '0.00%',
    last_event_timestamp: 0,
    last_successful_status_check_timestamp: 1_770_091_506,
    updated_at: '2026-02-03T04:05:06.789Z',
    storage_shards_match: true,
    _links: { self: `${SELF}/1/status`, node: `${SELF}/1` },
  })
  expect(Object.keys(body)).toHaveLength(26 + 37 * 13 + 7)
})

test('secondaries have no status, and are missing from the lists', async () => {
  await create()
  expect(await call('GET', 'geo_nodes/1/status')).toMatchObject({
    status: 404,
    body: { message: '404 Status for Geo node not found Not Found' },
  })
  await createPrimary()
  for (const path of ['geo_nodes/status', 'geo_nodes/statuses', 'geo_sites/statuses']) {
    const { body } = await call('GET', path)
    expect(body.map(({ geo_node_id }: Record<string, unknown>) => geo_node_id)).toEqual([2])
  }
  expect(await call('GET', 'geo_nodes/current/failures')).toMatchObject({ status: 200, body: [] })
})

test('a repair answers with the node and its status, and is refused for a secondary', async () => {
  await create()
  const message = '400 Bad request - Repair works only against the primary node'
  expect(await call('POST', 'geo_nodes/1/repair')).toMatchObject({ status: 400, body: { message } })
  const { body: node } = await createPrimary()
  const { body: status } = await call('GET', 'geo_nodes/2/status')
  const repaired = await call('POST', 'geo_nodes/2/repair')
  expect(repaired.status).toBe(200)
  expect(repaired.body).toEqual({ ...status, ...node, _links: { ...status._links, ...node._links } })
})

test('an id that is no number is invalid, and other callers are refused before that', async () => {
  expect(await call('GET', 'geo_nodes/first')).toMatchObject({ status: 400, body: { error: 'id is invalid' } })
  expect(await server.call('POST', 'geo_nodes', {})).toMatchObject({ status: 401 })
})
