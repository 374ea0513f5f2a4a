import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Db, isUnavailable, openSqlite } from './sqlite.ts'

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

test('a committed write is there for readers', async () => {
  await db.write((tx) => tx.insertInto('notes').values({ id: 1, text: 'kept' }).execute())
  expect(await texts()).toEqual(['kept'])
})

test('a failing write leaves nothing, and takes nothing of its neighbours with it', async () => {
  const failing = db.write(async (tx) => {
    await tx.insertInto('notes').values({ id: 1, text: 'half' }).execute()
    throw new Error('no')
  })
  const neighbour = db.write((tx) => tx.insertInto('notes').values({ id: 2, text: 'whole' }).execute())
  await expect(failing).rejects.toThrow('no')
  await neighbour
  expect(await texts()).toEqual(['whole'])
})

test('readers cannot write', async () => {
  await expect(db.read.insertInto('notes').values({ id: 1, text: 'no' }).execute()).rejects.toThrow(/readonly/)
})

test('two handles on one file: reading and then writing loses no update', async () => {
  const other = openSqlite<Tables>(join(directory, 'test.db'))
  const add = (handle: Db<Tables>) =>
    handle.write(async (tx) => {
      const { count } = await tx
        .selectFrom('notes')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      await tx
        .insertInto('notes')
        .values({ id: count, text: String(count) })
        .execute()
    })
  await Promise.all(Array.from({ length: 20 }, (_, index) => add(index % 2 === 0 ? db : other)))
  await other.close()
  expect(await texts()).toEqual(Array.from({ length: 20 }, (_, index) => String(index)))
})

/** Takes the write lock of a file, says so, and gives it back with a row when its input ends. */
const holder = `
  const database = require('better-sqlite3')(process.argv[1])
  database.exec('begin immediate')
  process.stdout.write('held')
  process.stdin.on('end', () => {
    database.exec("insert into notes (id, text) values (1, 'theirs'); commit")
  }).resume()`

test('a writer waits for another process without stopping the event loop', async () => {
  const child = spawn(process.execPath, ['-e', holder, join(directory, 'test.db')], {
    cwd: import.meta.dirname,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
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

test('a file can be created by many at once', async () => {
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

test('tells a database that cannot serve from a query that cannot be served', async () => {
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
])('%s: the database cannot serve', (code) => {
  expect(isUnavailable(new Sqlite.SqliteError('x', code))).toBe(true)
})
