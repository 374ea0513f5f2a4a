import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { withStatementCache } from './statement-cache.ts'

let database: Sqlite.Database
let cached: ReturnType<typeof withStatementCache>

beforeEach(() => {
  database = new Sqlite(':memory:')
  cached = withStatementCache(database)
})

afterEach(() => {
  database.close()
})

const all = (text: string, ...parameters: unknown[]) => cached.prepare(text).all(parameters)

test('returns the rows as plain objects with the columns in their order', () => {
  const rows = all('select ? as number, null as empty, x\'00ff\' as bytes, 1.5 as "a ""name"" with quotes"', 7)
  expect(rows).toEqual([{ number: 7, empty: null, bytes: Buffer.from([0, 255]), 'a "name" with quotes': 1.5 }])
  expect(Object.keys(rows[0] as object)).toEqual(['number', 'empty', 'bytes', 'a "name" with quotes'])
  expect(Object.getPrototypeOf(rows[0])).toBe(Object.prototype)
})

test('of columns with the same name, the last one counts', () => {
  expect(all('select 1 as value, 2 as value')).toEqual([{ value: 2 }])
})

test('returns the rows of a statement that writes', () => {
  cached.prepare('create table notes (id integer, text text)').run([])
  expect(all('insert into notes values (1, ?), (2, ?) returning *', 'a', 'b')).toEqual([
    { id: 1, text: 'a' },
    { id: 2, text: 'b' },
  ])
})

test('reads the rows one by one', () => {
  const rows = cached.prepare('select value from json_each(?)').iterate(['[1,2]'])
  expect([...rows]).toEqual([{ value: 1 }, { value: 2 }])
})

test('a cached statement has the new name of a column', () => {
  cached.prepare('create table notes (id integer, text text)').run([])
  cached.prepare("insert into notes values (1, 'a')").run([])
  expect(all('select * from notes')).toEqual([{ id: 1, text: 'a' }])
  cached.prepare('alter table notes rename column text to body').run([])
  expect(all('select * from notes')).toEqual([{ id: 1, body: 'a' }])
})
