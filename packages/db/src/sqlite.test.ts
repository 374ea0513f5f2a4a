import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Db, openSqlite } from './sqlite.ts'

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
