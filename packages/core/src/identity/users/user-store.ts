import type { Generated, Selectable } from 'kysely'
import { MAX_INTEGER } from '../../base/kit/common-fields.ts'
import { dayAt } from '../../base/kit/day.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { settingsFrom, settingsText } from '../../base/kit/stored-settings.ts'
import type { Actor, BotHome, User, UserState } from '../../base/model/user.ts'
import { userSettings } from '../../base/model/user-settings.ts'
import type { Tx } from '../../base/operations/context.ts'
import { insertRoute } from '../paths/route-store.ts'
import { insertEmail, replacePrimaryEmail } from './email-store.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    users: UsersTable
  }
}

interface UsersTable {
  id: Generated<number>
  username: string
  name: string
  /** In lower case. */
  email: string
  public_email: string | null
  state: UserState
  is_admin: number
  is_bot: number
  /** The project or group that a bot belongs to. At most one is set; both are null after its removal. */
  bot_project_id: number | null
  bot_group_id: number | null
  /** The argon2id hash in PHC format. Only this folder reads it. */
  password_hash: string | null
  last_activity_on: string | null
  is_external: Generated<number>
  can_create_group: Generated<number>
  projects_limit: Generated<number>
  /** JSON, see `settingsFrom`. */
  settings: Generated<string>
  /** A file name; the bytes are in `avatars`. */
  avatar: Generated<string | null>
  created_at_ms: number
  updated_at_ms: number
}

/** The columns that `userOf` reads: all except the password hash. */
export const userColumns = [
  'users.id',
  'users.username',
  'users.name',
  'users.email',
  'users.public_email',
  'users.state',
  'users.is_admin',
  'users.is_bot',
  'users.bot_project_id',
  'users.bot_group_id',
  'users.last_activity_on',
  'users.is_external',
  'users.can_create_group',
  'users.projects_limit',
  'users.settings',
  'users.avatar',
  'users.updated_at_ms',
  'users.created_at_ms',
] as const

export type UserRow = Omit<Selectable<UsersTable>, 'password_hash'>

export async function findUser({ db }: ReadContext, id: number): Promise<User | undefined> {
  const row = await db.selectFrom('users').select(userColumns).where('id', '=', id).executeTakeFirst()
  return row && userOf(row)
}

/** @throws DomainError `not_found` */
export async function getUser(context: ReadContext, id: number): Promise<User> {
  const user = await findUser(context, id)
  if (user === undefined) throw notFound('User')
  return user
}

/** Returns users by id, without ids that do not exist. */
export async function findUsers({ db }: ReadContext, ids: readonly number[]): Promise<Map<number, User>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('users')
    .select(userColumns)
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return new Map(rows.map((row) => [row.id, userOf(row)]))
}

/** Finds a user by name, ignoring letter case. */
export async function findUserByUsername({ db }: ReadContext, username: string): Promise<User | undefined> {
  const row = await db
    .selectFrom('users')
    .innerJoin('routes', 'routes.user_id', 'users.id')
    .select(userColumns)
    .where('routes.path', '=', username.toLowerCase())
    .executeTakeFirst()
  return row && userOf(row)
}

/** Finds users by name, ignoring letter case and unknown names. */
export async function findUsersByUsername({ db }: ReadContext, usernames: readonly string[]): Promise<User[]> {
  if (usernames.length === 0) return []
  const rows = await db
    .selectFrom('users')
    .innerJoin('routes', 'routes.user_id', 'users.id')
    .select(userColumns)
    .where(
      'routes.path',
      'in',
      usernames.map((username) => username.toLowerCase()),
    )
    .orderBy('users.id')
    .execute()
  return rows.map(userOf)
}

/** Finds a user by id if the text has only digits, else by name. */
export async function findUserByIdOrUsername(context: ReadContext, text: string): Promise<User | undefined> {
  if (!/^\d+$/.test(text)) return findUserByUsername(context, text)
  // PostgreSQL fails when an `integer` column is compared with a higher value.
  return Number(text) > MAX_INTEGER ? undefined : findUser(context, Number(text))
}

/**
 * Finds a user by username or e-mail address, ignoring letter case. Takes one query in both cases, as no username contains
 * `@`.
 */
export function findUserByLogin(context: ReadContext, login: string): Promise<User | undefined> {
  return login.includes('@') ? findUserByEmail(context, login) : findUserByUsername(context, login)
}

/** Finds a user by a confirmed address. */
export async function findUserByEmail({ db }: ReadContext, email: string): Promise<User | undefined> {
  const row = await db
    .selectFrom('emails')
    .innerJoin('users', 'users.id', 'emails.user_id')
    .select(userColumns)
    .where('emails.email', '=', email.toLowerCase())
    .where('emails.confirmed_at_ms', 'is not', null)
    .executeTakeFirst()
  return row && userOf(row)
}

/**
 * Returns users in a map by e-mail address, in lower case. Every actor can find users by public addresses. By private
 * addresses, administrators find all users, and others only themselves.
 */
export async function findUsersByEmail(
  { db }: ReadContext,
  emails: readonly string[],
  actor: Actor,
): Promise<Map<string, User>> {
  const wanted = [...new Set(emails.map((email) => email.toLowerCase()))]
  if (wanted.length === 0) return new Map()
  const rows = await db
    .selectFrom('users')
    .select(userColumns)
    .where((eb) => {
      const matchesPrivate = eb('email', 'in', wanted)
      return eb.or([
        eb('public_email', 'in', wanted),
        ...(actor?.isAdministrator
          ? [matchesPrivate]
          : actor === undefined
            ? []
            : [eb.and([matchesPrivate, eb('id', '=', actor.id)])]),
      ])
    })
    .orderBy('id', 'desc')
    .execute()
  const users = new Map<string, User>()
  for (const user of rows.map(userOf)) {
    if (user.publicEmail !== undefined) users.set(user.publicEmail.toLowerCase(), user)
    if (actor?.isAdministrator || user.id === actor?.id) users.set(user.email, user)
  }
  return users
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
    botHome:
      row.is_bot === 1
        ? { projectId: row.bot_project_id ?? undefined, groupId: row.bot_group_id ?? undefined }
        : undefined,
    isExternal: row.is_external === 1,
    canCreateGroup: row.can_create_group === 1,
    projectsLimit: row.projects_limit,
    settings: settingsFrom(userSettings, row.settings),
    avatar: row.avatar ?? undefined,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
    lastActivityOn: row.last_activity_on ?? undefined,
  }
}

interface UserDraft {
  readonly username: string
  readonly name: string
  readonly email: string
  readonly isAdministrator?: boolean
  /** Set to create a bot. */
  readonly botHome?: BotHome
}

/** Inserts a user, the route of its namespace and its address. @throws the database's error if username or e-mail address is taken */
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
      is_bot: draft.botHome === undefined ? 0 : 1,
      bot_project_id: draft.botHome?.projectId ?? null,
      bot_group_id: draft.botHome?.groupId ?? null,
      password_hash: null,
      last_activity_on: null,
      created_at_ms: nowMs,
      updated_at_ms: nowMs,
    })
    .returning(userColumns)
    .executeTakeFirstOrThrow()
  await insertRoute(db, draft.username, { user_id: row.id })
  await insertEmail({ db, nowMs }, { userId: row.id, email: draft.email, isConfirmed: true })
  return userOf(row)
}

export type UserChanges = Partial<
  Pick<
    User,
    | 'username'
    | 'name'
    | 'email'
    | 'publicEmail'
    | 'state'
    | 'isAdministrator'
    | 'isExternal'
    | 'canCreateGroup'
    | 'projectsLimit'
    | 'settings'
    | 'avatar'
  >
>

/** Updates the row and its primary address, not the routes of a new username. A key with the value `undefined` clears an optional column. */
export async function updateUserRow(
  { db, nowMs }: Pick<Tx, 'db' | 'nowMs'>,
  id: number,
  changes: UserChanges,
): Promise<User> {
  if (changes.email !== undefined) await changePrimaryEmail({ db, nowMs }, id, changes.email.toLowerCase())
  const row = await db
    .updateTable('users')
    .set({
      ...(changes.username !== undefined && { username: changes.username }),
      ...(changes.name !== undefined && { name: changes.name }),
      ...(changes.email !== undefined && { email: changes.email.toLowerCase() }),
      ...('publicEmail' in changes && { public_email: changes.publicEmail ?? null }),
      ...(changes.state !== undefined && { state: changes.state }),
      ...(changes.isAdministrator !== undefined && { is_admin: changes.isAdministrator ? 1 : 0 }),
      ...(changes.isExternal !== undefined && { is_external: changes.isExternal ? 1 : 0 }),
      ...(changes.canCreateGroup !== undefined && { can_create_group: changes.canCreateGroup ? 1 : 0 }),
      ...(changes.projectsLimit !== undefined && { projects_limit: changes.projectsLimit }),
      ...(changes.settings !== undefined && { settings: settingsText(userSettings, changes.settings) }),
      ...('avatar' in changes && { avatar: changes.avatar ?? null }),
      updated_at_ms: nowMs,
    })
    .where('id', '=', id)
    .returning(userColumns)
    .executeTakeFirstOrThrow()
  return userOf(row)
}

async function changePrimaryEmail(tx: Pick<Tx, 'db' | 'nowMs'>, id: number, to: string): Promise<void> {
  const { email } = await getUser(tx, id)
  if (to !== email) await replacePrimaryEmail(tx, id, { from: email, to })
}

/** Records that the user was active today. */
export async function updateLastActivity({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>, id: number): Promise<void> {
  await db
    .updateTable('users')
    .set({ last_activity_on: dayAt(nowMs) })
    .where('id', '=', id)
    .execute()
}

/** Deletes a user with the route of its namespace and its memberships. */
export async function deleteUserRow({ db }: Pick<Tx, 'db'>, id: number): Promise<void> {
  await db.deleteFrom('users').where('id', '=', id).execute()
}
