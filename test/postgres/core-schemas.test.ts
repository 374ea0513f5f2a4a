import { type CoreTables, insertUser, migrateCore } from '@penstock/core'
import { isUnavailable, openDatabase } from '@penstock/db'
import { Gate } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { CoreSchemas } from '../../packages/testkit/src/core-schemas.ts'
import { describeWithPostgres } from './describe-with-postgres.ts'

async function migrateAt(location: string): Promise<void> {
  const db = openDatabase<CoreTables>(location)
  await migrateCore(db).finally(() => db.close())
}

describeWithPostgres('PostgreSQL', (serverUrl) => {
  const draft = { username: 'mira', name: 'Mira', email: 'mira@example.test' }
  const addUser = (location: string) => {
    const db = openDatabase<CoreTables>(location)
    return db.write((tx) => insertUser({ db: tx, nowMs: 0 }, draft)).finally(() => db.close())
  }

  test('a schema that was used is empty again, and numbers its rows as a new one does', async () => {
    const schemas = new CoreSchemas(serverUrl(), migrateAt)
    const first = await schemas.take()
    const { id } = await addUser(first.location)
    await first.remove()
    const second = await schemas.take()
    expect(second.location).toBe(first.location)
    expect(await addUser(second.location)).toMatchObject({ id })
  })

  test('schemas that are in use at the same time differ', async () => {
    const schemas = new CoreSchemas(serverUrl(), migrateAt)
    const [first, second] = [await schemas.take(), await schemas.take()]
    await addUser(first.location)
    expect(await addUser(second.location)).toMatchObject(draft)
  })

  test('a transaction that a test has left open is ended', async () => {
    const schemas = new CoreSchemas(serverUrl(), migrateAt)
    const schema = await schemas.take()
    const left = openDatabase<CoreTables>(schema.location)
    const [begun, over] = [new Gate(), new Gate()]
    const writing = left.write(async (tx) => {
      await insertUser({ db: tx, nowMs: 0 }, draft)
      begun.open()
      await over.opened
    })
    const ended = expect(writing).rejects.toSatisfy(isUnavailable)
    await begun.opened
    await schema.remove()
    await ended
    over.open()
    await left.close()
    expect(await addUser((await schemas.take()).location)).toMatchObject(draft)
  })

  test('migrations leave no rows in a new schema, because emptying it would remove them', async () => {
    const schemas = new CoreSchemas(serverUrl(), migrateAt)
    const { location } = await schemas.take()
    const db = openDatabase<Record<string, object>>(location)
    const tables = await db.read.introspection.getTables()
    expect(tables.length).toBeGreaterThan(10)
    for (const { name } of tables) {
      expect([name, await db.read.selectFrom(name).selectAll().execute()]).toEqual([name, []])
    }
    await db.close()
  })
})
