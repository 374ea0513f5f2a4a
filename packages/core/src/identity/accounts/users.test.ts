import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import type { User } from '../../base/model/user.ts'
import { showProject } from '../../code/projects/project-operations.ts'
import { findFormerProject } from '../projects/project-store.ts'
import { verifyPassword } from '../users/password-store.ts'
import { findUser } from '../users/user-store.ts'
import { listUsers } from './user-lists.ts'
import {
  activateUser,
  blockUser,
  createUser,
  deactivateUser,
  getCurrentUser,
  getUserProfile,
  removeUser,
  unblockUser,
  updateUser,
} from './user-operations.ts'

let world: World
let admin: User

beforeEach(async () => {
  world = await World.open()
  admin = await world.user('root', { isAdministrator: true })
})

afterEach(() => world.close())

const failure = (error: DomainError) => error.failure
const context = () => ({ db: world.core.db.read, nowMs: world.clock.nowMs() })
const noor = { email: 'Noor@example.test', username: 'noor', name: 'Noor Elm', password: 'correct horse' }

describe('creating', () => {
  test('stores the password only as an argon2id hash, and returns neither', async () => {
    const profile = await world.perform(admin, createUser, noor)
    const { password_hash: hash } = await world.core.db.read
      .selectFrom('users')
      .select('password_hash')
      .where('id', '=', profile.user.id)
      .executeTakeFirstOrThrow()
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,p=1,t=2\$/)
    const events = await world.core.db.read.selectFrom('events').selectAll().execute()
    const shown = JSON.stringify([profile, await findUser(context(), profile.user.id), events])
    expect(shown).not.toContain('argon2')
    expect(shown).not.toContain(noor.password)
  })

  test('verifyPassword accepts username or e-mail address in any letter case, and only the right password', async () => {
    const { user } = await world.perform(admin, createUser, noor)
    const { password: _, ...unset } = { ...noor, username: 'ivo', email: 'ivo@example.test' }
    await world.perform(admin, createUser, { ...unset, forceRandomPassword: true })
    const verifiedId = async (login: string, password: string) =>
      (await verifyPassword(context(), login, password))?.user.id
    expect(await verifiedId('NOOR', noor.password)).toBe(user.id)
    expect(await verifiedId('noor@EXAMPLE.test', noor.password)).toBe(user.id)
    for (const [login, password] of [
      ['noor', 'wrong horse'],
      ['unknown', noor.password],
      ['ivo', noor.password],
      ['ivo', ''],
    ] as const)
      expect(await verifiedId(login, password)).toBeUndefined()
  })

  test.each([
    [{ password: '1234567' }, { code: 'invalid', fields: { password: ['is too short (minimum is 8 characters)'] } }],
    [
      { password: 'x'.repeat(129) },
      { code: 'invalid', fields: { password: ['is too long (maximum is 128 characters)'] } },
    ],
    [{ email: 'noor' }, { code: 'invalid', fields: { email: ['is invalid'] } }],
    [{ username: 'api' }, { code: 'invalid', fields: { username: ['is a reserved name'] } }],
    [{ username: 'ROOT' }, { code: 'conflict', reason: 'Username has already been taken' }],
    [{ email: 'ROOT@example.test' }, { code: 'conflict', reason: 'Email has already been taken' }],
    [{ username: 'ops' }, { code: 'conflict', reason: 'Username has already been taken' }],
    [
      { password: undefined },
      {
        code: 'parameters',
        problems: [{ path: [], problem: 'at_least_one', names: ['password', 'resetPassword', 'forceRandomPassword'] }],
      },
    ],
  ])('rejects %j', async (change, expected) => {
    await world.group('ops')
    expect(await world.perform(admin, createUser, { ...noor, ...change }).catch(failure)).toEqual(expected)
  })

  test('is allowed to administrators only', async () => {
    const mira = await world.user('mira')
    expect(await world.perform(mira, createUser, {}).catch(failure)).toEqual({ code: 'forbidden' })
    expect(await world.perform(undefined, createUser, {}).catch(failure)).toEqual({ code: 'unauthenticated' })
  })
})

describe('reading', () => {
  test('shows whole profiles to administrators and to the user', async () => {
    const [mira, ivo] = [await world.user('mira'), await world.user('ivo')]
    const isWhole = async (actor: User) => (await world.perform(actor, getUserProfile, { user: mira.id })).isWhole
    expect([await isWhole(mira), await isWhole(ivo), await isWhole(admin)]).toEqual([true, false, true])
    expect((await world.perform(mira, getCurrentUser, {})).user).toEqual(mira)
    const unknown = await world.perform(mira, getUserProfile, { user: 99 }).catch(failure)
    expect(unknown).toEqual({ code: 'not_found', what: 'User' })
  })

  test('lists users with filters and keyset pages', async () => {
    const [mira, ivo] = [await world.user('mira'), await world.user('ivo_k')]
    await world.perform(admin, blockUser, { user: ivo.id })
    const names = async (input: object, actor: User | undefined = mira) =>
      (await world.perform(actor, listUsers, input)).items.map(({ user }) => user.username)
    expect(await names({})).toEqual(['ivo_k', 'mira', 'root'])
    expect(await names({ active: true, sort: 'asc' })).toEqual(['root', 'mira'])
    expect(await names({ blocked: true })).toEqual(['ivo_k'])
    expect(await names({ username: 'MIRA' }, undefined)).toEqual(['mira'])
    expect(await names({ search: 'HOLT', orderBy: 'username', sort: 'asc' })).toEqual(['ivo_k', 'mira', 'root'])
    // `_` is literal; private e-mail addresses match only for administrators.
    expect(await names({ search: 'o_k' })).toEqual(['ivo_k'])
    expect(await names({ search: 'r_o' })).toEqual([])
    expect(await names({ search: 'mira@example.test' })).toEqual([])
    expect(await names({ search: 'mira@example.test' }, admin)).toEqual(['mira'])
    expect(await world.perform(undefined, listUsers, {}).catch(failure)).toEqual({ code: 'forbidden' })

    const keyset = { pagination: 'keyset', perPage: 2, sort: 'asc' }
    const first = await world.perform(mira, listUsers, keyset)
    expect(first.items.map(({ user }) => user.username)).toEqual(['root', 'mira'])
    const cursor = 'nextCursor' in first ? first.nextCursor : undefined
    const last = await world.perform(mira, listUsers, { ...keyset, cursor })
    expect(last).toMatchObject({ items: [{ user: { username: 'ivo_k' } }], nextCursor: undefined })
    const unordered = await world.perform(mira, listUsers, { ...keyset, orderBy: 'name' }).catch(failure)
    expect(unordered).toEqual({ code: 'no_keyset_in_order' })
  })
})

describe('changing', () => {
  test('a new username moves the namespace', async () => {
    const mira = await world.user('mira')
    const { id } = await world.project('notes', mira, 'public')
    await world.perform(admin, updateUser, { user: mira.id, username: 'mira2', publicEmail: 'M@example.test' })
    expect(await findUser(context(), mira.id)).toMatchObject({ username: 'mira2', publicEmail: 'm@example.test' })
    const { project } = await world.perform(undefined, showProject, { project: 'mira2/notes' })
    expect(project).toMatchObject({ id, fullPath: 'mira2/notes' })
    expect((await findFormerProject(context(), 'mira/notes'))?.id).toBe(id)
    await world.user('mira3')
    const taken = await world.perform(admin, updateUser, { user: mira.id, username: 'mira3' }).catch(failure)
    expect(taken).toEqual({ code: 'conflict', reason: 'Username has already been taken' })
  })

  test('a new password replaces the old one', async () => {
    const { user } = await world.perform(admin, createUser, noor)
    await world.perform(admin, updateUser, { user: user.id, password: 'battery staple' })
    expect(await verifyPassword(context(), 'noor', noor.password)).toBeUndefined()
    expect((await verifyPassword(context(), 'noor', 'battery staple'))?.user.id).toBe(user.id)
  })

  test('changes between states', async () => {
    const { id } = await world.user('mira')
    const stateAfter = async (operation: typeof blockUser) => {
      const done = await world.perform(admin, operation, { user: id }).catch(failure)
      return [done, (await findUser(context(), id))?.state]
    }
    expect(await stateAfter(blockUser)).toEqual([true, 'blocked'])
    expect(await stateAfter(activateUser)).toEqual([{ code: 'forbidden', reason: 'The user is blocked' }, 'blocked'])
    expect(await stateAfter(deactivateUser)).toEqual([{ code: 'forbidden', reason: 'The user is blocked' }, 'blocked'])
    expect(await stateAfter(unblockUser)).toEqual([true, 'active'])
    expect(await stateAfter(deactivateUser)).toEqual([true, 'deactivated'])
    expect(await stateAfter(activateUser)).toEqual([true, 'active'])
  })

  test('administrators cannot block, demote or remove themselves', async () => {
    for (const answer of [
      world.perform(admin, blockUser, { user: admin.id }).catch(failure),
      world.perform(admin, updateUser, { user: admin.id, admin: false }).catch(failure),
      world.perform(admin, removeUser, { user: admin.id }).catch(failure),
    ])
      expect(await answer).toEqual({ code: 'forbidden' })
  })

  test('removes the projects in the namespace, and rejects the removal of the only owner of a group', async () => {
    const mira = await world.user('mira')
    await world.project('notes', mira)
    const ops = await world.group('ops')
    await world.member(ops, mira, 50)
    const refused = await world.perform(admin, removeUser, { user: mira.id }).catch(failure)
    expect(refused).toMatchObject({ code: 'conflict' })
    await world.member(ops, admin, 50)
    await world.perform(admin, removeUser, { user: mira.id })
    const gone = await world.perform(admin, showProject, { project: 'mira/notes' }).catch(failure)
    expect(gone).toEqual({ code: 'not_found', what: 'Project' })
    expect(await findUser(context(), mira.id)).toBeUndefined()
  })
})
