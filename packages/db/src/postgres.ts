import {
  type DatabaseIntrospector,
  type DatabaseMetadataOptions,
  type DataTypeNode,
  DEFAULT_MIGRATION_LOCK_TABLE,
  DEFAULT_MIGRATION_TABLE,
  Kysely,
  PostgresDialect,
  PostgresIntrospector,
  type PostgresPool,
  type PostgresPoolClient,
  PostgresQueryCompiler,
  type PostgresQueryResult,
  sql,
  type TableMetadata,
} from 'kysely'
import pg from 'pg'
import { type Db, MAX_PENDING_WRITES } from './db.ts'
import { SerialQueue } from './serial-queue.ts'

export interface PostgresOptions {
  /** How long a statement may take. */
  readonly statementLimitMs?: number
  /** How long a writer waits for those of other processes, and anyone for a lock. */
  readonly lockLimitMs?: number
  /** How long a write may ask nothing of the database. */
  readonly idleLimitMs?: number
}

const STATEMENT_LIMIT_MS = 30_000
const LOCK_LIMIT_MS = 5_000
/** A process that stands still inside a transaction would keep every other from writing. */
const IDLE_LIMIT_MS = 30_000
/** Beyond the statement's limit, after which the server should have answered: whoever is silent then is gone. */
const SILENCE_LIMIT_MS = 1_000
/** Also for a connection of the pool to become free. */
const CONNECT_LIMIT_MS = 5_000
const KEEP_ALIVE_DELAY_MS = 10_000
const READING_CONNECTIONS = 10
/** With the schema it makes the key of the lock that writers take; any number, but for ever. */
const WRITER_LOCK = 1_885_697_139

/**
 * The database that a `postgres://` URL names; its tables are those of the connection's first schema. Connects when it is
 * first asked something.
 *
 * Behaves as SQLite does: one writer at a time, in this process by a queue, among processes by an advisory lock of the
 * database and schema. A writer that does not get its turn within 5 s, and a statement that takes 30 s, fail. Columns
 * declared `integer` have 64 bits; numbers are numbers, and truth is 0 or 1.
 *
 * @throws when the URL is none
 */
export function openPostgres<Tables>(
  url: string,
  {
    statementLimitMs = STATEMENT_LIMIT_MS,
    lockLimitMs = LOCK_LIMIT_MS,
    idleLimitMs = IDLE_LIMIT_MS,
  }: PostgresOptions = {},
): Db<Tables> {
  // Never in the message: it holds a password.
  if (!URL.canParse(url)) throw new Error('The URL of the PostgreSQL database cannot be read')
  const limits = [
    `set statement_timeout = ${statementLimitMs}`,
    `set lock_timeout = ${lockLimitMs}`,
    `set idle_in_transaction_session_timeout = ${idleLimitMs}`,
  ]
  const answerLimitMs = statementLimitMs + SILENCE_LIMIT_MS
  const reading = new ConnectionPool(url, READING_CONNECTIONS, [...limits, 'set default_transaction_read_only = on'])
  const writing = new ConnectionPool(url, 1, limits)
  const read = new Kysely<Tables>({
    dialect: new Dialect({
      pool: { connect: () => reading.connect(answerLimitMs), end: () => reading.end() },
    }),
  })
  const queue = new SerialQueue(MAX_PENDING_WRITES)
  return {
    read,
    write: (work, { noTimeout = false } = {}) =>
      queue.run(async () => {
        const connection = await writing.connect(noTimeout ? undefined : answerLimitMs)
        const writer = new Kysely<Tables>({ dialect: new Dialect({ pool: poolOf(connection) }) })
        // At any higher level the wait for the lock would decide what is seen, and not the moment after it.
        const transaction = writer.transaction().setIsolationLevel('read committed').setAccessMode('read write')
        return transaction.execute(async (tx) => {
          if (noTimeout) {
            await sql`select set_config('lock_timeout', '0', true), set_config('statement_timeout', '0', true)`.execute(
              tx,
            )
          }
          await sql`select pg_advisory_xact_lock(${sql.lit(WRITER_LOCK)}, hashtext(coalesce(current_schema(), '')))`.execute(
            tx,
          )
          // Work that asks nothing of the connection would not hear of its end, and keep its turn for ever.
          return Promise.race([work(tx), connection.broken])
        })
      }),
    async close() {
      await queue.drain()
      await read.destroy()
      await writing.end()
    },
  }
}

/** The server is not there, or fell silent. What it has been told last may have happened. */
class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
}

class ConnectionPool {
  readonly #pool: pg.Pool
  #ended: Promise<void> | undefined

  constructor(url: string, max: number, settings: readonly string[]) {
    this.#pool = new pg.Pool({
      connectionString: url,
      max,
      connectionTimeoutMillis: CONNECT_LIMIT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
      types: { getTypeParser: parserOf },
      onConnect: async (client) => {
        // One that breaks while nobody listens, as on the way from the pool to its user, says so to the process, which would end.
        client.on('error', () => {})
        await client.query(settings.join('; '))
      },
    })
    this.#pool.on('error', () => {})
  }

  /** With a limit on each answer; without one it waits for ever. */
  async connect(limitMs: number | undefined): Promise<Connection> {
    return new Connection(await this.#pool.connect().catch(throwTold), limitMs)
  }

  /** Twice is once. */
  end(): Promise<void> {
    this.#ended ??= this.#pool.end()
    return this.#ended
  }
}

/** For Kysely, which gives it back after its transaction. */
const poolOf = (connection: Connection): PostgresPool => ({ connect: async () => connection, end: async () => {} })

/** One use of a connection, which goes back to the pool afterwards unless it is broken. */
class Connection implements PostgresPoolClient {
  /** Rejects when it breaks, also while nothing is asked of it. */
  readonly broken: Promise<never>
  readonly #client: pg.PoolClient
  readonly #limitMs: number | undefined
  /** pg wants one query at a time. */
  readonly #queue = new SerialQueue()
  #broken: ConnectionError | undefined
  #isOver = false
  #onError = (_: unknown): void => {}

  constructor(client: pg.PoolClient, limitMs: number | undefined) {
    this.#client = client
    this.#limitMs = limitMs
    this.broken = new Promise((_, reject) => {
      this.#onError = (error) => reject(asTold(error))
    })
    this.broken.catch(() => {})
    client.on('error', this.#onError)
  }

  query<Row>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<Row>>
  query(): never
  query<Row>(text?: string, values: readonly unknown[] = []): Promise<PostgresQueryResult<Row>> {
    if (text === undefined) throw new Error('Cursors are not used')
    // Of statements asked for at once one may fail, which ends the write, and what comes later would be committed by itself.
    const isEnd = text === 'commit' || text === 'rollback'
    if (this.#isOver && !isEnd) throw new Error('The write that this statement belongs to is over')
    this.#isOver = isEnd
    return this.#queue.run(async () => {
      // Behind a query that is never answered the next would wait as long.
      if (this.#broken !== undefined) throw this.#broken
      const query = { text, values: [...values], ...(this.#limitMs !== undefined && { query_timeout: this.#limitMs }) }
      const result = await this.#client.query(query).catch((error: unknown) => {
        const told = asTold(error)
        if (told instanceof ConnectionError) this.#broken = told
        throw told
      })
      // The server's answer to the commit of a transaction in which something failed: it has rolled it back.
      if (text === 'commit' && result.command !== 'COMMIT') {
        throw new Error('Nothing was kept: a statement of the transaction had failed')
      }
      return result as unknown as PostgresQueryResult<Row>
    })
  }

  release(): void {
    this.#client.off('error', this.#onError)
    this.#client.release(this.#broken)
  }
}

/** What the server says has a code; values that cannot be sent are the caller's fault; the rest befell the connection. */
function asTold(error: unknown): unknown {
  if (error instanceof pg.DatabaseError || error instanceof TypeError || error instanceof RangeError) return error
  return new ConnectionError('The database cannot be reached', { cause: error })
}

const throwTold = (error: unknown): never => {
  throw asTold(error)
}

const { BOOL, INT8, NUMERIC } = pg.types.builtins

/** Sums of integers are numeric; we have no other numerics. */
const parsers: Readonly<Record<number, (text: string) => number>> = {
  [BOOL]: (text) => (text === 't' ? 1 : 0),
  [INT8]: Number,
  [NUMERIC]: Number,
}

const parserOf: typeof pg.types.getTypeParser = (type: number, format?: 'text' | 'binary') =>
  (format !== 'binary' && parsers[type]) || pg.types.getTypeParser(type, format as 'text')

/**
 * Classes of SQLSTATE that are not the question's fault: connection, authorization, no such database, transaction rolled
 * back, resources, operator intervention (a statement's limit too), system and internal errors; and single codes: lock not
 * available, read-only (a standby), idle in transaction.
 *
 * @see PostgreSQL documentation, appendix A
 */
const unavailableStates = /^(?:08|28|3D|40|53|57|58|XX|55P03|25006|25P03)/

/** Not to be reached, busy for too long, full, shutting down. */
export const isPostgresUnavailable = (error: unknown): boolean =>
  error instanceof ConnectionError || (error instanceof pg.DatabaseError && unavailableStates.test(error.code ?? ''))

/** A value that its column could not hold: text for a number, a number beyond its kind. Class 22 of SQLSTATE. */
export const isPostgresInvalidValue = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code?.startsWith('22') === true

class Dialect extends PostgresDialect {
  override createQueryCompiler(): PostgresQueryCompiler {
    return new WideIntegers()
  }

  override createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new FirstSchema(db)
  }
}

/** An integer of SQLite has 64 bits; with 32, asking for a number beyond them would be an error instead of nothing found. */
class WideIntegers extends PostgresQueryCompiler {
  protected override visitDataType(node: DataTypeNode): void {
    this.append(node.dataType === 'integer' ? 'bigint' : node.dataType)
  }
}

/**
 * Tells the tables of the connection's first schema, without their columns. The library's own looks at every schema of the
 * database, and fails when one that is not ours is dropped meanwhile.
 */
class FirstSchema extends PostgresIntrospector {
  readonly #db: Kysely<unknown>

  constructor(db: Kysely<unknown>) {
    super(db)
    this.#db = db
  }

  override async getTables({
    withInternalKyselyTables = false,
  }: Partial<DatabaseMetadataOptions> = {}): Promise<TableMetadata[]> {
    const { rows } = await sql<{ name: string; schema: string; kind: string }>`
      select pg_class.relname as name, pg_namespace.nspname as schema, pg_class.relkind as kind
      from pg_class inner join pg_namespace on pg_namespace.oid = pg_class.relnamespace
      where pg_namespace.nspname = current_schema() and pg_class.relkind in ('r', 'p', 'v')
      order by pg_class.relname`.execute(this.#db)
    const internal = [DEFAULT_MIGRATION_TABLE, DEFAULT_MIGRATION_LOCK_TABLE]
    return rows
      .filter(({ name }) => withInternalKyselyTables || !internal.includes(name))
      .map(({ name, schema, kind }) => ({ name, schema, isView: kind === 'v', columns: [] }))
  }
}
