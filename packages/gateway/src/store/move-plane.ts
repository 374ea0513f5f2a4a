import { createHash } from 'node:crypto'
import { migrate } from '@penstock/db'
import { type Kysely, sql, type Transaction } from 'kysely'
import { ConfigError } from '../contract/config-error.ts'
import { listLiveInstances } from './instances.ts'
import { gatewayMigrations } from './migrations.ts'
import { listTables, requireNoForeignTable, UNFINISHED_MOVE } from './store-tables.ts'
import type { GatewayDb, GatewayTables } from './tables.ts'

interface PlaneMove {
  /** The SQLite store, with the tables of this version. */
  readonly source: GatewayDb
  /** The PostgreSQL database; its tables are created if they are missing. */
  readonly target: GatewayDb
  readonly nowMs: () => number
  /** Stops the move between two pages. A later one continues. */
  readonly signal: AbortSignal
  /** Called for each table when its rows in both databases have been compared. */
  readonly onTable: (moved: MovedTable) => Promise<void>
}

interface MovedTable extends TableDigest {
  readonly name: string
  /** How many of the rows this run has copied. */
  readonly copied: number
}

/** The number of rows of a table, and a digest of their contents that does not depend on their order. */
interface TableDigest {
  readonly rows: number
  readonly digest: string
}

/** The error for a move that has begun and cannot be completed now. The message is one line for the operator. */
export class MoveError extends Error {
  override readonly name = 'MoveError'
}

interface TableRow {
  /** The columns that identify a row; pages are read in their order. */
  readonly key: readonly string[]
  /** The column that the database numbers itself. */
  readonly generated?: string
}

/** The tables that are moved, each after those that its rows refer to. */
const movedTables = {
  enforcement: { key: ['id'] },
  api_keys: { key: ['position'], generated: 'position' },
  ingest_tokens: { key: ['position'], generated: 'position' },
  token_usage: { key: ['token_id', 'hour_start_ms', 'signal'] },
  audit_events: { key: ['id'], generated: 'id' },
  idempotency_keys: { key: ['caller_id', 'key'] },
  sessions: { key: ['id'] },
  sign_in_codes: { key: ['mac'] },
} satisfies Record<Exclude<keyof GatewayTables, 'gateway_instances'>, TableRow>

const tables = Object.entries(movedTables).map(([name, row]): TableRow & { readonly name: string } => ({
  name,
  ...row,
}))
type Table = (typeof tables)[number]

/** Any row of any table. */
type Row = Readonly<Record<string, string | number | Buffer | null>>

const PAGE_ROWS = 500
/** The name of the lock on the target while a plane is moved into it. */
const MOVE_LOCK = 'move'

/**
 * Copies a plane from SQLite to PostgreSQL, and compares the rows of both. While the move is unfinished, no gateway opens the
 * target. A move that was interrupted continues after the last page that was copied; a table of which the source has changed
 * in between is copied again.
 *
 * @throws ConfigError if nothing was done: a gateway uses the source, or the target is in use
 * @throws MoveError if the target differs from the source in the end
 */
export async function movePlane(move: PlaneMove): Promise<void> {
  const { source, target, nowMs, signal } = move
  await requireNoGateway(source, nowMs(), 'on the data directory')
  const lock = await target.lock?.(MOVE_LOCK)
  if (lock === undefined) {
    throw new ConfigError('Another penstock migrate --to is moving into this database: wait until it has ended')
  }
  try {
    await moveUnderLock({ ...move, signal: AbortSignal.any([signal, lock.lost]) })
  } finally {
    await lock.release()
  }
}

/** Moves the plane while no other process moves one into the target. A lost lock aborts the signal. */
async function moveUnderLock({ source, target, nowMs, signal, onTable }: PlaneMove): Promise<void> {
  if (await isMoved(source, target)) {
    for (const table of tables) await onTable({ name: table.name, copied: 0, ...(await digestOf(target, table)) })
    return
  }
  await beginMove(target, nowMs())
  for (const table of tables) await onTable(await moveTable(source, target, table, signal))
  for (const table of tables) {
    if (isSame(await digestOf(source, table), await digestOf(target, table))) continue
    throw new MoveError(`${table.name} has changed during the move: stop every gateway, and run the same command again`)
  }
  if (await isInUse(source, nowMs())) {
    throw new MoveError(
      'A gateway was started on the data directory during the move: stop it, and run the same command again',
    )
  }
  signal.throwIfAborted()
  await endMove(source, target)
}

/** Returns whether a store is as a gateway creates it: without keys, tokens and events. */
export async function isUnusedStore(db: Pick<GatewayDb, 'read'>): Promise<boolean> {
  const used = tables.filter(({ name }) => name !== 'enforcement')
  for (const { name } of used) if ((await countRows(db, name)) > 0) return false
  const { epoch } = await db.read.selectFrom('enforcement').select('epoch').executeTakeFirstOrThrow()
  return epoch === 1
}

async function requireNoGateway(db: GatewayDb, nowMs: number, where: string): Promise<void> {
  if (!(await isInUse(db, nowMs))) return
  throw new ConfigError(`A gateway runs ${where}: stop it, wait ten seconds, and run the same command again`)
}

const isInUse = async (db: GatewayDb, nowMs: number): Promise<boolean> =>
  (await listLiveInstances(db, nowMs)).length > 0

/** Returns whether an earlier run has completed the move. @throws ConfigError if the target is in use */
async function isMoved(source: GatewayDb, target: GatewayDb): Promise<boolean> {
  const names = await listTables(target)
  requireNoForeignTable(names)
  if (names.length === 0 || names.includes(UNFINISHED_MOVE) || (await isUnusedStore(target))) return false
  for (const table of tables) {
    if (!isSame(await digestOf(source, table), await digestOf(target, table))) {
      throw new ConfigError('The database is that of another gateway: the target of a move must be empty')
    }
  }
  return true
}

/** Marks the target as incomplete before it gets its tables, so that no gateway opens it in between. */
async function beginMove(target: GatewayDb, nowMs: number): Promise<void> {
  await target.write((tx) =>
    tx.schema.createTable(UNFINISHED_MOVE).ifNotExists().addColumn('began_at_ms', 'integer').execute(),
  )
  await migrate(target, gatewayMigrations)
  await requireNoGateway(target, nowMs, 'on the target')
}

async function moveTable(source: GatewayDb, target: GatewayDb, table: Table, signal: AbortSignal): Promise<MovedTable> {
  const { name } = table
  const expected = await digestOf(source, table)
  if (isSame(expected, await digestOf(target, table))) return { name, copied: 0, ...expected }
  // Pages are copied in the order of the source, so the rows that are there are its first ones.
  let copied = await copyRows(source, target, table, await countRows(target, name), signal)
  if (!isSame(expected, await digestOf(target, table))) {
    await target.write((tx) => sql`delete from ${sql.table(name)}`.execute(tx), { noTimeout: true })
    copied = await copyRows(source, target, table, 0, signal)
  }
  const actual = await digestOf(target, table)
  if (isSame(expected, actual)) return { name, copied, ...actual }
  throw new MoveError(`${name} has ${expected.rows} rows with the digest ${expected.digest}, but its copy differs`)
}

const isSame = (one: TableDigest, other: TableDigest): boolean => one.rows === other.rows && one.digest === other.digest

/** Copies the rows after the first `offset` ones, a page per transaction. Returns their number. */
async function copyRows(
  source: GatewayDb,
  target: GatewayDb,
  table: Table,
  offset: number,
  signal: AbortSignal,
): Promise<number> {
  let copied = 0
  let page = await readPage(source, table, sql`limit ${sql.lit(PAGE_ROWS)} offset ${sql.lit(offset)}`)
  while (page.length > 0) {
    signal.throwIfAborted()
    const rows = page
    await target.write((tx) => insertRows(tx, table, rows))
    copied += rows.length
    page = await nextPage(source, table, rows)
  }
  return copied
}

async function insertRows(tx: Transaction<GatewayTables>, { name }: Table, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0]!)
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`)
  await sql`insert into ${sql.table(name)} (${sql.join(columns.map((column) => sql.ref(column)))})
    overriding system value values ${sql.join(values)}`.execute(tx)
}

/** Completes the target: its new rows get numbers that the source has not used, not even for rows that were deleted. */
async function endMove(source: GatewayDb, target: GatewayDb): Promise<void> {
  const { rows } = await sql<{ name: string; seq: number }>`select name, seq from sqlite_sequence`.execute(source.read)
  await target.write(async (tx) => {
    for (const { name, generated } of tables) {
      const last = rows.find((row) => row.name === name)?.seq
      if (generated === undefined || last === undefined || last === 0) continue
      await sql`select setval(pg_get_serial_sequence(${name}, ${generated}), ${last})`.execute(tx)
    }
    await tx.schema.dropTable(UNFINISHED_MOVE).execute()
  })
}

async function countRows({ read }: Pick<GatewayDb, 'read'>, name: string): Promise<number> {
  const counting = sql<{ count: number }>`select count(*) as count from ${sql.table(name)}`
  return (await counting.execute(read)).rows[0]!.count
}

async function digestOf(db: GatewayDb, table: Table): Promise<TableDigest> {
  let rows = 0
  let sum = 0n
  let page = await readPage(db, table, sql`limit ${sql.lit(PAGE_ROWS)}`)
  while (page.length > 0) {
    rows += page.length
    for (const row of page) sum = BigInt.asUintN(256, sum + rowDigest(row))
    page = await nextPage(db, table, page)
  }
  return { rows, digest: sum.toString(16).padStart(64, '0') }
}

/** Returns a SHA-256 as a number, so that the digests of rows can be added in any order. */
function rowDigest(row: Row): bigint {
  const values = Object.keys(row)
    .sort()
    .map((column) => [column, Buffer.isBuffer(row[column]) ? { hex: row[column].toString('hex') } : row[column]])
  return BigInt(`0x${createHash('sha256').update(JSON.stringify(values)).digest('hex')}`)
}

function nextPage(db: GatewayDb, table: Table, page: readonly Row[]): Promise<readonly Row[]> {
  const last = page.at(-1)!
  const columns = sql.join(table.key.map((column) => sql.ref(column)))
  const values = sql.join(table.key.map((column) => last[column]))
  return readPage(db, table, sql`limit ${sql.lit(PAGE_ROWS)}`, sql`where (${columns}) > (${values})`)
}

async function readPage(
  { read }: GatewayDb,
  { name, key }: Table,
  limit: ReturnType<typeof sql>,
  where: ReturnType<typeof sql> = sql``,
): Promise<readonly Row[]> {
  const order = sql.join(key.map((column) => sql.ref(column)))
  const selection = sql<Row>`select * from ${sql.table(name)} ${where} order by ${order} ${limit}`
  return (await selection.execute(read as Kysely<GatewayTables>)).rows
}
