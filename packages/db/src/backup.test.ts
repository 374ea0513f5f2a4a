import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { backup } from './backup.ts'
import type { Db } from './port/db.ts'
import { openSqlite } from './sqlite/sqlite.ts'

interface Tables {
  notes: { id: number; text: string }
}

let directory: string
let db: Db<Tables>
const file = () => join(directory, 'test.db')
const copy = () => join(directory, 'copy.db')

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-backup-'))
  db = openSqlite<Tables>(file())
  await db.write((tx) => tx.schema.createTable('notes').addColumn('id', 'integer').addColumn('text', 'text').execute())
})

afterEach(async () => {
  await db.close()
  rmSync(directory, { recursive: true })
})

const add = (id: number) =>
  db.write((tx) =>
    tx
      .insertInto('notes')
      .values({ id, text: 'x'.repeat(1_000) })
      .execute(),
  )

function idsIn(path: string): number[] {
  const database = new Sqlite(path)
  expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
  const ids = database.prepare('select id from notes order by id').pluck().all()
  database.close()
  return ids as number[]
}

test('a copy made during writes has everything committed before, and no partial transaction', async () => {
  // About 500 pages, which the copy reads in five steps, with writes in between.
  for (let id = 0; id < 500; id += 1) await add(id)
  let isCopying = true
  const copied = backup(file(), copy()).finally(() => {
    isCopying = false
  })
  let next = 500
  for (; isCopying; next += 2) {
    // A write ends without a turn of the event loop, but the copy needs one.
    await new Promise((resolve) => setImmediate(resolve))
    await db.write(async (tx) => {
      await tx.insertInto('notes').values({ id: next, text: 'pair' }).execute()
      await tx
        .insertInto('notes')
        .values({ id: next + 1, text: 'pair' })
        .execute()
    })
  }
  await copied
  const ids = idsIn(copy())
  expect(next).toBeGreaterThan(500)
  expect(ids.slice(0, 500)).toEqual(Array.from({ length: 500 }, (_, id) => id))
  expect(ids.length % 2).toBe(0)
  expect(readdirSync(directory).filter((name) => name.startsWith('copy'))).toEqual(['copy.db'])
})

test('only the owner can read the copy', async () => {
  await backup(file(), copy())
  expect(statSync(copy()).mode & 0o777).toBe(0o600)
})

test('rejects an existing target and leaves it unchanged', async () => {
  writeFileSync(copy(), 'mine')
  await expect(backup(file(), copy())).rejects.toThrow(`${copy()} already exists`)
  expect(statSync(copy()).size).toBe(4)
})

test('creates neither a missing database nor a missing directory', async () => {
  await expect(backup(join(directory, 'nothing.db'), copy())).rejects.toThrow()
  await expect(backup(file(), join(directory, 'nowhere', 'copy.db'))).rejects.toThrow('nowhere')
  expect([existsSync(join(directory, 'nothing.db')), existsSync(copy())]).toEqual([false, false])
})

test('a damaged database leaves no copy', async () => {
  const damaged = join(directory, 'damaged.db')
  writeFileSync(damaged, 'x'.repeat(4_096))
  await expect(backup(damaged, copy())).rejects.toThrow()
  expect(readdirSync(directory).filter((name) => name.startsWith('copy'))).toEqual([])
})

test('for PostgreSQL, names pg_dump and does not print the password', async () => {
  const refused = await backup('postgres://penstock:s3cret@db.example/penstock', copy()).catch(String)
  expect(refused).toMatch(/pg_dump/)
  expect(refused).not.toMatch(/s3cret/)
})

test('can run while a write is in progress', async () => {
  await add(1)
  await db.write(async (tx) => {
    await sql`delete from notes`.execute(tx)
    await backup(file(), copy())
  })
  expect(idsIn(copy())).toEqual([1])
})
