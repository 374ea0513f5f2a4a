import { type Migrations, tableWithId } from '@penstock/db'
import { type Generated, sql } from 'kysely'

/** The one table of this package; an application puts it into the database that its own tables are in. */
export interface DeliveryTables {
  deliveries: DeliveriesTable
}

export interface DeliveriesTable {
  id: Generated<number>
  queue: string
  key: string
  lane: string
  subject: string
  state: 'open' | 'delivered' | 'dead'
  enqueued_at_ms: number
  /** Of an open one: when it may be claimed. Whoever claims it moves it to the end of his lease. */
  due_at_ms: number
  /** Of the latest claim; nobody else may settle it. */
  claim: string | null
  attempts: number
  /** Claims in a row that nobody settled: the process ended while it had them. */
  abandoned: Generated<number>
  progress: string
  reason: string
  settled_at_ms: number | null
}

/** So many claims in a row that nobody settled, and a delivery is suspected of ending the process that sends it. */
export const POISON_AFTER_ABANDONED = 2

export const deliveryMigrations: Migrations = {
  '0001_deliveries': {
    up: async (db) => {
      await tableWithId(db, 'deliveries')
        .addColumn('queue', 'text', (column) => column.notNull())
        .addColumn('key', 'text', (column) => column.notNull())
        .addColumn('lane', 'text', (column) => column.notNull())
        .addColumn('subject', 'text', (column) => column.notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('enqueued_at_ms', 'bigint', (column) => column.notNull())
        .addColumn('due_at_ms', 'bigint', (column) => column.notNull())
        .addColumn('claim', 'text')
        .addColumn('attempts', 'integer', (column) => column.notNull())
        .addColumn('progress', 'text', (column) => column.notNull())
        .addColumn('reason', 'text', (column) => column.notNull())
        .addColumn('settled_at_ms', 'bigint')
        .addUniqueConstraint('deliveries_key', ['queue', 'key'])
        .execute()
      // Holds open ones alone, so that it stays small however many have been delivered.
      await db.schema
        .createIndex('deliveries_open')
        .on('deliveries')
        .columns(['queue', 'lane', 'due_at_ms', 'id'])
        .where(sql<boolean>`state = 'open'`)
        .execute()
      await db.schema
        .createIndex('deliveries_settled')
        .on('deliveries')
        .columns(['queue', 'state', 'settled_at_ms', 'id'])
        .where(sql<boolean>`state <> 'open'`)
        .execute()
    },
  },
  '0002_abandoned_deliveries': {
    up: async (db) => {
      await db.schema
        .alterTable('deliveries')
        .addColumn('abandoned', 'integer', (column) => column.notNull().defaultTo(0))
        .execute()
      // The database keeps the number, and uses the index for queries with the same one: with another `POISON_AFTER_ABANDONED`, a
      // migration has to make it anew.
      await db.schema
        .createIndex('deliveries_suspect')
        .on('deliveries')
        .columns(['queue', 'due_at_ms', 'id'])
        .where(sql<boolean>`state = 'open' and abandoned >= ${sql.lit(POISON_AFTER_ABANDONED)}`)
        .execute()
    },
  },
}
