import type { ClickHouse } from '../schema/clickhouse-client.ts'
import { type RollupTable, rollups } from './view-tables.ts'

/** The retention of a table: how long it keeps rows, as an interval of SQL; `undefined` if it keeps them for ever. */
export type Retention = string | undefined

/** The error for a retention that is more than an age. */
export class UnknownRetention extends Error {
  override readonly name = 'UnknownRetention'
}

const INTERVAL = String.raw`toInterval(?:Second|Minute|Hour|Day|Week|Month|Quarter|Year)\(\d+\)`
const onlyAge = new RegExp(String.raw`^(?:toDateTime\(\w+\)|\w+) \+ (${INTERVAL})(?: DELETE)?$`)

/**
 * Returns the retention in the definition of a table's engine.
 * @throws UnknownRetention
 */
export function parseRetention(table: string, engine: string): Retention {
  const ttl = ttlOf(engine)
  if (ttl === undefined) return undefined
  const interval = onlyAge.exec(ttl)?.[1]
  if (interval === undefined) throw new UnknownRetention(`the TTL of ${table} is more than an age: ${ttl}`)
  return interval
}

const ttlOf = (engine: string): string | undefined => / TTL (.+?)(?: SETTINGS .*)?$/s.exec(engine)?.[1]

/** Returns the TTL of a table with the rows of some sources; `undefined` if none of them has a retention. */
export function ttlFor(
  { time, sourceColumn }: RollupTable,
  retentions: ReadonlyMap<string, Retention>,
): string | undefined {
  const parts = [...retentions].flatMap(([source, interval]) => {
    if (interval === undefined) return []
    const isOf = sourceColumn === undefined ? '' : ` DELETE WHERE ${sourceColumn} = '${source}'`
    return [`toDateTime(${time}) + ${interval}${isOf}`]
  })
  return parts.length === 0 ? undefined : parts.join(', ')
}

/** Gives the tables of the views the retention of their sources, unless they have it. */
export async function followRetention(db: ClickHouse, engines: ReadonlyMap<string, string>): Promise<void> {
  const tables = new Map<RollupTable, Map<string, Retention>>()
  for (const { source, tables: own } of rollups) {
    const engine = engines.get(source)
    if (engine === undefined) continue
    for (const table of own) {
      const retentions = tables.get(table) ?? new Map<string, Retention>()
      tables.set(table, retentions.set(source, parseRetention(source, engine)))
    }
  }
  for (const [table, retentions] of tables) {
    const engine = engines.get(table.name)
    if (engine === undefined) continue
    const [wanted, present] = [ttlFor(table, retentions), ttlOf(engine)]
    if (intervalsIn(wanted) === intervalsIn(present)) continue
    const change = wanted === undefined ? 'REMOVE TTL' : `MODIFY TTL ${wanted}`
    await db.execute(`ALTER TABLE ${table.name} ${change}`)
  }
}

/** Returns what tells TTLs of one table apart: their intervals and sources. ClickHouse writes them in its own form. */
const intervalsIn = (ttl = ''): string => (ttl.match(new RegExp(`${INTERVAL}|'\\w+'`, 'g')) ?? []).join()
