import { createGroup, type User } from '@penstock/core'
import { type Listening, listen } from '@penstock/http'
import { areas, restListener } from '@penstock/rest'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

let world: World
let root: User
let listening: Listening

beforeEach(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  const core = {
    ...world.core,
    localAddressReason: (address: string) =>
      address === '10.1.2.3' ? 'Requests to the local network are not allowed' : undefined,
  }
  listening = await listen(
    restListener({ core, areas, log: silentLog, rateLimits: 'off', authenticate: async () => ({ actor: root }) }),
    { host: '127.0.0.1', port: 0 },
  )
})

afterEach(async () => {
  await listening.close(AbortSignal.abort())
  await world.close()
})

async function send(body?: string, type = 'application/json') {
  const reply = await fetch(`${listening.url}/api/v4/application/settings`, {
    method: body === undefined ? 'GET' : 'PUT',
    ...(body !== undefined && { headers: { 'content-type': type }, body }),
  })
  return [reply.status, (await reply.json()) as Record<string, unknown>] as const
}
const get = async () => (await send())[1]
const put = (json: object) => send(JSON.stringify(json))
const putForm = (form: string) => send(form, 'application/x-www-form-urlencoded')
const messages = async (json: object) => (await put(json))[1].message

describe('a request', () => {
  test('without a known setting changes nothing', async () => {
    const before = await get()
    world.clock.advance(1_000)
    expect(await put({})).toEqual([200, before])
    expect(await put({ no_such_setting: 1 })).toEqual([200, before])
  })

  test('with a whole record that was read changes nothing', async () => {
    await put({
      domain_denylist_enabled: true,
      domain_denylist: ['a.test'],
      external_pipeline_validation_service_token: 's',
    })
    const before = await get()
    world.clock.advance(1_000)
    expect(await put(before)).toEqual([200, before])
  })

  test('that changes something sets updated_at, and no other field', async () => {
    const before = await get()
    world.clock.advance(1_000)
    expect(await put({ issues_create_limit: 7 })).toEqual([
      200,
      { ...before, issues_create_limit: 7, updated_at: '2026-02-03T04:05:07.789Z' },
    ])
    expect(before.created_at).toBe('2026-02-03T04:05:06.789Z')
  })

  test('with several invalid settings reports them together, and stores none', async () => {
    const before = await get()
    const changes = {
      max_attachment_size: 0,
      deletion_adjourned_period: 91,
      home_page_url: 'x',
      issues_create_limit: 7,
    }
    expect(await messages(changes)).toEqual({
      deletion_adjourned_period: ['must be less than or equal to 90'],
      max_attachment_size: ['must be greater than 0'],
      home_page_url: ['must be a valid URL'],
    })
    expect(await get()).toEqual(before)
  })

  test('as a form converts numbers, switches, lists and objects', async () => {
    const form =
      'default_projects_limit=5&signup_enabled=f&runner_jobs_request_api_limit=7&domain_allowlist=a.test,%20b.test' +
      '&restricted_visibility_levels[]=public&repository_storages_weighted[default]=40&polling_interval_multiplier=1.5' +
      '&default_branch_protection_defaults[allowed_to_push][0][access_level]=30'
    expect(await putForm(form)).toMatchObject([
      200,
      {
        default_projects_limit: 5,
        signup_enabled: false,
        runner_jobs_request_api_limit: 7,
        domain_allowlist: ['a.test', 'b.test'],
        restricted_visibility_levels: ['public'],
        repository_storages_weighted: { default: 40 },
        polling_interval_multiplier: 1.5,
        default_branch_protection_defaults: { allowed_to_push: [{ access_level: 30 }] },
      },
    ])
  })
})

test.each([
  ['diagram_a_enabled', ['diagram_a_url'], { diagram_a_url: 'https://a.test' }],
  ['diagram_b_enabled', ['diagram_b_url'], { diagram_b_url: 'https://b.test' }],
  ['diagram_c_enabled', ['diagram_c_url'], { diagram_c_url: 'https://c.test' }],
  [
    'asset_proxy_enabled',
    ['asset_proxy_url', 'asset_proxy_secret_key'],
    { asset_proxy_url: 'https://p.test', asset_proxy_secret_key: 's' },
  ],
])('%s needs its companions in the same request', async (name, missing, companions) => {
  const error = missing.map((each) => `${each} is missing`).join(', ')
  expect(await put({ [name]: true })).toEqual([400, { error }])
  expect(await put({ [name]: true, ...companions })).toMatchObject([200, { [name]: true }])
  expect(await put({ [name]: true }), 'stored values do not count').toEqual([400, { error }])
  expect(await put({ [name]: false })).toMatchObject([200, { [name]: false }])
  const blank = Object.fromEntries(missing.map((each) => [each, '']))
  expect(await messages({ [name]: true, ...blank })).toMatchObject(
    Object.fromEntries(missing.map((each) => [each, expect.arrayContaining(["can't be blank"])])),
  )
})

test.each([
  [{ domain_denylist_enabled: true }, { domain_denylist: ['Domain denylist cannot be empty if denylist is enabled.'] }],
  [{ enforce_terms: true }, { base: ['You need to set terms to be enforced'] }],
  [
    { restricted_visibility_levels: ['private'] },
    {
      default_project_visibility: ['cannot be set to a restricted visibility level'],
      default_group_visibility: ['cannot be set to a restricted visibility level'],
    },
  ],
  [
    { external_authorization_service_enabled: true, external_authorization_service_timeout: 11 },
    {
      external_authorization_service_default_label: ["can't be blank"],
      external_authorization_service_timeout: ['must be less than or equal to 10'],
    },
  ],
  [
    {
      external_authorization_service_enabled: true,
      external_authorization_service_default_label: 'x',
      external_authorization_service_timeout: 0,
    },
    { external_authorization_service_timeout: ['must be greater than 0'] },
  ],
  [
    Object.fromEntries(
      ['rsa', 'dsa', 'ecdsa', 'ed25519', 'ecdsa_sk', 'ed25519_sk'].map((type) => [`${type}_key_restriction`, -1]),
    ),
    { allowed_key_types: ["can't be blank"] },
  ],
  [
    { delete_unconfirmed_users: true },
    { delete_unconfirmed_users: ['must be false when email confirmation setting is off'] },
  ],
  [
    { default_ci_config_path: '/ci.yml' },
    { default_ci_config_path: ['cannot include leading slash or directory traversal.'] },
  ],
  [
    { default_ci_config_path: 'a/../b' },
    { default_ci_config_path: ['cannot include leading slash or directory traversal.'] },
  ],
  [{ outbound_local_requests_whitelist: null }, { outbound_local_requests_whitelist: ['entries cannot be nil'] }],
  [
    { outbound_local_requests_whitelist: Array.from({ length: 1_001 }, (_, index) => `h${index}.test`) },
    { outbound_local_requests_whitelist: ['is too long (maximum is 1000 entries)'] },
  ],
  [
    { outbound_local_requests_whitelist: ['bücher.test', `${'a'.repeat(256)}`, '<b>x</b>'] },
    {
      outbound_local_requests_whitelist: [
        'entries cannot be larger than 255 characters',
        'unicode domains should use IDNA encoding',
        'entries cannot contain HTML tags',
      ],
    },
  ],
  [{ repository_storages_weighted: { fast: 1 } }, { repository_storages_weighted: ["can't include: fast"] }],
  [
    { repository_storages_weighted: { default: 101 } },
    { repository_storages_weighted: ["value for 'default' must be between 0 and 100"] },
  ],
  [{ sign_in_restrictions: { other: true } }, { sign_in_restrictions: ['must be a valid json schema'] }],
  [
    { sign_in_restrictions: { session_expire_from_init: 3 } },
    { sign_in_restrictions: ['must be a valid json schema'] },
  ],
  [
    { default_branch_protection_defaults: { x: true } },
    { default_branch_protection_defaults: ['must be a valid json schema'] },
  ],
  [{ globally_allowed_ips: '10.0.0.0/33' }, { globally_allowed_ips: ['must be a valid IP address or CIDR list'] }],
  [
    { tracker_connect_proxy_url: 'http://localhost:3000' },
    { tracker_connect_proxy_url: ['is blocked: Requests to localhost are not allowed'] },
  ],
  [
    { tracker_connect_proxy_url: 'http://10.1.2.3' },
    { tracker_connect_proxy_url: ['is blocked: Requests to the local network are not allowed'] },
  ],
  [
    { deny_all_requests_except_allowed: true, external_pipeline_validation_service_url: 'https://v.test' },
    {
      external_pipeline_validation_service_url: [
        'is blocked: Requests to hosts and IP addresses not on the Allow List are denied',
      ],
    },
  ],
])('%j is refused', async (changes, expected) => {
  const before = await get()
  expect(await put(changes)).toEqual([400, { message: expected }])
  expect(await get()).toEqual(before)
})

test('a URL with a host on the allow list is not blocked', async () => {
  const listed = { outbound_local_requests_whitelist: ['v.test', '10.0.0.0/8', 'w.test:81'] }
  const changes = {
    ...listed,
    deny_all_requests_except_allowed: true,
    external_pipeline_validation_service_url: 'https://v.test',
    tracker_connect_proxy_url: 'http://10.1.2.3',
    external_authorization_service_url: 'http://w.test:81',
  }
  expect(await put(changes)).toMatchObject([200, changes])
  expect(await messages({ external_authorization_service_url: 'http://w.test:82' })).toBeDefined()
})

describe('former names', () => {
  test.each([
    ['signin_enabled', 'password_authentication_enabled_for_web', false],
    ['password_authentication_enabled', 'password_authentication_enabled_for_web', false],
    ['allow_local_requests_from_hooks_and_services', 'allow_local_requests_from_web_hooks_and_services', true],
    ['asset_proxy_whitelist', 'asset_proxy_allowlist', ['cdn.test', 'svc.example.test']],
  ])('%s is %s', async (old, name, value) => {
    expect(await put({ [old]: value })).toMatchObject([200, { [old]: value, [name]: value }])
  })

  test('two of the names for password sign-in exclude each other', async () => {
    const error = 'password_authentication_enabled_for_web, password_authentication_enabled are mutually exclusive'
    const changes = { password_authentication_enabled_for_web: true, password_authentication_enabled: true }
    expect(await put(changes)).toEqual([400, { error }])
  })

  test('of two names in one request, the one that changes the setting counts', async () => {
    const record = await get()
    expect(await put({ ...record, asset_proxy_allowlist: ['a.test'] })).toMatchObject([
      200,
      { asset_proxy_allowlist: ['a.test', 'svc.example.test'], asset_proxy_whitelist: ['a.test', 'svc.example.test'] },
    ])
  })

  test('admin_notification_email is accepted, and not returned', async () => {
    const [status, record] = await put({ admin_notification_email: 'abuse@example.test' })
    expect([status, record.abuse_notification_email]).toEqual([200, 'abuse@example.test'])
    expect(record).not.toHaveProperty('admin_notification_email')
  })
})

test('ai_availability represents two switches', async () => {
  expect(await put({ ai_availability: 'default_off' })).toMatchObject([
    200,
    { ai_availability: 'default_off', ai_features_enabled: false, lock_ai_features_enabled: false },
  ])
  expect(await put({ ai_availability: 'whatever' })).toMatchObject([
    200,
    { ai_availability: 'never_on', ai_features_enabled: false, lock_ai_features_enabled: true },
  ])
  expect(await put({ ai_features_enabled: true, lock_ai_features_enabled: false })).toMatchObject([
    200,
    { ai_availability: 'default_on' },
  ])
})

test('values are stored in the form that the platform reads them', async () => {
  const group = await world.perform(root, createGroup, { name: 'Ops', path: 'ops' })
  expect(
    await put({
      restricted_visibility_levels: 'public,weird',
      default_project_visibility: 'internal',
      default_group_visibility: 'internal',
    }),
  ).toMatchObject([200, { restricted_visibility_levels: ['public', 'private'] }])
  expect(await put({ default_branch_protection_defaults: { allow_force_push: true } })).toMatchObject([
    200,
    {
      default_branch_protection_defaults: {
        allowed_to_push: [{ access_level: 40 }],
        allow_force_push: true,
        allowed_to_merge: [{ access_level: 40 }],
      },
    },
  ])
  expect(await put({ repository_storages_weighted: {} })).toMatchObject([
    200,
    { repository_storages_weighted: { default: 0 } },
  ])
  expect(await put({ performance_bar_allowed_group_id: 'ops' })).toMatchObject([
    200,
    { performance_bar_allowed_group_id: group.id },
  ])
  expect(await put({ performance_bar_allowed_group_id: 'no/such' })).toMatchObject([
    400,
    { message: { performance_bar_allowed_group_id: ['is not the id or path of a group'] } },
  ])
  const level = { default_branch_protection_defaults: { allowed_to_push: [{ access_level: 20 }] } }
  expect(await put(level)).toEqual([
    400,
    { error: 'default_branch_protection_defaults[allowed_to_push][0][access_level] does not have a valid value' },
  ])
})

test('secrets are encrypted, and never shown', async () => {
  const secrets = { external_pipeline_validation_service_token: 'sesame-1', asset_proxy_secret_key: 'sesame-2' }
  const [, record] = await put(secrets)
  expect(record.external_pipeline_validation_service_token).toBe('********')
  expect(record).not.toHaveProperty('asset_proxy_secret_key')
  const rows = await world.core.db.read.selectFrom('application_setting_values').selectAll().execute()
  const events = await world.core.db.read.selectFrom('events').selectAll().execute()
  expect(rows).toHaveLength(2)
  expect(JSON.stringify([record, rows, events])).not.toContain('sesame')
  expect(await put({ external_pipeline_validation_service_token: '********' })).toEqual([200, record])
  expect(await world.core.db.read.selectFrom('application_setting_values').selectAll().execute()).toEqual(rows)
})

test('a change is an event with the names, and the values of those that are no secrets', async () => {
  await put({ issues_create_limit: 5, external_pipeline_validation_service_token: 's', terms: 'x'.repeat(5_000) })
  await put({ issues_create_limit: 5 })
  const events = await world.core.db.read
    .selectFrom('events')
    .selectAll()
    .where('type', '=', 'application_settings.updated')
    .execute()
  expect(events.map(({ actor_id, object_id, details }) => [actor_id, object_id, JSON.parse(details)])).toEqual([
    [
      root.id,
      1,
      {
        changes: {
          issues_create_limit: { previous: 300, current: 5 },
          terms: {},
          external_pipeline_validation_service_token: {},
        },
      },
    ],
  ])
})
