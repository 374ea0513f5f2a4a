import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate, openSqlite } from '@penstock/db'
import { CompiledQuery } from 'kysely'
import { expect, test } from 'vitest'
import { type DeliveryTables, deliveryMigrations } from './deliveries.ts'
import { describeQueue } from './queue.case.ts'
import { DeliveryQueue } from './queue.ts'

describeQueue('queue on SQLite', async () => {
  const home = mkdtempSync(join(tmpdir(), 'penstock-queue-'))
  return { location: join(home, 'queue.db'), remove: async () => rmSync(home, { recursive: true }) }
})

test('finds dead deliveries by their index, however many are open', async () => {
  const home = mkdtempSync(join(tmpdir(), 'penstock-queue-'))
  const db = openSqlite<DeliveryTables>(join(home, 'queue.db'))
  await migrate(db, deliveryMigrations)
  const asked: CompiledQuery[] = []
  const read = db.read.withPlugin({
    transformQuery({ node, queryId }) {
      asked.push(db.read.getExecutor().compileQuery(node, queryId))
      return node
    },
    transformResult: async ({ result }) => result,
  })
  const queue = new DeliveryQueue({ ...db, read }, 'exports')
  await queue.counts()
  const plans = []
  for (const { sql, parameters } of asked.filter((query) => query.sql.includes("'dead'"))) {
    const query = CompiledQuery.raw(`explain query plan ${sql}`, [...parameters])
    plans.push(...(await db.read.executeQuery<{ detail: string }>(query)).rows.map(({ detail }) => detail))
  }
  expect(plans.filter((detail) => detail.includes('deliveries'))).not.toEqual([])
  for (const detail of plans.filter((each) => each.includes('deliveries')))
    expect(detail).toContain('deliveries_settled')
  await db.close()
  rmSync(home, { recursive: true })
})
