import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSqlite, type SqliteDb } from '../sqlite/sqlite.ts'
import { Lookup } from './lookup.ts'

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

test('returns the row of each value, also in a transaction, and compiles the statement once for both', async () => {
  let compiled = 0
  const labelByName = new Lookup((connection: Kysely<Tables>, name: string) => {
    compiled += 1
    return connection.selectFrom('labels').select('id').where('name', '=', name)
  })
  expect(await labelByName.run(db.read, 'bug')).toEqual({ id: 1 })
  expect(await labelByName.run(db.read, 'later')).toEqual({ id: 2 })
  expect(await labelByName.run(db.read, 'urgent')).toBeUndefined()
  expect(await db.write((tx) => labelByName.run(tx, 'later'))).toEqual({ id: 2 })
  expect(compiled).toBe(1)
})

test('sends each value to every place that the statement has for it, beside constants', async () => {
  const between = new Lookup((connection: Kysely<Tables>, least: number, most: number) =>
    connection
      .selectFrom('labels')
      .select('name')
      .where('id', '<=', most)
      .where('id', 'in', [least, most])
      .where('name', '<>', 'bug'),
  )
  expect(await between.run(db.read, 1, 2)).toEqual({ name: 'later' })
  expect(await between.run(db.read, 2, 3)).toEqual({ name: 'later' })
  expect(await between.run(db.read, 1, 1)).toBeUndefined()
})

test('a plugin can stop each run', async () => {
  const byName = new Lookup((connection: Kysely<Tables>, name: string) =>
    connection.selectFrom('labels').select('id').where('name', '=', name),
  )
  let isStopped = false
  const watched = db.read.withPlugin({
    transformQuery({ node }) {
      if (isStopped) throw new Error('stopped')
      return node
    },
    transformResult: async ({ result }) => result,
  })
  expect(await byName.run(watched, 'bug')).toEqual({ id: 1 })
  isStopped = true
  await expect(byName.run(watched, 'bug')).rejects.toThrow('stopped')
})

test('rejects a statement that does not use a value', async () => {
  const wrong = new Lookup((connection: Kysely<Tables>, _: string) => connection.selectFrom('labels').select('id'))
  await expect(wrong.run(db.read, 'later')).rejects.toThrow('The statement lacks a parameter for value 1')
})

test('compiles a statement for each number of values', async () => {
  let compiled = 0
  const labels = new Lookup((connection: Kysely<Tables>, ...names: string[]) => {
    compiled += 1
    return connection.selectFrom('labels').select('id').where('name', 'in', names).orderBy('id')
  })
  expect(await labels.all(db.read, 'bug')).toEqual([{ id: 1 }])
  expect(await labels.all(db.read, 'later', 'bug')).toEqual([{ id: 1 }, { id: 2 }])
  expect(await labels.all(db.read, 'later', 'urgent')).toEqual([{ id: 2 }])
  expect(compiled).toBe(2)
})

test('does not keep the statements of many values', async () => {
  let compiled = 0
  const labels = new Lookup((connection: Kysely<Tables>, ...names: string[]) => {
    compiled += 1
    return connection.selectFrom('labels').select('id').where('name', 'in', names)
  })
  const names = Array.from({ length: 33 }, () => 'bug')
  expect(await labels.all(db.read, ...names)).toEqual([{ id: 1 }])
  expect(await labels.all(db.read, ...names)).toEqual([{ id: 1 }])
  expect(compiled).toBe(2)
})
