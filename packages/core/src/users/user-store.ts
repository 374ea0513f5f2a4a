import type { Generated, Selectable } from 'kysely'
import { insertRoute } from '../groups/route-store.ts'
import type { Reading, Tx } from '../kit/context.ts'
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

export async function findUser({ db }: Reading, id: number): Promise<User | undefined> {
  const row = await db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()
  return row && userOf(row)
}

export function userOf(row: Selectable<UsersTable>): User {
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

export interface UserDraft {
  readonly username: string
  readonly name: string
  readonly email: string
  readonly isAdministrator?: boolean
  readonly isBot?: boolean
  readonly passwordHash?: string
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
      password_hash: draft.passwordHash ?? null,
      last_activity_on: null,
      created_at_ms: nowMs,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await insertRoute(db, draft.username, { user_id: row.id })
  return userOf(row)
}
