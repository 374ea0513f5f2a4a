import { expect, test } from 'vitest'
import { migration } from './20261122T1520_bot_homes.ts'
import { migrated } from './one-migration.harness.ts'

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

test('bots get their project or group from their tokens, and lose rights beyond it', async () => {
  const rows = await migrated(tables, migration)
  const users = await rows('select * from users order by id')
  expect(users).toEqual([
    { id: 1, is_bot: 0, is_admin: 1, password_hash: 'hash', bot_project_id: null, bot_group_id: null },
    { id: 2, is_bot: 1, is_admin: 0, password_hash: null, bot_project_id: 1, bot_group_id: null },
    { id: 3, is_bot: 1, is_admin: 0, password_hash: null, bot_project_id: null, bot_group_id: 2 },
    { id: 4, is_bot: 1, is_admin: 0, password_hash: null, bot_project_id: null, bot_group_id: null },
  ])
  const members = await rows('select * from members order by user_id')
  expect(members).toEqual([
    { user_id: 1, project_id: 1, group_id: null },
    { user_id: 2, project_id: 1, group_id: null },
    { user_id: 3, project_id: null, group_id: 2 },
  ])
  expect(await rows('select * from sessions')).toEqual([{ user_id: 1 }])
})
