import { type Generated, type Selectable, sql } from 'kysely'
import { insertRoute } from '../groups/route-store.ts'
import { containsText } from '../kit/contains-text.ts'
import type { Reading, Tx } from '../kit/context.ts'
import { notFound } from '../kit/domain-error.ts'
import {
  type KeysetPage,
  type KeysetRequest,
  keysetPageOf,
  mapKeysetPage,
  mapPage,
  noKeysetInThisOrder,
  type Page,
  type PageRequest,
  pageOf,
} from '../kit/page.ts'
import type { User, UserState } from './user.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    users: UsersTable
  }
}

export interface UsersTable {
  id: Generated<number>
  username: string
  name: string
  /** In lower case. */
  email: string
  public_email: string | null
  state: UserState
  is_admin: number
  is_bot: number
  /** argon2id, in PHC form; never leaves this folder. */
  password_hash: string | null
  last_activity_on: string | null
  created_at_ms: number
}

/** What `userOf` needs: all but the hash of the password. */
export const userColumns = [
  'users.id',
  'users.username',
  'users.name',
  'users.email',
  'users.public_email',
  'users.state',
  'users.is_admin',
  'users.is_bot',
  'users.last_activity_on',
  'users.created_at_ms',
] as const

export type UserRow = Omit<Selectable<UsersTable>, 'password_hash'>

export async function findUser({ db }: Reading, id: number): Promise<User | undefined> {
  const row = await db.selectFrom('users').select(userColumns).where('id', '=', id).executeTakeFirst()
  return row && userOf(row)
}

/** @throws DomainError `not_found` */
export async function getUser(reading: Reading, id: number): Promise<User> {
  const user = await findUser(reading, id)
  if (user === undefined) throw notFound('User')
  return user
}

/** By id; those that are not there are left out. */
export async function findUsers({ db }: Reading, ids: readonly number[]): Promise<Map<number, User>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('users')
    .select(userColumns)
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return new Map(rows.map((row) => [row.id, userOf(row)]))
}

/** In any letter case. */
export async function findUserByUsername({ db }: Reading, username: string): Promise<User | undefined> {
  const row = await db
    .selectFrom('users')
    .innerJoin('routes', 'routes.user_id', 'users.id')
    .select(userColumns)
    .where('routes.path', '=', username.toLowerCase())
    .executeTakeFirst()
  return row && userOf(row)
}

/** Of a column `integer`: PostgreSQL fails when asked for more. */
const MAX_ID = 2_147_483_647

/** What is all digits is an id. */
export async function findUserByIdOrUsername(reading: Reading, text: string): Promise<User | undefined> {
  if (!/^\d+$/.test(text)) return findUserByUsername(reading, text)
  return Number(text) > MAX_ID ? undefined : findUser(reading, Number(text))
}

/** By username or e-mail, in any letter case. No username has an `@`, so whether there is such a user costs no query more. */
export function findUserByLogin(reading: Reading, login: string): Promise<User | undefined> {
  return login.includes('@') ? findUserByEmail(reading, login) : findUserByUsername(reading, login)
}

export async function findUserByEmail({ db }: Reading, email: string): Promise<User | undefined> {
  const row = await db
    .selectFrom('users')
    .select(userColumns)
    .where('email', '=', email.toLowerCase())
    .executeTakeFirst()
  return row && userOf(row)
}

export function userOf(row: UserRow): User {
  return {
    id: row.id,
    username: row.username,
    name: row.name,
    email: row.email,
    publicEmail: row.public_email ?? undefined,
    state: row.state,
    isAdministrator: row.is_admin === 1,
    isBot: row.is_bot === 1,
    createdAtMs: row.created_at_ms,
    lastActivityOn: row.last_activity_on ?? undefined,
  }
}

export interface UserFilter {
  /** In any letter case. */
  readonly username?: string | undefined
  /** Part of the name or username, or a whole e-mail address: a public one, or any when `allEmails`. */
  readonly search?: string | undefined
  readonly allEmails: boolean
  readonly isActive?: boolean | undefined
  readonly isBlocked?: boolean | undefined
  readonly isAdministrator?: boolean | undefined
  readonly isBot?: boolean | undefined
  readonly createdAfterMs?: number | undefined
  readonly createdBeforeMs?: number | undefined
  readonly idAfter?: number | undefined
  readonly idBefore?: number | undefined
}

export interface UserOrder {
  readonly by: 'id' | 'name' | 'username' | 'created_at'
  readonly direction: 'asc' | 'desc'
}

const orderColumns = { id: 'id', name: 'name', username: 'username', created_at: 'created_at_ms' } as const

export async function pageOfUsers(
  reading: Reading,
  filter: UserFilter,
  { by, direction }: UserOrder,
  page: PageRequest & KeysetRequest,
  isKeyset: boolean,
): Promise<Page<User> | KeysetPage<User>> {
  let query = reading.db.selectFrom('users').select(userColumns)
  if (filter.username !== undefined)
    query = query.where(sql<string>`lower(${sql.ref('username')})`, '=', filter.username.toLowerCase())
  if (filter.search !== undefined) {
    const { search, allEmails } = filter
    query = query.where((eb) =>
      eb.or([
        containsText(['name', 'username'], search),
        eb('public_email', '=', search.toLowerCase()),
        ...(allEmails ? [eb('email', '=', search.toLowerCase())] : []),
      ]),
    )
  }
  if (filter.isActive) query = query.where('state', '=', 'active')
  if (filter.isBlocked) query = query.where('state', '=', 'blocked')
  if (filter.isAdministrator) query = query.where('is_admin', '=', 1)
  if (filter.isBot !== undefined) query = query.where('is_bot', '=', filter.isBot ? 1 : 0)
  if (filter.createdAfterMs !== undefined) query = query.where('created_at_ms', '>=', filter.createdAfterMs)
  if (filter.createdBeforeMs !== undefined) query = query.where('created_at_ms', '<=', filter.createdBeforeMs)
  if (filter.idAfter !== undefined) query = query.where('id', '>', filter.idAfter)
  if (filter.idBefore !== undefined) query = query.where('id', '<', filter.idBefore)
  if (isKeyset) {
    if (by !== 'id') throw noKeysetInThisOrder()
    return mapKeysetPage(await keysetPageOf(query, page, [{ column: 'users.id', key: 'id', direction }]), userOf)
  }
  if (by !== 'id') query = query.orderBy(orderColumns[by], direction)
  return mapPage(await pageOf(reading, query.orderBy('id', direction), page), userOf)
}

export interface UserDraft {
  readonly username: string
  readonly name: string
  readonly email: string
  readonly isAdministrator?: boolean
  readonly isBot?: boolean
}

/** With the route of its namespace. @throws the database's error when username or e-mail is taken */
export async function insertUser({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>, draft: UserDraft): Promise<User> {
  const row = await db
    .insertInto('users')
    .values({
      username: draft.username,
      name: draft.name,
      email: draft.email.toLowerCase(),
      public_email: null,
      state: 'active',
      is_admin: draft.isAdministrator === true ? 1 : 0,
      is_bot: draft.isBot === true ? 1 : 0,
      password_hash: null,
      last_activity_on: null,
      created_at_ms: nowMs,
    })
    .returning(userColumns)
    .executeTakeFirstOrThrow()
  await insertRoute(db, draft.username, { user_id: row.id })
  return userOf(row)
}

export type UserChanges = Partial<
  Pick<User, 'username' | 'name' | 'email' | 'publicEmail' | 'state' | 'isAdministrator'>
>

/** The row alone: not the routes of a new username. A key given as `undefined` clears what may be absent. */
export async function updateUserRow({ db }: Pick<Tx, 'db'>, id: number, changes: UserChanges): Promise<User> {
  const row = await db
    .updateTable('users')
    .set(({ ref }) => ({
      ...(changes.username !== undefined && { username: changes.username }),
      ...(changes.name !== undefined && { name: changes.name }),
      ...(changes.email !== undefined && { email: changes.email.toLowerCase() }),
      ...('publicEmail' in changes && { public_email: changes.publicEmail ?? null }),
      ...(changes.state !== undefined && { state: changes.state }),
      ...(changes.isAdministrator !== undefined && { is_admin: changes.isAdministrator ? 1 : 0 }),
      // An update of nothing is no SQL.
      created_at_ms: ref('created_at_ms'),
    }))
    .where('id', '=', id)
    .returning(userColumns)
    .executeTakeFirstOrThrow()
  return userOf(row)
}

/** With the route of its namespace and its memberships. */
export async function deleteUserRow({ db }: Pick<Tx, 'db'>, id: number): Promise<void> {
  await db.deleteFrom('users').where('id', '=', id).execute()
}
