import { type Db, type Migrations, tableWithId } from '@penstock/db'
import { type Generated, sql, type Transaction } from 'kysely'

/** The only table of this package. An application adds it to the database of its own tables. */
export interface DeliveryTables {
  deliveries: DeliveriesTable
}

/** Returns the database of an application as one of deliveries. Kysely compares tables exactly, so the one that was added needs a cast. */
export const deliveriesIn = <Tables>(db: Db<Tables>): Db<DeliveryTables> => db as unknown as Db<DeliveryTables>

/** Returns a transaction on the database of an application as one on deliveries. */
export const deliveriesWithin = <Tables>(tx: Transaction<Tables>): Transaction<DeliveryTables> =>
  tx as unknown as Transaction<DeliveryTables>

export interface DeliveriesTable {
  id: Generated<number>
  queue: string
  key: string
  lane: string
  subject: string
  state: 'open' | 'delivered' | 'dead'
  enqueued_at_ms: number
  /** When an open delivery may be claimed. A claim moves it to the end of its lease. */
  due_at_ms: number
  /** The id of the latest claim, the only one that may settle the delivery. */
  claim: string | null
  attempts: number
  /** The number of consecutive claims that were never settled, because the process ended. */
  abandoned: Generated<number>
  progress: string
  reason: string
  settled_at_ms: number | null
}

/**
 * After this many consecutive claims that were never settled, a delivery is treated as poison: it may
 * crash the process that sends it.
 */
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
      // Contains only open deliveries, so it stays small when many have been delivered.
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
      // The index condition contains the number, and only queries with the same number use the index. If you change
      // `POISON_AFTER_ABANDONED`, add a migration that creates the index again.
      await db.schema
        .createIndex('deliveries_suspect')
        .on('deliveries')
        .columns(['queue', 'due_at_ms', 'id'])
        .where(sql<boolean>`state = 'open' and abandoned >= ${sql.lit(POISON_AFTER_ABANDONED)}`)
        .execute()
    },
  },
}
