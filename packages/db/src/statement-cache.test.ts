import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { withStatementCache } from './statement-cache.ts'

let directory: string
let database: Sqlite.Database
let kept: ReturnType<typeof withStatementCache>

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-db-'))
  database = new Sqlite(join(directory, 'test.db'))
  database.exec('create table notes (id integer); insert into notes values (7)')
  kept = withStatementCache(database)
})

afterEach(() => {
  database.close()
  rmSync(directory, { recursive: true })
})

const numbered = (number: number) => `select ${number} as number`

test('what was asked before is not prepared again', () => {
  expect(kept.prepare(numbered(1))).toBe(kept.prepare(numbered(1)))
})

test('of more than 250 those go that were not asked for longest', () => {
  const [first, second] = [kept.prepare(numbered(1)), kept.prepare(numbered(2))]
  for (let number = 3; number <= 250; number += 1) kept.prepare(numbered(number))
  expect(kept.prepare(numbered(1))).toBe(first)
  kept.prepare(numbered(251))
  expect([kept.prepare(numbered(1)) === first, kept.prepare(numbered(2)) === second]).toEqual([true, false])
})

test('what is longer than 10,000 characters is not kept', () => {
  const long = `select 1 /* ${'-'.repeat(10_000)} */`
  expect(kept.prepare(long)).not.toBe(kept.prepare(long))
})

test('a column that another connection adds is there', () => {
  const all = () => kept.prepare('select * from notes').all([])
  expect(all()).toEqual([{ id: 7 }])
  const other = new Sqlite(join(directory, 'test.db'))
  other.exec("alter table notes add column text text default 'new'")
  other.close()
  expect(all()).toEqual([{ id: 7, text: 'new' }])
})

test('a table that is made anew is read as it is now', () => {
  const all = () => kept.prepare('select * from notes').all([])
  expect(all()).toEqual([{ id: 7 }])
  database.exec("drop table notes; create table notes (text text, id integer); insert into notes values ('new', 8)")
  expect(all()).toEqual([{ text: 'new', id: 8 }])
})
