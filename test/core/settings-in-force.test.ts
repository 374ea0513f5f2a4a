import { randomBytes, randomUUID } from 'node:crypto'
import {
  type Core,
  createHook,
  createImpersonationToken,
  createPersonalToken,
  createProject,
  createUser,
  type DomainError,
  findSession,
  getCiApplicationSettings,
  grantToken,
  migrateCore,
  perform,
  type SettingName,
  settingOf,
  settingRows,
  signIn,
  type User,
  updateApplicationSettings,
} from '@penstock/core'
import { openDatabase } from '@penstock/db'
import { deliveryMigrations } from '@penstock/delivery'
import { type Listening, listen } from '@penstock/http'
import { areas, restListener, signInRoutes } from '@penstock/rest'
import { silentLog } from '@penstock/runtime'
import { ManualClock, World } from '@penstock/testkit'
import { Webhooks } from '@penstock/webhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'

const PASSWORD = 'correct horse'
const MINUTE_MS = 60_000
const CACHE_SECONDS = 60
/** Longer than the cache time and than every period in which calls or attempts are counted. */
const STEP_MS = 11 * MINUTE_MS

let world: World
let root: User
let mira: User
/** The process that does not change the settings: it has its own connections, clock and cache. */
let other: Core
let otherClock: ManualClock
let listening: Listening
/** The same process with a throttle of one request. */
let throttled: Listening
let tokens: Readonly<Record<'root' | 'mira', string>>
let project: number
let hook: number
let names = 0

beforeAll(async () => {
  world = await World.open()
  await migrateCore(world.core.db, deliveryMigrations)
  root = await world.user('root', { isAdministrator: true })
  mira = await world.user('mira')
  otherClock = new ManualClock(world.clock.nowMs())
  const plain: Core = {
    ...world.core,
    db: openDatabase(world.location),
    clock: otherClock,
    randomBytes,
    settings: { ...world.core.settings, settingsCacheSeconds: CACHE_SECONDS },
  }
  const webhooks = new Webhooks({
    core: plain,
    random: Math.random,
    newClaim: randomUUID,
    log: silentLog,
    requestTimeoutMs: 1_000,
  })
  // It enqueues calls of hooks, and does not make them.
  other = { ...plain, listeners: [webhooks.listener], hookCalls: webhooks.calls }
  const impersonation = async (user: User) =>
    (await world.perform(root, createImpersonationToken, { userId: user.id, name: 'x', scopes: ['api'] })).value
  tokens = { root: await impersonation(root), mira: await impersonation(mira) }
  const draft = { path: 'app', visibility: 'public', initializeWithReadme: true }
  project = (await world.perform(mira, createProject, draft)).project.id
  await world.perform(root, createUser, {
    username: 'noor',
    name: 'Noor',
    email: 'noor@example.test',
    password: PASSWORD,
  })
  const target = { url: 'http://127.0.0.1:9/in', pushEvents: true, issuesEvents: true }
  hook = (await world.perform(mira, createHook, { project, ...target })).id
  const rest = { core: other, areas, log: silentLog, extraRoutes: signInRoutes(other) }
  const few = { count: 1, periodSeconds: 60 }
  listening = await listen(restListener({ ...rest, rateLimits: 'off' }), { host: '127.0.0.1', port: 0 })
  throttled = await listen(restListener({ ...rest, rateLimits: { anonymous: few, authenticated: few } }), {
    host: '127.0.0.1',
    port: 0,
  })
})

afterAll(async () => {
  await listening.close(AbortSignal.abort())
  await throttled.close(AbortSignal.abort())
  await other.db.close()
  await world.close()
})

const set = (changes: object) => world.perform(root, updateApplicationSettings, changes)
const newName = (): string => {
  names += 1
  return `n${names}`
}

interface Sent {
  readonly as?: 'root' | 'mira' | 'visitor'
  readonly json?: object
  readonly form?: FormData
}

async function call(method: string, path: string, { as = 'mira', json, form }: Sent = {}) {
  const response = await fetch(`${listening.url}/api/v4/${path}`, {
    method,
    headers: {
      ...(as !== 'visitor' && { 'private-token': tokens[as] }),
      ...(json && { 'content-type': 'application/json' }),
    },
    ...((form || json) && { body: form ?? JSON.stringify(json) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return { status: response.status, body: isJson && text !== '' ? JSON.parse(text) : text }
}

const statusOf = async (...request: Parameters<typeof call>) => (await call(...request)).status
/** Returns the status of the third of three calls. */
const third = async (...request: Parameters<typeof call>) => {
  await call(...request)
  await call(...request)
  return statusOf(...request)
}
const created = async (path: string, member: string, sent: () => Sent) =>
  (await call('POST', path, sent())).body[member]
const named = (more: object = {}) => {
  const name = newName()
  return { json: { name, path: name, ...more } }
}
const account = (): Sent => {
  const username = newName()
  return { as: 'root', json: { username, name: username, email: `${username}@example.test`, password: PASSWORD } }
}
const raw = () => `projects/${project}/repository/files/README.md/raw?ref=main`

/** Signs in on the other process; a failure is its code, or the seconds to wait. */
const attempt = (password = PASSWORD) =>
  signIn(other, { login: 'noor', password, address: '192.0.2.7' }, undefined).then(
    (outcome) => outcome.kind,
    (error: DomainError) =>
      'retryAfterSeconds' in error.failure ? error.failure.retryAfterSeconds : error.failure.code,
  )
const afterWrongPassword = async () => {
  await attempt('guess')
  return attempt()
}
const grant = () =>
  grantToken(other, { grantType: 'password', username: 'noor', password: PASSWORD, address: '192.0.2.8' }).then(
    ({ expiresInSeconds }) => expiresInSeconds,
    (error: { code?: string }) => error.code,
  )
const personalToken = (more: object = {}) =>
  perform(other, root, createPersonalToken, { userId: mira.id, name: 'x', scopes: ['api'], ...more })
/** Returns the number of calls of hooks that a change has enqueued. */
async function enqueued(change: () => Promise<unknown>): Promise<number> {
  const count = async () => (await world.core.db.read.selectFrom('hook_payloads').select('id').execute()).length
  const before = await count()
  await change()
  return (await count()) - before
}
const newBranch = () =>
  call('POST', `projects/${project}/repository/branches`, { json: { branch: newName(), ref: 'main' } })
const isMainProtected = async (id: number) =>
  (await call('GET', `projects/${id}/repository/branches/main`)).body.protected
const newIssue = () => call('POST', `projects/${project}/issues`, { json: { title: 'Leak' } })
const hookWith = (url: string) => statusOf('POST', `projects/${project}/hooks`, { json: { url, push_events: false } })
const page = async (path: string, options: RequestInit = {}) =>
  fetch(listening.url + path, { redirect: 'manual', ...options })
const locationOf = async (response: Promise<Response>) => (await response).headers.get('location')

interface Row {
  /** The value that differs from the default. */
  readonly value: unknown
  /** Other settings that the effect depends on. */
  readonly with?: object
  readonly probe: () => Promise<unknown>
  readonly usual: unknown
  readonly changed: unknown
}
const row = (value: unknown, usual: unknown, changed: unknown, probe: Row['probe'], needs: object = {}): Row => ({
  value,
  usual,
  changed,
  probe,
  with: needs,
})

/** How each setting that is in force shows in another process. */
const rows: Readonly<Partial<Record<SettingName, Row>>> = {
  default_projects_limit: row(7, 100_000, 7, () => created('users', 'projects_limit', account)),
  can_create_group: row(false, true, false, () => created('users', 'can_create_group', account)),
  max_login_attempts: row(1, 'signed_in', 600, afterWrongPassword),
  failed_login_attempts_unlock_period_in_minutes: row(3, 600, 180, afterWrongPassword, { max_login_attempts: 1 }),
  password_authentication_enabled_for_web: row(false, 'signed_in', 'password_disabled', () => attempt()),
  session_expire_delay: row(30, true, false, async () => {
    const begun = await signIn(other, { login: 'noor', password: PASSWORD, address: '192.0.2.7' }, undefined)
    if (begun.kind !== 'signed_in') throw new Error(begun.kind)
    otherClock.advance(31 * MINUTE_MS)
    return (await findSession(other, begun.sessionSecret)) !== undefined
  }),
  after_sign_out_path: row(
    'https://bye.example.test/',
    'https://svc.example.test/users/sign_in',
    'https://bye.example.test/',
    () => locationOf(page('/users/sign_out', { method: 'POST' })),
  ),
  home_page_url: row(
    'https://about.example.test/',
    'https://svc.example.test/users/sign_in',
    'https://about.example.test/',
    () => locationOf(page('/')),
  ),
  oauth_access_token_expires_in: row(300, 7_200, 300, grant),
  ropc_without_client_credentials: row(false, 7_200, 'invalid_client', grant),
  personal_access_token_prefix: row('acme-', 'svcpa', 'acme-', async () => (await personalToken()).value.slice(0, 5)),
  require_personal_access_token_expiry: row(false, 'string', 'undefined', async () => {
    return typeof (await personalToken()).expiresAt
  }),
  disable_personal_access_tokens: row(true, 'issued', 'forbidden', () =>
    personalToken().then(
      () => 'issued',
      (error: DomainError) => error.failure.code,
    ),
  ),
  admin_mode: row(true, 200, 403, () => statusOf('GET', 'application/settings', { as: 'root' })),
  default_branch_name: row('trunk', 'main', 'trunk', () =>
    created('projects', 'default_branch', () => named({ initialize_with_readme: true })),
  ),
  default_branch_protection: row(0, true, false, () => isMainProtected(project)),
  group_owners_can_manage_default_branch_protection: row(false, false, true, async () => {
    const namespace_id = await created('groups', 'id', () => named({ default_branch_protection: 0 }))
    return isMainProtected(await created('projects', 'id', () => named({ namespace_id, initialize_with_readme: true })))
  }),
  default_project_visibility: row('internal', 'private', 'internal', () => created('projects', 'visibility', named)),
  default_group_visibility: row('public', 'private', 'public', () => created('groups', 'visibility', named)),
  default_snippet_visibility: row('internal', 'private', 'internal', () =>
    created(`projects/${project}/snippets`, 'visibility', () => ({
      json: { title: 'x', file_name: 'a.txt', content: 'x' },
    })),
  ),
  restricted_visibility_levels: row(['public'], 201, 400, () =>
    statusOf('POST', 'projects', named({ visibility: 'public' })),
  ),
  top_level_group_creation_enabled: row(false, 201, 403, () => statusOf('POST', 'groups', named())),
  disable_invite_members: row(true, 201, 403, async () => {
    const userId = await created('users', 'id', account)
    return statusOf('POST', `projects/${project}/members`, { json: { user_id: userId, access_level: 30 } })
  }),
  default_project_deletion_protection: row(true, 202, 403, async () =>
    statusOf('DELETE', `projects/${await created('projects', 'id', named)}`),
  ),
  security_txt_content: row(
    'Contact: mailto:safe@example.test\nExpires: 2030-01-01T00:00:00Z\n',
    [404, 'application/json', '{"error":"404 Not Found"}'],
    [200, 'text/plain; charset=utf-8', 'Contact: mailto:safe@example.test\nExpires: 2030-01-01T00:00:00Z\n'],
    async () => {
      const answer = await page('/.well-known/security.txt')
      return [answer.status, answer.headers.get('content-type'), await answer.text()]
    },
  ),
  snippet_size_limit: row(1, 201, 400, () =>
    statusOf('POST', `projects/${project}/snippets`, { json: { title: 'x', file_name: 'a.txt', content: 'xx' } }),
  ),
  wiki_page_max_content_bytes: row(1_024, 201, 400, () =>
    statusOf('POST', `projects/${project}/wikis`, { json: { title: newName(), content: 'x'.repeat(1_025) } }),
  ),
  max_attachment_size: row(1, 201, 413, () => {
    const form = new FormData()
    form.set('file', new Blob([new Uint8Array(1_048_577)]), 'map.bin')
    return statusOf('POST', `projects/${project}/wikis/attachments`, { form })
  }),
  issues_create_limit: row(2, 201, 429, () => third('POST', `projects/${project}/issues`, { json: { title: 'x' } })),
  raw_blob_request_limit: row(2, 200, 429, () => third('GET', raw())),
  raw_blob_request_limit_unauthenticated: row(2, 200, 429, () => third('GET', raw(), { as: 'visitor' })),
  project_jobs_api_rate_limit: row(2, 200, 429, () => third('GET', `projects/${project}/jobs`)),
  projects_api_rate_limit_unauthenticated: row(2, 200, 429, () => third('GET', 'projects', { as: 'visitor' })),
  pipeline_delete_limit_per_user_project: row(2, 404, 429, () => third('DELETE', `projects/${project}/pipelines/99`)),
  web_hook_test_limit: row(2, 422, 429, () => third('POST', `projects/${project}/hooks/${hook}/test/push_events`)),
  web_hook_event_resend_limit: row(2, 404, 429, () =>
    third('POST', `projects/${project}/hooks/${hook}/events/99/resend`),
  ),
  rate_limiting_response_text: row('Slow down', 'Retry later\n', 'Slow down\n', async () => {
    const text = async () => (await fetch(`${throttled.url}/api/v4/projects`)).text()
    await text()
    return text()
  }),
  silent_mode_enabled: row(true, 1, 0, () => enqueued(newIssue)),
  push_event_hooks_limit: row(0, 1, 0, () => enqueued(newBranch)),
  allow_local_requests_from_web_hooks_and_services: row(true, 422, 201, () => hookWith('http://127.0.0.1:9/x')),
  outbound_local_requests_whitelist: row(['127.0.0.1'], 422, 201, () => hookWith('http://127.0.0.1:9/x')),
  deny_all_requests_except_allowed: row(true, 201, 422, () => hookWith('https://93.184.216.34/x')),
  keep_latest_artifact: row(false, true, false, async () => {
    return (await perform(other, root, getCiApplicationSettings, {})).keepLatestArtifact
  }),
}

test('every setting that is in force has a row, and no other', () => {
  const inForce = settingRows.filter(([, { takesEffectIn }]) => takesEffectIn !== undefined).map(([name]) => name)
  expect(Object.keys(rows).toSorted()).toEqual(inForce.toSorted())
})

test.each(Object.entries(rows) as [SettingName, Row][])(
  'the effect of %s appears in another process within the cache time, and goes again',
  async (name, { value, with: needs = {}, probe, usual, changed }) => {
    const before = await settingOf(world.core, name)
    const neededBefore = Object.fromEntries(
      await Promise.all(
        Object.keys(needs).map(async (each) => [each, (await settingOf(world.core, each as SettingName)) ?? null]),
      ),
    )
    await set(needs)
    otherClock.advance(STEP_MS)
    expect(await probe()).toEqual(usual)
    otherClock.advance(STEP_MS)
    // The other process reads the settings now, so that it must not know the change before the cache time has passed.
    await settingOf(other, name)
    await set({ [name]: value })
    otherClock.advance(CACHE_SECONDS * 1_000 - 1)
    expect(await settingOf(other, name)).toEqual(before)
    otherClock.advance(1)
    expect(await probe()).toEqual(changed)
    await set({ [name]: before ?? null, ...neededBefore })
    otherClock.advance(STEP_MS)
    await set(needs)
    otherClock.advance(CACHE_SECONDS * 1_000)
    expect(await probe()).toEqual(usual)
    await set(neededBefore)
  },
)
