import { isUnavailable, openPostgres, openSqlite } from '@penstock/db'
import { type TemporaryDatabase, temporarySchema } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeWithPostgres } from './describe-with-postgres.ts'

describeWithPostgres('counters that processes share', (serverUrl) => {
  let schema: TemporaryDatabase
  const open = () => openPostgres<object>(schema.location)

  beforeEach(async () => {
    schema = await temporarySchema(serverUrl())
    const db = open()
    await db.write((tx) =>
      tx.schema
        .createTable('counts')
        .addColumn('key', 'text', (column) => column.primaryKey())
        .addColumn('points', 'integer')
        .addColumn('expire', 'bigint')
        .execute(),
    )
    await db.close()
  })
  afterEach(() => schema.remove())

  test('lose no count, and count each key', async () => {
    const [one, other] = [open(), open()]
    const counters = [one, other].map((db) => db.counterIn!('counts'))
    const counts = await Promise.all(
      Array.from({ length: 40 }, (_, index) => counters[index % 2]!.count(`key ${index % 4 < 2 ? 1 : 2}`, 60)),
    )
    const each = Array.from({ length: 20 }, (_, index) => index + 1)
    expect(counts.toSorted((a, b) => a - b)).toEqual(each.flatMap((count) => [count, count]))
    await Promise.all([one.close(), other.close()])
  })

  test('do not wait for a writer', async () => {
    const db = open()
    await db.write(async () => expect(await db.counterIn!('counts').count('key', 60)).toBe(1))
    expect(await db.counterIn!('counts').count('key', 60)).toBe(2)
    await db.close()
  })

  test('report that the database is unavailable', async () => {
    const db = openPostgres<object>('postgres://127.0.0.1:1/none')
    const error = await db.counterIn!('counts')
      .count('key', 60)
      .catch((thrown: unknown) => thrown)
    expect(isUnavailable(error)).toBe(true)
    await db.close()
  })
})

test('SQLite has none', async () => {
  const db = openSqlite<object>(':memory:')
  expect(db.counterIn).toBeUndefined()
  await db.close()
})
