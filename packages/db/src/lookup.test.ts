import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Lookup } from './lookup.ts'
import { openSqlite, type SqliteDb } from './sqlite.ts'

interface Tables {
  labels: { id: number; name: string }
}

let directory: string
let db: SqliteDb<Tables>

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-lookup-'))
  db = openSqlite<Tables>(join(directory, 'labels.db'))
  await db.write(async (tx) => {
    await tx.schema.createTable('labels').addColumn('id', 'integer').addColumn('name', 'text').execute()
    await tx
      .insertInto('labels')
      .values([
        { id: 1, name: 'bug' },
        { id: 2, name: 'later' },
      ])
      .execute()
  })
})

afterEach(async () => {
  await db.close()
  rmSync(directory, { recursive: true, force: true })
})

test('returns the row of each value, also in a transaction, and compiles the statement once for reads and once for writes', async () => {
  let compiled = 0
  const labelByName = new Lookup((connection: Kysely<Tables>, name: string) => {
    compiled += 1
    return connection.selectFrom('labels').select('id').where('name', '=', name)
  })
  expect(await labelByName.run(db.read, 'bug')).toEqual({ id: 1 })
  expect(await labelByName.run(db.read, 'later')).toEqual({ id: 2 })
  expect(await labelByName.run(db.read, 'urgent')).toBeUndefined()
  expect(await db.write((tx) => labelByName.run(tx, 'later'))).toEqual({ id: 2 })
  expect(compiled).toBe(2)
})

test('rejects a statement with another number of parameters', async () => {
  const wrong = new Lookup((connection: Kysely<Tables>, name: string) =>
    connection.selectFrom('labels').select('id').where('name', 'in', [name, 'bug']),
  )
  await expect(wrong.run(db.read, 'later')).rejects.toThrow('The statement has 2 parameters instead of one')
})
