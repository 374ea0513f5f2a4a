import type { Tx } from './context.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    call_counts: CallCountsTable
  }
}

/** The counts of calls that processes share on PostgreSQL. SQLite serves one process, which counts in its memory. */
interface CallCountsTable {
  key: string
  points: number
  /** The time after which the row is not used, in milliseconds since 1970. */
  expire: number
}

export async function deleteExpiredCallCounts({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>): Promise<void> {
  await db.deleteFrom('call_counts').where('expire', '<=', nowMs).execute()
}
