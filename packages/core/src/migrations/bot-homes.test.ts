import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '@penstock/db'
import { type Kysely, sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { migration } from './20261122T1520_bot_homes.ts'

/** The parts of the earlier tables that the migration uses. */
const tables = [
  'create table projects (id integer primary key)',
  'create table "groups" (id integer primary key)',
  'create table users (id integer primary key, is_bot integer, is_admin integer, password_hash text)',
  'create table sessions (user_id integer)',
  'create table access_tokens (user_id integer, project_id integer, group_id integer)',
  'create table members (user_id integer, project_id integer, group_id integer)',
  'insert into projects values (1), (2)',
  'insert into "groups" values (1), (2)',
  "insert into users values (1, 0, 1, 'hash'), (2, 1, 1, 'hash'), (3, 1, 0, null), (4, 1, 0, null)",
  'insert into sessions values (1), (2)',
  'insert into access_tokens values (1, null, null), (2, 1, null), (2, 1, null), (3, null, 2)',
  'insert into members values (1, 1, null), (2, 1, null), (2, 2, null), (2, null, 1)',
  'insert into members values (3, null, 2), (3, null, 1), (3, 2, null), (4, 1, null)',
]

test('bots get their project or group from their tokens, and lose what they were given beyond it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'penstock-migration-'))
  const db = openDatabase<Record<string, Record<string, unknown>>>(join(directory, 'core.db'))
  onTestFinished(async () => {
    await db.close()
    await rm(directory, { recursive: true })
  })
  await db.write(async (tx) => {
    for (const statement of tables) await sql.raw(statement).execute(tx)
    await migration.up(tx as unknown as Kysely<unknown>)
  })
  const users = await sql.raw('select * from users order by id').execute(db.read)
  expect(users.rows).toEqual([
    { id: 1, is_bot: 0, is_admin: 1, password_hash: 'hash', bot_project_id: null, bot_group_id: null },
    { id: 2, is_bot: 1, is_admin: 0, password_hash: null, bot_project_id: 1, bot_group_id: null },
    { id: 3, is_bot: 1, is_admin: 0, password_hash: null, bot_project_id: null, bot_group_id: 2 },
    { id: 4, is_bot: 1, is_admin: 0, password_hash: null, bot_project_id: null, bot_group_id: null },
  ])
  const members = await sql.raw('select * from members order by user_id').execute(db.read)
  expect(members.rows).toEqual([
    { user_id: 1, project_id: 1, group_id: null },
    { user_id: 2, project_id: 1, group_id: null },
    { user_id: 3, project_id: null, group_id: 2 },
  ])
  expect((await sql.raw('select * from sessions').execute(db.read)).rows).toEqual([{ user_id: 1 }])
})
