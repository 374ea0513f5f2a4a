import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { withStatementCache } from './statement-cache.ts'

let directory: string
let database: Sqlite.Database
let cached: ReturnType<typeof withStatementCache>

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-db-'))
  database = new Sqlite(join(directory, 'test.db'))
  database.exec('create table notes (id integer); insert into notes values (7)')
  cached = withStatementCache(database)
})

afterEach(() => {
  database.close()
  rmSync(directory, { recursive: true })
})

const numbered = (number: number) => `select ${number} as number`

test('does not prepare the same statement again', () => {
  expect(cached.prepare(numbered(1))).toBe(cached.prepare(numbered(1)))
})

test('evicts the least recently used of more than 250 statements', () => {
  const [first, second] = [cached.prepare(numbered(1)), cached.prepare(numbered(2))]
  for (let number = 3; number <= 250; number += 1) cached.prepare(numbered(number))
  expect(cached.prepare(numbered(1))).toBe(first)
  cached.prepare(numbered(251))
  expect([cached.prepare(numbered(1)) === first, cached.prepare(numbered(2)) === second]).toEqual([true, false])
})

test('does not cache statements longer than 10,000 characters', () => {
  const long = `select 1 /* ${'-'.repeat(10_000)} */`
  expect(cached.prepare(long)).not.toBe(cached.prepare(long))
})

test('a cached statement returns a column that another connection has added', () => {
  const all = () => cached.prepare('select * from notes').all([])
  expect(all()).toEqual([{ id: 7 }])
  const other = new Sqlite(join(directory, 'test.db'))
  other.exec("alter table notes add column text text default 'new'")
  other.close()
  expect(all()).toEqual([{ id: 7, text: 'new' }])
})

test('a cached statement reads a table that was dropped and created again', () => {
  const all = () => cached.prepare('select * from notes').all([])
  expect(all()).toEqual([{ id: 7 }])
  database.exec("drop table notes; create table notes (text text, id integer); insert into notes values ('new', 8)")
  expect(all()).toEqual([{ text: 'new', id: 8 }])
})
