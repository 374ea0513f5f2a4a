import type { Clock } from '@penstock/runtime'
import type { ClickHouse } from '../schema/clickhouse-client.ts'
import { nanoseconds } from '../schema/tables.ts'
import { type FoundViews, findViews, isComplete, NOTHING_FILLED } from './ready-views.ts'
import { followRetention, parseRetention } from './view-retention.ts'
import {
  createTable,
  createView,
  fillStatement,
  MIGRATIONS,
  migrationsTable,
  type Rollup,
  rollups,
} from './view-tables.ts'

interface CreateViewsOptions {
  /** A connection that lets statements take minutes. */
  readonly db: ClickHouse
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called before the source of a rollup is read. */
  readonly onFill?: (rollup: Rollup) => void
  /** The rows of a source that one statement reads, about. */
  readonly rowsPerStep?: number
  /** How long an insert may take that began before a view was created. */
  readonly settleMs?: number
}

/** The error for a database in which the views cannot be created. */
export class ViewsNotSupported extends Error {
  override readonly name = 'ViewsNotSupported'
}

const ROWS_PER_STEP = 2_000_000
const SETTLE_MS = 5_000
/** The engines of single servers, and of ClickHouse Cloud. A view of one replica would not see the inserts of the others. */
const supportedEngines: ReadonlySet<string> = new Set(['MergeTree', 'SharedMergeTree'])

/**
 * Creates the views that are missing, fills them, and gives their tables the retention of their sources. Continues where an earlier call
 * stopped. Several processes may do this at the same time: rows that two of them add are the same rows.
 *
 * @throws ClickHouseUnavailable, also if the user may not create tables
 * @throws ViewsNotSupported
 * @throws UnknownRetention
 */
export async function createViews(options: CreateViewsOptions): Promise<void> {
  const { db, clock, signal, settleMs = SETTLE_MS } = options
  const engines = await enginesOf(db)
  const present = rollups.filter(({ source }) => engines.has(source))
  if (present.length === 0) return
  for (const { source } of present) requireSupported(source, engines.get(source)!)
  const found = await findViews(db)
  const missing = present.filter((rollup) => !isComplete(found, rollup) || found.progressOf(rollup) === undefined)
  if (missing.length > 0) {
    await db.execute(migrationsTable)
    for (const rollup of missing) await createRollup(db, rollup, found)
    // Rows of an insert that began before are in no view, and must be in the table before it is read.
    await clock.sleep(settleMs, signal)
  }
  await followRetention(db, await enginesOf(db))
  const created = await findViews(db)
  for (const rollup of present) await fill(rollup, created, options)
}

/** Returns the definitions of the engines of all tables. */
async function enginesOf(db: ClickHouse): Promise<ReadonlyMap<string, string>> {
  const rows = await db.rows<{ name: string; engine_full: string }>(
    'SELECT name, engine_full FROM system.tables WHERE database = currentDatabase()',
  )
  return new Map(rows.map(({ name, engine_full }) => [name, engine_full]))
}

function requireSupported(source: string, engine: string): void {
  const name = /^\w*/.exec(engine)![0]
  if (!supportedEngines.has(name)) throw new ViewsNotSupported(`${source} has the engine ${name || 'of a view'}`)
  parseRetention(source, engine)
}

async function createRollup(db: ClickHouse, rollup: Rollup, found: FoundViews): Promise<void> {
  for (const table of rollup.tables) await db.execute(createTable(table))
  for (const view of rollup.views) await db.execute(createView(view))
  await record(db, rollup, { generation: (found.progressOf(rollup)?.generation ?? 0) + 1, filledFrom: NOTHING_FILLED })
}

const record = (
  db: ClickHouse,
  { name, source }: Rollup,
  { generation, filledFrom }: { readonly generation: number; readonly filledFrom: bigint },
) =>
  db.execute(
    `INSERT INTO ${MIGRATIONS} (Name, Source, Generation, FilledFrom)
     SELECT {name:String}, {source:String}, {generation:UInt32}, {filledFrom:Int64}`,
    { name, source, generation, filledFrom: String(filledFrom) },
  )

/** Adds the rows that are older than those that are there, the latest first. */
async function fill(
  rollup: Rollup,
  found: FoundViews,
  { db, signal, onFill, rowsPerStep = ROWS_PER_STEP }: CreateViewsOptions,
): Promise<void> {
  const { generation, filledFrom } = found.progressOf(rollup)!
  if (filledFrom > 0n) onFill?.(rollup)
  for (let to = filledFrom; to > 0n; ) {
    signal.throwIfAborted()
    const from = await startOfStep(db, rollup, { to, rowsPerStep })
    if (from !== undefined) {
      await db.execute(fillStatement(rollup), { from: String(from), to: String(to) }, signal)
    }
    to = from ?? 0n
    await record(db, rollup, { generation, filledFrom: to })
  }
}

const NS_PER_DAY = 86_400_000_000_000n

/** Returns where a step before a time begins; `undefined` if there are no rows before it. A step is at most a day of UTC. */
async function startOfStep(
  db: ClickHouse,
  { source, time }: Rollup,
  { to, rowsPerStep }: { readonly to: bigint; readonly rowsPerStep: number },
): Promise<bigint | undefined> {
  const before = async (from: bigint, to: bigint) =>
    await db.row<{ rows: string; newest: string }>(
      `SELECT count() AS rows, ${nanoseconds(`max(${time})`)} AS newest FROM ${source}
       WHERE ${time} >= fromUnixTimestamp64Nano({from:Int64}) AND ${time} < fromUnixTimestamp64Nano({to:Int64})`,
      { from: String(from), to: String(to) },
    )
  const startOfDay = (ns: bigint) => ns - (ns % NS_PER_DAY)
  let end = to
  let { rows } = await before(startOfDay(to - 1n), to)
  if (rows === '0') {
    const earlier = await before(0n, to)
    if (earlier.rows === '0') return undefined
    end = BigInt(earlier.newest) + 1n
    rows = (await before(startOfDay(end - 1n), end)).rows
  }
  const start = startOfDay(end - 1n)
  const parts = BigInt(Math.ceil(Number(rows) / rowsPerStep))
  return parts <= 1n ? start : end - (end - start + parts - 1n) / parts
}
