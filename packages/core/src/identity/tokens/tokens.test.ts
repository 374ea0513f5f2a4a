import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import { type Actor, actingUser, type User } from '../../base/model/user.ts'
import { admit } from '../callers/identify.ts'
import { findUser } from '../users/user-store.ts'
import {
  createGroupToken,
  createProjectToken,
  listProjectTokens,
  revokeProjectToken,
  rotateOwnProjectToken,
  rotateProjectToken,
} from './bot-token-operations.ts'
import { findByAccessTokenText } from './find-by-token-text.ts'
import { createImpersonationToken, listImpersonationTokens } from './impersonation-token-operations.ts'
import { createJobToken, revokeJobToken } from './job-token.ts'
import {
  createOwnPersonalToken,
  createPersonalToken,
  getOwnToken,
  getPersonalToken,
  listPersonalTokens,
  revokePersonalToken,
  rotateOwnToken,
  rotatePersonalToken,
} from './personal-token-operations.ts'
import { ensureRootToken } from './root-token.ts'

const DAY_MS = 86_400_000
let world: World
let admin: User
let mira: User

beforeEach(async () => {
  world = await World.open()
  admin = await world.user('root', { isAdministrator: true })
  mira = await world.user('mira')
})

afterEach(() => world.close())

const failure = (error: unknown) => (error instanceof DomainError ? error.failure : error)
const personalFor = (user: User, fields: object = {}) =>
  world.perform(admin, createPersonalToken, { userId: user.id, name: 'ci', scopes: ['api'], ...fields })
const context = () => ({ db: world.core.db.read, nowMs: world.clock.nowMs() })
const present = (value: string) => findByAccessTokenText(context(), value)
const acting = ({ id, username, isAdministrator, botHome }: User, accessTokenId: number): Actor => ({
  id,
  username,
  isAdministrator,
  botHome,
  accessTokenId,
})

const inSession = (user: User): Actor => ({ ...actingUser(user), isSession: true })

describe('a personal token', () => {
  test('has the prefix and 43 letters, expires after a year, and is found only by its value', async () => {
    const token = await personalFor(mira, { scopes: ['read_api', 'read_user', 'read_api'] })
    expect(token.value).toMatch(/^svcpat-[0-9A-Za-z]{43}$/)
    expect(token).toMatchObject({ kind: 'personal', userId: mira.id, expiresAt: '2027-02-03', state: 'valid' })
    expect(token.scopes).toEqual(['read_api', 'read_user'])
    expect(await present(token.value)).toMatchObject({ kind: 'personal', id: token.id, user: { username: 'mira' } })
    expect(await present(`${token.value}x`)).toBeUndefined()
  })

  test.each([
    [{ expiresAt: '2026-02-02' }, { code: 'invalid', fields: { expiresAt: ["can't be in the past"] } }],
    [{ expiresAt: '2027-02-04' }, { code: 'invalid', fields: { expiresAt: ['must be before 2027-02-04'] } }],
    [{ expiresAt: '2026-02-30' }, { code: 'parameters', problems: [{ path: ['expiresAt'], problem: 'invalid' }] }],
    [{ name: ' ' }, { code: 'parameters', problems: [{ path: ['name'], problem: 'empty' }] }],
    [{ scopes: [] }, { code: 'parameters', problems: [{ path: ['scopes'], problem: 'empty' }] }],
    [{ scopes: ['api', 'openid'] }, { code: 'parameters', problems: [{ path: ['scopes'], problem: 'unknown_value' }] }],
    [{ scopes: ['sudo'] }, { code: 'invalid', fields: { scopes: ['can only contain available scopes'] } }],
    [{ userId: 999 }, { code: 'not_found', what: 'User' }],
  ])('is rejected for %j', async (fields, expected) => {
    expect(await personalFor(mira, fields).catch(failure)).toEqual(expected)
  })

  test('is valid until its expiry date begins', async () => {
    const { value } = await personalFor(mira, { expiresAt: '2026-02-05' })
    world.clock.advance(DAY_MS)
    expect(await present(value)).toMatchObject({ state: 'valid' })
    world.clock.advance(DAY_MS)
    expect(await present(value)).toMatchObject({ state: 'expired' })
  })

  test('is created for other users by administrators only', async () => {
    const input = { userId: mira.id, name: 'ci', scopes: ['api'] }
    expect(await world.perform(mira, createPersonalToken, input).catch(failure)).toEqual({ code: 'forbidden' })
  })

  test('is created by its user in a session, but not with any token', async () => {
    const input = { name: 'laptop', scopes: ['read_api'], expiresAt: '' }
    const own = await world.perform(inSession(mira), createOwnPersonalToken, input)
    expect(own).toMatchObject({ kind: 'personal', userId: mira.id, scopes: ['read_api'], expiresAt: '2027-02-03' })
    const create = (actor: Actor, changes = {}) =>
      world.perform(actor, createOwnPersonalToken, { ...input, ...changes }).catch(failure)
    const ofOAuthToken = actingUser(mira)
    const ofJobToken = { ...actingUser(mira), jobProjectId: 1, jobId: 1 }
    for (const actor of [acting(mira, own.id), ofOAuthToken, ofJobToken]) {
      expect(await create(actor)).toEqual({ code: 'forbidden' })
    }
    expect(await create(inSession(mira), { scopes: ['sudo'] })).toMatchObject({ code: 'invalid' })
    expect(await create(inSession(admin), { scopes: ['sudo'] })).toMatchObject({ userId: admin.id })
    expect(await create(undefined)).toEqual({ code: 'unauthenticated' })
  })

  test('is visible to its user and administrators; tokens of bots and impersonation tokens are not visible to the user', async () => {
    const noor = await world.user('noor')
    const [own, others] = [await personalFor(mira, { name: 'Deploy_1' }), await personalFor(noor)]
    await world.perform(admin, createImpersonationToken, { userId: mira.id, name: 'ghost', scopes: ['api'] })
    const ids = async (actor: User, input: object) =>
      (await world.perform(actor, listPersonalTokens, input)).items.map(({ id }) => id)
    expect(await ids(mira, {})).toEqual([own.id])
    expect(await ids(admin, {})).toEqual([own.id, others.id])
    expect(await ids(admin, { userId: noor.id })).toEqual([others.id])
    expect(await ids(admin, { search: 'deploy_' })).toEqual([own.id])
    expect(await ids(admin, { sort: 'created_desc' })).toEqual([others.id, own.id])
    await world.perform(mira, revokePersonalToken, { id: own.id })
    expect(await ids(mira, { state: 'active' })).toEqual([])
    expect(await ids(mira, { state: 'inactive' })).toEqual([own.id])
    expect(await ids(admin, { revoked: false })).toEqual([others.id])
    expect(await ids(mira, { userId: noor.id }).catch(failure)).toEqual({ code: 'unauthenticated' })
    const [ofOther, unknown] = [others.id, 999].map((id) =>
      world.perform(mira, getPersonalToken, { id }).catch(failure),
    )
    expect(await Promise.all([ofOther, unknown])).toEqual([{ code: 'unauthenticated' }, { code: 'unauthenticated' }])
    expect(await world.perform(admin, getPersonalToken, { id: 999 }).catch(failure)).toEqual({ code: 'not_found' })
  })
})

describe('rotation', () => {
  test('revokes the old token and issues a new one for a week', async () => {
    const old = await personalFor(mira)
    const next = await world.perform(mira, rotatePersonalToken, { id: old.id })
    expect(next).toMatchObject({
      name: 'ci',
      scopes: ['api'],
      userId: mira.id,
      expiresAt: '2026-02-10',
      familyId: old.id,
    })
    expect(await present(old.value)).toMatchObject({ state: 'revoked' })
    expect(await present(next.value)).toMatchObject({ state: 'valid' })
    const again = await world.perform(mira, rotatePersonalToken, { id: old.id }).catch(failure)
    expect(again).toEqual({ code: 'refused', message: 'Token already revoked' })
  })

  test('can be requested with the token itself', async () => {
    const old = await personalFor(mira)
    const next = await world.perform(acting(mira, old.id), rotateOwnToken, { expiresAt: '2026-03-01' })
    expect(next.expiresAt).toBe('2026-03-01')
    expect(await world.perform(acting(mira, next.id), getOwnToken, {})).toMatchObject({ id: next.id })
    expect(await world.perform(mira, getOwnToken, {}).catch(failure)).toMatchObject({ code: 'refused' })
  })

  test('using the old token revokes all its successors, and nothing else', async () => {
    const [first, bystander] = [await personalFor(mira), await personalFor(mira)]
    const second = await world.perform(mira, rotatePersonalToken, { id: first.id })
    const third = await world.perform(mira, rotatePersonalToken, { id: second.id })
    expect(await admit(world.core, (await present(second.value))!, ['api'])).toBe('revoked')
    expect(await present(third.value)).toMatchObject({ state: 'revoked' })
    expect(await present(bystander.value)).toMatchObject({ state: 'valid' })
  })

  test('using the old token after its expiry date revokes its successors', async () => {
    const first = await personalFor(mira, { expiresAt: '2026-02-05' })
    const second = await world.perform(mira, rotatePersonalToken, { id: first.id, expiresAt: '2026-03-01' })
    world.clock.advance(3 * DAY_MS)
    expect(await admit(world.core, (await present(first.value))!, ['api'])).toBe('expired')
    expect(await present(second.value)).toMatchObject({ state: 'revoked' })
  })

  test('using an expired token without a successor revokes nothing', async () => {
    const first = await personalFor(mira)
    const second = await world.perform(mira, rotatePersonalToken, { id: first.id, expiresAt: '2026-02-05' })
    world.clock.advance(3 * DAY_MS)
    const third = await world.perform(mira, rotatePersonalToken, { id: second.id })
    const ended = await personalFor(mira, { expiresAt: '2026-02-07' })
    world.clock.advance(2 * DAY_MS)
    expect(await admit(world.core, (await present(ended.value))!, ['api'])).toBe('expired')
    expect(await present(third.value)).toMatchObject({ state: 'valid' })
  })

  test('using a revoked token without a successor revokes nothing', async () => {
    const [first, second] = [await personalFor(mira), await personalFor(mira)]
    await world.perform(mira, revokePersonalToken, { id: first.id })
    await admit(world.core, (await present(first.value))!, ['api'])
    expect(await present(second.value)).toMatchObject({ state: 'valid' })
  })
})

test('the last use is recorded at most once a minute', async () => {
  const { value, id } = await personalFor(mira)
  const use = async () => {
    expect(await admit(world.core, (await present(value))!, ['api'])).toBeUndefined()
    // The next write waits until the use has been recorded.
    await world.core.db.write(async () => {})
    return (await world.perform(mira, getPersonalToken, { id })).lastUsedAtMs
  }
  const firstMs = world.clock.nowMs()
  expect(await use()).toBe(firstMs)
  world.clock.advance(59_999)
  expect(await use()).toBe(firstMs)
  world.clock.advance(1)
  expect(await use()).toBe(firstMs + 60_000)
})

test('the last day of activity of a user is recorded once a day, but not if the credential is refused', async () => {
  const { value } = await personalFor(mira)
  let writes = 0
  const { db } = world.core
  const counting = {
    ...db,
    read: db.read,
    write: (...args: Parameters<typeof db.write>) => {
      writes += 1
      return db.write(...args)
    },
  }
  const core = { ...world.core, db: counting } as typeof world.core
  const use = async (scope = 'api') => {
    await admit(core, (await present(value))!, [scope])
    await db.write(async () => {})
    const { lastActivityOn } = (await findUser({ db: db.read, nowMs: 0 }, mira.id))!
    const written = writes
    writes = 0
    return [lastActivityOn, written]
  }
  expect(await use('sudo')).toEqual([undefined, 0])
  // The first use also writes that the token was used.
  expect(await use()).toEqual(['2026-02-03', 2])
  world.clock.advance(30_000)
  expect(await use()).toEqual(['2026-02-03', 0])
  world.clock.advance(DAY_MS)
  expect(await use()).toEqual(['2026-02-04', 2])
})

describe('a project token', () => {
  test('acts as a bot that is a member with the role of the token until it is revoked', async () => {
    const project = await world.project('tools', await world.group('ops'))
    await world.member(project, mira, accessLevels.maintainer)
    const input = { project: project.id, name: 'ci', scopes: ['read_api'], accessLevel: 30 }
    const token = await world.perform(mira, createProjectToken, input)
    expect(token).toMatchObject({ kind: 'project', projectId: project.id, level: 30 })
    const found = await present(token.value)
    expect(found!.user!.username).toMatch(new RegExp(`^project_${project.id}_bot_[0-9a-f]{32}$`))
    expect(found!.user).toMatchObject({ isBot: true, isAdministrator: false, name: 'ci' })
    const bot = acting(found!.user!, token.id)
    // The bot sees the private project but may not do what its role does not allow.
    const refused = await world.perform(bot, listProjectTokens, { project: 'ops/tools' }).catch(failure)
    expect(refused).toEqual({ code: 'forbidden' })
    const next = await world.perform(bot, rotateOwnProjectToken, { project: project.id })
    expect(next).toMatchObject({ level: 30, userId: bot!.id })
    await world.perform(mira, revokeProjectToken, { project: project.id, tokenId: next.id })
    const gone = await world.perform(bot, listProjectTokens, { project: 'ops/tools' }).catch(failure)
    expect(gone).toEqual({ code: 'not_found', what: 'Project' })
    const { items } = await world.perform(mira, listProjectTokens, { project: project.id })
    expect(items.map(({ id, state, level }) => ({ id, state, level }))).toEqual([
      { id: token.id, state: 'revoked', level: 30 },
      { id: next.id, state: 'revoked', level: 30 },
    ])
  })

  test('revoking it again after its rotation keeps the membership that its successor needs', async () => {
    const project = await world.project('tools', await world.group('ops'))
    const place = { project: project.id }
    const first = await world.perform(admin, createProjectToken, { ...place, name: 'ci', scopes: ['api'] })
    const second = await world.perform(admin, rotateProjectToken, { ...place, tokenId: first.id })
    await world.perform(admin, revokeProjectToken, { ...place, tokenId: first.id })
    const bot = (await present(second.value))!.user!
    const { items } = await world.perform(acting(bot, second.id), listProjectTokens, place)
    expect(items.map(({ state }) => state)).toEqual(['revoked', 'valid'])
    await world.perform(admin, revokeProjectToken, { ...place, tokenId: second.id })
    const gone = await world.perform(acting(bot, second.id), listProjectTokens, place).catch(failure)
    expect(gone).toEqual({ code: 'not_found', what: 'Project' })
  })

  test('cannot get a higher role than its creator, and cannot be created by a bot', async () => {
    const project = await world.project('tools', await world.group('ops'))
    await world.member(project, mira, accessLevels.maintainer)
    const input = { project: project.id, name: 'ci', scopes: ['api'] }
    const higher = { code: 'refused', message: 'Access level of the token is higher than your own' }
    expect(await world.perform(mira, createProjectToken, { ...input, accessLevel: 50 }).catch(failure)).toEqual(higher)
    const owners = await world.perform(admin, createProjectToken, { ...input, accessLevel: 50 })
    const rotated = world.perform(mira, rotateProjectToken, { project: project.id, tokenId: owners.id })
    expect(await rotated.catch(failure)).toEqual(higher)
    const bot = (await present(owners.value))!.user!
    expect(await world.perform(bot, createProjectToken, input).catch(failure)).toEqual({ code: 'forbidden' })
    const odd = await world.perform(mira, createProjectToken, { ...input, accessLevel: 5 }).catch(failure)
    expect(odd).toEqual({ code: 'parameters', problems: [{ path: ['accessLevel'], problem: 'unknown_value' }] })
  })

  test('can be created for a group by its owners only', async () => {
    const group = await world.group('ops')
    await world.member(group, mira, accessLevels.maintainer)
    const input = { group: 'ops', name: 'ci', scopes: ['api'] }
    expect(await world.perform(mira, createGroupToken, input).catch(failure)).toEqual({ code: 'forbidden' })
    const token = await world.perform(admin, createGroupToken, input)
    expect(token).toMatchObject({ kind: 'group', groupId: group.id, level: 40 })
    expect((await present(token.value))!.user!.username).toMatch(new RegExp(`^group_${group.id}_bot_[0-9a-f]{32}$`))
  })
})

test('impersonation tokens cannot be created while impersonation is disabled', async () => {
  const off = await World.open({ impersonationEnabled: false })
  const root = await off.user('root', { isAdministrator: true })
  const input = { userId: root.id, name: 'x', scopes: ['api'] }
  expect(await off.perform(root, createImpersonationToken, input).catch(failure)).toEqual({ code: 'forbidden' })
  await off.close()
})

describe('the token of the first administrator', () => {
  test('is created once, and only if there is no administrator', async () => {
    expect(await ensureRootToken(world.core)).toBeUndefined()
    const fresh = await World.open()
    const value = await ensureRootToken(fresh.core)
    expect(value).toMatch(/^svcpat-[0-9A-Za-z]{43}$/)
    expect(await ensureRootToken(fresh.core)).toBeUndefined()
    const found = await findByAccessTokenText({ db: fresh.core.db.read, nowMs: fresh.clock.nowMs() }, value!)
    expect(found).toMatchObject({ user: { username: 'root', isAdministrator: true }, state: 'valid' })
    expect(found!.scopes).toEqual(expect.arrayContaining(['api', 'sudo']))
    await fresh.close()
  })

  test('can be chosen', async () => {
    const fresh = await World.open()
    const chosen = 'four-words-and-~signs!'
    for (const bad of ['nineteen-characters', 'with a space in the middle', 'x'.repeat(257)]) {
      const refused = await ensureRootToken(fresh.core, bad).catch((error) => error)
      expect(refused).toBeInstanceOf(DomainError)
      expect(JSON.stringify(refused)).not.toContain(bad)
    }
    expect(await ensureRootToken(fresh.core, chosen)).toBeUndefined()
    const found = await findByAccessTokenText({ db: fresh.core.db.read, nowMs: fresh.clock.nowMs() }, chosen)
    expect(found).toMatchObject({ kind: 'personal', user: { isAdministrator: true } })
    await fresh.close()
  })
})

test('no list, event or database file contains the value of a token', async () => {
  const project = await world.project('tools', await world.group('ops'))
  const fresh = { name: 'ci', scopes: ['api'] }
  const personal = await personalFor(mira)
  const issued = [
    personal,
    await world.perform(mira, rotatePersonalToken, { id: personal.id }),
    await world.perform(admin, createImpersonationToken, { userId: mira.id, ...fresh }),
    await world.perform(admin, createProjectToken, { project: project.id, ...fresh }),
    await world.perform(admin, createGroupToken, { group: 'ops', ...fresh }),
    await world.perform(admin, createJobToken, { project: project.id, userId: mira.id }),
  ]
  await admit(world.core, (await present(personal.value))!, ['api'])
  await world.perform(admin, revokeJobToken, { id: issued.at(-1)!.id })
  const results = [
    await world.perform(admin, listPersonalTokens, {}),
    await world.perform(admin, listImpersonationTokens, { userId: mira.id }),
    await world.perform(admin, listProjectTokens, { project: project.id }),
    await world.core.db.read.selectFrom('events').selectAll().execute(),
    await world.core.db.read.selectFrom('access_tokens').selectAll().execute(),
    await world.core.db.read.selectFrom('job_tokens').selectAll().execute(),
  ]
  const files = readdirSync(world.directory)
    .filter((name) => name.startsWith('core.db'))
    .map((name) => readFileSync(join(world.directory, name), 'latin1'))
  const everything = [JSON.stringify(results), ...files].join('\n')
  expect(everything).toContain('access_token.created')
  for (const { value } of issued) {
    expect(everything).not.toContain(value)
    expect(everything).not.toContain(value.slice(-20))
  }
})
