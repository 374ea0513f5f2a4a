import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isUnavailable } from '../open-database.ts'
import { describeDb } from '../port/db.case.ts'
import type { Db } from '../port/db.ts'
import { openSqlite } from './sqlite.ts'

interface Tables {
  notes: { id: number; text: string }
}

let directory: string
let db: Db<Tables>

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-db-'))
  db = openSqlite<Tables>(join(directory, 'test.db'))
  await db.write((tx) => tx.schema.createTable('notes').addColumn('id', 'integer').addColumn('text', 'text').execute())
})

afterEach(async () => {
  await db.close()
  rmSync(directory, { recursive: true })
})

const texts = async () =>
  (await db.read.selectFrom('notes').select('text').orderBy('id').execute()).map((row) => row.text)

describeDb('SQLite', async () => {
  const home = mkdtempSync(join(tmpdir(), 'penstock-db-'))
  return {
    open: (options) => openSqlite(join(home, 'test.db'), options),
    remove: async () => rmSync(home, { recursive: true }),
  }
})

test('readers share a connection, so transactions are rejected', async () => {
  await expect(db.read.transaction().execute(async () => {})).rejects.toThrow('Reading has no transactions')
  expect(await Promise.all([texts(), texts(), texts()])).toEqual([[], [], []])
})

test('many reads in a row do not block the event loop', async () => {
  const most = 20_000
  let hasTurned = false
  setImmediate(() => {
    hasTurned = true
  })
  let reads = 0
  for (; reads < most && !hasTurned; reads += 1) await Promise.all([texts(), texts()])
  expect(reads).toBeLessThan(most)
})

/** Takes the write lock of a file, prints `held`, and inserts a row and releases the lock when its input ends. */
const holder = `
  const database = require('better-sqlite3')(process.argv[1])
  database.exec('begin immediate')
  process.stdout.write('held')
  process.stdin.on('end', () => {
    database.exec("insert into notes (id, text) values (1, 'theirs'); commit")
  }).resume()`

async function holding() {
  const child = spawn(process.execPath, ['-e', holder, join(directory, 'test.db')], {
    cwd: import.meta.dirname,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return child
}

test('if another process holds the lock too long, the first writer fails and the next one gets the full time', async () => {
  const child = await holding()
  const first = db.write((tx) => tx.insertInto('notes').values({ id: 2, text: 'first' }).execute())
  const second = db.write((tx) => tx.insertInto('notes').values({ id: 3, text: 'second' }).execute())
  await expect(first).rejects.toSatisfy(isUnavailable)
  child.stdin.end()
  await second
  await once(child, 'exit')
  expect(await texts()).toEqual(['theirs', 'second'])
})

test('a writer waits for another process without blocking the event loop', async () => {
  const child = await holding()
  const seen: string[] = []
  const write = db.write(async (tx) => {
    seen.push('began')
    await tx.insertInto('notes').values({ id: 2, text: 'ours' }).execute()
  })
  await new Promise((resolve) => setImmediate(resolve))
  seen.push('event loop went on')
  child.stdin.end()
  await write
  await once(child, 'exit')
  expect(seen).toEqual(['event loop went on', 'began'])
  expect(await texts()).toEqual(['theirs', 'ours'])
})

test('several processes can create the file at the same time', async () => {
  const creator = `
    const [, file] = process.argv
    process.stdout.write('ready')
    process.stdin.on('end', () => require('better-sqlite3')(file).pragma('journal_mode = WAL')).resume()`
  const file = join(directory, 'new.db')
  const children = Array.from({ length: 2 }, () =>
    spawn(process.execPath, ['-e', creator, file], { cwd: import.meta.dirname, stdio: ['pipe', 'pipe', 'ignore'] }),
  )
  await Promise.all(children.map((child) => once(child.stdout, 'data')))
  const gone = children.map((child) => once(child, 'exit'))
  for (const child of children) child.stdin.end()
  const handles = Array.from({ length: 4 }, () => openSqlite<Tables>(file))
  await Promise.all(gone)
  await Promise.all(handles.map((handle) => handle.close()))
})

test('distinguishes an unavailable database from a wrong query', async () => {
  await db.write((tx) => tx.schema.createIndex('notes_by_id').unique().on('notes').column('id').execute())
  const insert = () => db.write((tx) => tx.insertInto('notes').values({ id: 1, text: 'x' }).execute())
  await insert()
  const codeOf = (error: unknown) => [(error as { code?: string }).code, isUnavailable(error)]
  expect(await insert().catch(codeOf)).toEqual(['SQLITE_CONSTRAINT_UNIQUE', false])
  expect(await sql`select from`.execute(db.read).catch(codeOf)).toEqual(['SQLITE_ERROR', false])
  const file = join(directory, 'no-database')
  writeFileSync(file, 'x'.repeat(4_096))
  expect(() => openSqlite(file)).toThrow(expect.toSatisfy(isUnavailable))
})

test.each([
  'SQLITE_BUSY',
  'SQLITE_CANTOPEN',
  'SQLITE_CORRUPT_INDEX',
  'SQLITE_FULL',
  'SQLITE_IOERR_READ',
  'SQLITE_NOTADB',
  'SQLITE_READONLY_DBMOVED',
])('%s means that the database is unavailable', (code) => {
  expect(isUnavailable(new Sqlite.SqliteError('x', code))).toBe(true)
})

test('limits are literals in the SQL text, so that the statement is prepared only once', () => {
  const query = db.read.selectFrom('notes').select('id').where('id', '=', 7)
  expect(query.limit(21).offset(40).compile()).toMatchObject({
    sql: 'select "id" from "notes" where "id" = ? limit 21 offset ?',
    parameters: [7, 40],
  })
  expect(query.limit(sql<number>`1 + ${2}`).compile().parameters).toEqual([7, 2])
})
