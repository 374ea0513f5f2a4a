import type { ClickHouse } from '../schema/clickhouse-client.ts'
import { MIGRATIONS, type Rollup, rollupNames, rollups } from './view-tables.ts'

/** Which views are complete, so that queries can read them instead of the exporter's tables. */
export interface ReadyViews {
  readonly hasPipelines: boolean
  readonly hasListKeys: boolean
  /** The exporter's tables with their services in a view. */
  readonly servicesOf: ReadonlySet<string>
}

/** The time from which on a rollup has all rows, if nothing was read yet. */
export const NOTHING_FILLED = 2n ** 63n - 1n

/** How far a rollup has got. */
export interface Progress {
  /** Another one begins when a table or view of the rollup was missing. */
  readonly generation: number
  /** Rows of the source at this time, in nanoseconds, and later ones are in the tables; 0 if all are. */
  readonly filledFrom: bigint
}

/** The tables and views that a database has, and how far they are filled. */
export interface FoundViews {
  readonly names: ReadonlySet<string>
  progressOf(rollup: Rollup): Progress | undefined
}

export async function findViews(db: ClickHouse): Promise<FoundViews> {
  const tables = await db.rows<{ name: string }>(
    'SELECT name FROM system.tables WHERE database = currentDatabase() AND name IN {names:Array(String)}',
    { names: rollupNames },
  )
  const names = new Set(tables.map(({ name }) => name))
  const progress = new Map<string, Progress>()
  if (names.has(MIGRATIONS)) {
    const rows = await db.rows<{ name: string; source: string; generation: number; filled: string }>(
      `SELECT Name AS name, Source AS source, Generation AS generation, min(FilledFrom) AS filled FROM ${MIGRATIONS}
       GROUP BY name, source, generation ORDER BY generation`,
    )
    for (const { name, source, generation, filled } of rows) {
      progress.set(`${name} ${source}`, { generation, filledFrom: BigInt(filled) })
    }
  }
  return { names, progressOf: ({ name, source }) => progress.get(`${name} ${source}`) }
}

/** Returns whether a database has everything of a rollup, filled or not. */
export const isComplete = ({ names }: FoundViews, { tables, views }: Rollup): boolean =>
  [...tables, ...views].every(({ name }) => names.has(name))

export function readyViews(found: FoundViews): ReadyViews {
  const ready = rollups.filter((rollup) => isComplete(found, rollup) && found.progressOf(rollup)?.filledFrom === 0n)
  const has = (name: string) => ready.some((rollup) => rollup.name === name)
  return {
    hasPipelines: has('pipeline_spans_2'),
    hasListKeys: has('list_attributes_1'),
    servicesOf: new Set(ready.filter(({ name }) => name === 'services_1').map(({ source }) => source)),
  }
}
