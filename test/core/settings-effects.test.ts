import { randomBytes } from 'node:crypto'
import {
  admit,
  type Core,
  createGroup,
  createImpersonationToken,
  createPersonalToken,
  createProject,
  createProjectToken,
  createUser,
  type DomainError,
  findSession,
  getApplicationSettings,
  grantToken,
  identify,
  perform,
  rotatePersonalToken,
  settingOf,
  signIn,
  type User,
  updateApplicationSettings,
  updateGroup,
  updateProject,
} from '@penstock/core'
import { openDatabase } from '@penstock/db'
import { ManualClock, World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const PASSWORD = 'correct horse'

let world: World
let root: User
let mira: User

beforeEach(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  mira = await world.user('mira')
})

afterEach(() => world.close())

const set = (changes: object) => world.perform(root, updateApplicationSettings, changes)
const failure = (error: DomainError) => error.failure
const newUser = async (username: string) => {
  const draft = { username, name: username, email: `${username}@example.test`, password: PASSWORD }
  return (await world.perform(root, createUser, draft)).user
}
const newProject = (actor: User, path: string, more: object = {}) =>
  world.perform(actor, createProject, { path, name: path, ...more })
const newGroup = (actor: User, path: string, more: object = {}) =>
  world.perform(actor, createGroup, { path, name: path, ...more })
const identified = (privateToken: string) =>
  identify(world.core, {
    privateToken,
    takesJobTokens: false,
    proof: { csrfToken: undefined, fetchSite: undefined },
    changesNothing: true,
  })

describe('visibility', () => {
  test('new projects and groups have the defaults, but not more than the group around them', async () => {
    await set({ default_project_visibility: 'internal', default_group_visibility: 'public' })
    expect((await newProject(mira, 'one')).project.visibility).toBe('internal')
    expect((await newGroup(mira, 'ops')).visibility).toBe('public')
    const closed = await newGroup(mira, 'closed', { visibility: 'private' })
    expect((await newGroup(mira, 'inner', { parentId: closed.id })).visibility).toBe('private')
    expect((await newProject(mira, 'two', { namespaceId: closed.id })).project.visibility).toBe('private')
  })

  test('only administrators may give a restricted visibility', async () => {
    await set({ restricted_visibility_levels: ['public'] })
    const restricted = {
      code: 'invalid',
      fields: { visibilityLevel: ['public has been restricted by your administrator'] },
    }
    expect(await newProject(mira, 'one', { visibility: 'public' }).catch(failure)).toEqual(restricted)
    expect(await newGroup(mira, 'ops', { visibility: 'public' }).catch(failure)).toEqual(restricted)
    const { project } = await newProject(mira, 'one')
    const group = await newGroup(mira, 'ops')
    const visibility = 'public'
    const updates = [
      (actor: User, more: object) => world.perform(actor, updateProject, { project: project.id, ...more }),
      (actor: User, more: object) => world.perform(actor, updateGroup, { group: group.id, ...more }),
    ]
    for (const update of updates.toReversed()) {
      expect(await update(mira, { visibility }).catch(failure)).toEqual(restricted)
      await update(root, { visibility })
      await update(mira, { visibility, description: 'the same visibility' })
    }
  })
})

describe('creation', () => {
  test('default_projects_limit is the limit of new users', async () => {
    await set({ default_projects_limit: 1 })
    const noor = await newUser('noor')
    await newProject(noor, 'one')
    expect(await newProject(noor, 'two').catch(failure)).toMatchObject({
      code: 'invalid',
      fields: { limitReached: [expect.stringContaining('your limit of 1 projects')] },
    })
    await newProject(mira, 'one')
    await newProject(mira, 'two')
  })

  test('without top_level_group_creation_enabled only administrators create top-level groups', async () => {
    const ops = await newGroup(mira, 'ops')
    await set({ top_level_group_creation_enabled: false })
    expect(await newGroup(mira, 'web').catch(failure)).toEqual({ code: 'forbidden' })
    await newGroup(mira, 'inner', { parentId: ops.id })
    await newGroup(root, 'web')
  })

  test('can_create_group is the right of new users', async () => {
    await set({ can_create_group: false })
    expect((await newUser('noor')).canCreateGroup).toBe(false)
    await set({ can_create_group: true })
    expect((await newUser('rui')).canCreateGroup).toBe(true)
  })
})

describe('access tokens', () => {
  const newToken = (more: object = {}) =>
    world.perform(root, createPersonalToken, { userId: mira.id, name: 'x', scopes: ['api'], ...more })

  test('personal_access_token_prefix begins new tokens of every kind', async () => {
    await set({ personal_access_token_prefix: 'acme-' })
    const { project } = await newProject(root, 'tools')
    const draft = { name: 'x', scopes: ['api'] }
    const tokens = [
      await newToken(),
      await world.perform(root, createImpersonationToken, { userId: mira.id, ...draft }),
      await world.perform(root, createProjectToken, { project: project.id, ...draft }),
    ]
    expect(tokens.map(({ value }) => value.slice(0, 5))).toEqual(['acme-', 'acme-', 'acme-'])
    await set({ personal_access_token_prefix: null })
    expect((await newToken()).value).toMatch(/^[^-]{20,}$/)
  })

  test('without require_personal_access_token_expiry a token may never expire', async () => {
    expect((await newToken()).expiresAt).toBe('2027-02-03')
    await set({ require_personal_access_token_expiry: false })
    expect((await newToken()).expiresAt).toBeUndefined()
    expect((await newToken({ expiresAt: '2026-03-01' })).expiresAt).toBe('2026-03-01')
    const beyond = await newToken({ expiresAt: '2028-03-01' }).catch(failure)
    expect(beyond).toEqual({ code: 'invalid', fields: { expiresAt: ['must be before 2027-02-04'] } })
  })

  test('with disable_personal_access_tokens they are neither created nor accepted', async () => {
    const { id, value } = await newToken()
    const impersonation = await world.perform(root, createImpersonationToken, {
      userId: mira.id,
      name: 'x',
      scopes: ['api'],
    })
    await set({ disable_personal_access_tokens: true })
    const refusalOf = async (token: string) => {
      const found = await identified(token)
      return typeof found === 'object' ? admit(world.core, found, ['api']) : found
    }
    expect(await refusalOf(value)).toBe('unauthenticated')
    expect(await refusalOf(impersonation.value)).toBeUndefined()
    const disabled = { code: 'forbidden', reason: 'Personal access tokens are disabled' }
    expect(await newToken().catch(failure)).toEqual(disabled)
    expect(await world.perform(root, rotatePersonalToken, { id }).catch(failure)).toEqual(disabled)
    await set({ disable_personal_access_tokens: false })
    expect(await refusalOf(value)).toBeUndefined()
  })

  test('with admin_mode administrators need the scope', async () => {
    const token = async (scopes: string[]) =>
      (await world.perform(root, createPersonalToken, { userId: root.id, name: 'x', scopes })).value
    const [plain, elevated] = [await token(['api']), await token(['api', 'admin_mode'])]
    await set({ admin_mode: true })
    expect(await identified(plain)).toMatchObject({ user: { isAdministrator: false } })
    expect(await identified(elevated)).toMatchObject({ user: { isAdministrator: true } })
  })
})

describe('signing in', () => {
  const attempt = (more: object = {}) => ({ login: 'noor', password: PASSWORD, address: '192.0.2.7', ...more })
  const outcome = (more: object = {}) =>
    signIn(world.core, attempt(more), undefined).then(
      ({ kind }) => kind,
      (error: DomainError) => error.failure,
    )

  beforeEach(async () => {
    await newUser('noor')
  })

  test('oauth_access_token_expires_in is the lifetime of new tokens', async () => {
    const issue = async () => {
      const request = { grantType: 'password', username: 'noor', password: PASSWORD, address: '192.0.2.7' }
      return (await grantToken(world.core, request)).expiresInSeconds
    }
    expect(await issue()).toBe(7_200)
    await set({ oauth_access_token_expires_in: 300 })
    expect(await issue()).toBe(300)
    await set({ oauth_access_token_expires_in: null })
    expect(await issue()).toBe(7_200)
  })

  test('without password_authentication_enabled_for_web no session begins', async () => {
    await set({ password_authentication_enabled_for_web: false })
    expect(await outcome()).toBe('password_disabled')
    await set({ signin_enabled: true })
    expect(await outcome()).toBe('signed_in')
  })

  test('max_login_attempts and their period limit guesses', async () => {
    await set({ max_login_attempts: 2, failed_login_attempts_unlock_period_in_minutes: 3 })
    expect(await outcome({ password: 'guess' })).toBe('wrong_login_or_password')
    expect(await outcome({ password: 'guess' })).toBe('wrong_login_or_password')
    expect(await outcome()).toEqual({ code: 'too_often', retryAfterSeconds: 180 })
    world.clock.advance(180_000)
    expect(await outcome()).toBe('signed_in')
  })

  test('session_expire_delay is the time without a request after which a session ends', async () => {
    await set({ session_expire_delay: 30 })
    const begun = await signIn(world.core, attempt(), undefined)
    if (begun.kind !== 'signed_in') throw new Error('not signed in')
    const isLive = async () => (await findSession(world.core, begun.sessionSecret)) !== undefined
    for (let uses = 0; uses < 3; uses += 1) {
      world.clock.advance(25 * 60_000)
      expect(await isLive()).toBe(true)
    }
    await set({ session_expire_delay: 10 })
    expect(await isLive(), 'this use shortens the session').toBe(true)
    world.clock.advance(10 * 60_000)
    expect(await isLive()).toBe(false)
  })
})

describe('two processes with one database', () => {
  let other: Core
  let otherClock: ManualClock

  const openOther = (settingsCacheSeconds: number) => {
    otherClock = new ManualClock(world.clock.nowMs())
    other = {
      ...world.core,
      db: openDatabase(world.location),
      clock: otherClock,
      randomBytes,
      settings: { ...world.core.settings, settingsCacheSeconds },
    }
  }

  afterEach(() => other.db.close())

  test('the writer uses a change at once, the other process within the cache time', async () => {
    openOther(60)
    expect(await settingOf(other, 'issues_create_limit')).toBe(300)
    await set({ issues_create_limit: 5 })
    expect(await settingOf(world.core, 'issues_create_limit')).toBe(5)
    expect(await settingOf(other, 'issues_create_limit')).toBe(300)
    expect(await perform(other, root, getApplicationSettings, {})).toMatchObject({ issues_create_limit: 5 })
    otherClock.advance(59_999)
    expect(await settingOf(other, 'issues_create_limit')).toBe(300)
    otherClock.advance(1)
    expect(await settingOf(other, 'issues_create_limit')).toBe(5)
  })

  test('an effect appears in the other process', async () => {
    openOther(60)
    const create = (path: string) => perform(other, mira, createProject, { path, name: path })
    expect((await create('one')).project.visibility).toBe('private')
    await set({ default_project_visibility: 'internal' })
    expect((await create('two')).project.visibility).toBe('private')
    otherClock.advance(60_000)
    expect((await create('three')).project.visibility).toBe('internal')
  })

  test('without a cache the other process reads for every use', async () => {
    openOther(0)
    expect(await settingOf(other, 'issues_create_limit')).toBe(300)
    await set({ issues_create_limit: 5 })
    expect(await settingOf(other, 'issues_create_limit')).toBe(5)
  })

  test('a secret can be read with the key', async () => {
    openOther(60)
    await set({ external_pipeline_validation_service_token: 'sesame' })
    expect(await settingOf(other, 'external_pipeline_validation_service_token')).toBe('sesame')
  })
})
