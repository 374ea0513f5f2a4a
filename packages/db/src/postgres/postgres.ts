import {
  type CompiledQuery,
  DefaultConnectionProvider,
  Kysely,
  PostgresDriver,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
  sql,
} from 'kysely'
import type pg from 'pg'
import { type Db, MAX_PENDING_WRITES } from '../port/db.ts'
import { DirectExecutor } from '../port/direct-executor.ts'
import type { ReadLimit, ReadScope } from '../port/read-limit.ts'
import { SerialQueue } from '../port/serial-queue.ts'
import { lockSession } from '../port/session-lock.ts'
import { sharedCounter } from '../port/shared-counter.ts'
import { FairQueue } from '../search/fair-queue.ts'
import { SEARCH_BUDGET_MS, SearchBudgetError } from '../search/search-budget.ts'
import { type SearchLane, searchLane } from '../search/text-condition.ts'
import { PostgresListener } from './notice-listener.ts'
import { Dialect } from './postgres-dialect.ts'
import { ConnectionError, classifyError, isTimeout } from './postgres-errors.ts'

export interface PostgresOptions {
  /** The time limit for a statement. */
  readonly statementLimitMs?: number
  /** The time limit for the wait for any lock, including a writer's wait for writers of other processes. */
  readonly lockLimitMs?: number
  /** How long a write may run no statement. */
  readonly idleLimitMs?: number
  /** How long after the statement limit a silent server is considered unreachable. It should have reported an error by then. */
  readonly silenceLimitMs?: number
  /** The highest number of connections for reading. */
  readonly readingConnections?: number
  /** How long a statement with `textCondition` may take. */
  readonly searchBudgetMs?: number
}

const STATEMENT_LIMIT_MS = 30_000
const LOCK_LIMIT_MS = 5_000
/** The default for `idleLimitMs`. A process that stops inside a transaction would block all other writers. */
const IDLE_LIMIT_MS = 30_000
const SILENCE_LIMIT_MS = 1_000
/** The time limit for a new connection, and for the wait for a free connection of the pool. */
const CONNECT_LIMIT_MS = 5_000
const KEEP_ALIVE_DELAY_MS = 10_000
const READING_CONNECTIONS = 10
/** The number of connections for searches with an index, and as many for those that read every text. */
const SEARCHING_CONNECTIONS = 2
const COUNTING_CONNECTIONS = 2
/** The first part of the advisory lock's key; the second is the schema. An arbitrary number that must never change. */
const WRITER_LOCK = 1_885_697_139

/**
 * Opens a PostgreSQL database by its URL. The tables are in the first schema of the connection's search path. The first
 * query connects.
 *
 * It behaves like SQLite: one writer at a time, ensured by a queue within the process and by an advisory lock per database
 * and schema between processes. A writer that waits longer than 5 s fails, and so does a statement that takes longer than
 * 30 s. Columns declared as `integer` have 64 bits, all numbers are JavaScript numbers, and booleans are 0 or 1.
 *
 * @throws if the URL is invalid
 */
export function openPostgres<Tables>(
  url: string,
  {
    statementLimitMs = STATEMENT_LIMIT_MS,
    lockLimitMs = LOCK_LIMIT_MS,
    idleLimitMs = IDLE_LIMIT_MS,
    silenceLimitMs = SILENCE_LIMIT_MS,
    readingConnections = READING_CONNECTIONS,
    searchBudgetMs = SEARCH_BUDGET_MS,
  }: PostgresOptions = {},
): Db<Tables> {
  // The message does not quote the URL, because it contains a password.
  if (!URL.canParse(url)) throw new Error('The URL of the PostgreSQL database is invalid')
  const limits = [
    `set statement_timeout = ${statementLimitMs}`,
    `set lock_timeout = ${lockLimitMs}`,
    `set idle_in_transaction_session_timeout = ${idleLimitMs}`,
  ]
  const answerLimitMs = statementLimitMs + silenceLimitMs
  const readLimits = [...limits, 'set default_transaction_read_only = on']
  const reading = new ConnectionPool(url, readingConnections, readLimits)
  const searchLimits = [...readLimits, `set statement_timeout = ${searchBudgetMs}`]
  const searchConnections = () => ({
    pool: new ConnectionPool(url, SEARCHING_CONNECTIONS, searchLimits),
    queue: new FairQueue({ atOnce: SEARCHING_CONNECTIONS }),
  })
  const searching = { indexed: searchConnections(), scanning: searchConnections() }
  const writing = new ConnectionPool(url, 1, limits)
  // A count needs no transaction, and must not wait for the one writer.
  const counting = new ConnectionPool(url, COUNTING_CONNECTIONS, limits)
  const pool = (scope: ReadScope = {}) => new ReadPool(reading, searching, answerLimitMs, scope)
  const dialect = new Dialect({ pool: pool() })
  const read = new Kysely<Tables>({ dialect })
  const shared = { adapter: read.getExecutor().adapter, compiler: dialect.createQueryCompiler() }
  const queue = new SerialQueue(MAX_PENDING_WRITES)
  return {
    read,
    readWithin: (limit, subscriber) => {
      const driver = new PostgresDriver({ pool: pool({ limit, subscriber }) })
      const provider = new DefaultConnectionProvider(driver)
      const run = (query: CompiledQuery) => provider.provideConnection((connection) => connection.executeQuery(query))
      const initialized = driver.init()
      const executor = new DirectExecutor(shared, provider, async (query) => {
        await initialized
        return run(query)
      })
      return new Kysely<Tables>({ config: { dialect }, dialect, driver, executor })
    },
    write: (work, { noTimeout = false } = {}) =>
      queue.run(async () => {
        const connection = await writing.connect(noTimeout ? undefined : answerLimitMs)
        const writer = new Kysely<Tables>({ dialect: new Dialect({ pool: poolOf(connection) }) })
        // At a higher isolation level, the snapshot would be taken before the wait for the lock and miss other commits.
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
          // Work that runs no statement would not notice a broken connection and would block the queue forever.
          return Promise.race([work(tx), connection.broken])
        })
      }),
    nowMs: async () => {
      const { rows } = await sql<{ ms: number }>`
        select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`.execute(read)
      return rows[0]!.ms
    },
    counterIn: (table) =>
      sharedCounter(table, async (text, values) => {
        const connection = await counting.connect(answerLimitMs)
        try {
          return await connection.query(text, values)
        } finally {
          connection.release()
        }
      }),
    lock: async (name) => lockSession(await newClient(url), name, classifyError).catch(throwConnectionError),
    listen: (channel, options) => new PostgresListener(() => newClient(url), channel, options),
    async close() {
      await queue.drain()
      await read.destroy()
      await writing.end()
      await counting.end()
    },
  }
}

const connectionOf = (url: string) => ({
  connectionString: url,
  connectionTimeoutMillis: CONNECT_LIMIT_MS,
  keepAlive: true,
  keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
})

/** Loads the driver, which takes memory and a tenth of a second in each thread, and only PostgreSQL needs it. */
const loadDriver = async () => (await import('pg')).default

const newClient = async (url: string): Promise<pg.Client> => new (await loadDriver()).Client(connectionOf(url))

class ConnectionPool {
  readonly #open: () => Promise<pg.Pool>
  #pool: Promise<pg.Pool> | undefined
  #ended: Promise<void> | undefined

  constructor(url: string, max: number, settings: readonly string[]) {
    this.#open = async () => {
      const { Pool, types } = await loadDriver()
      const pool = new Pool({
        ...connectionOf(url),
        max,
        types: { getTypeParser: parserOf(types) },
        onConnect: async (client) => {
          // Without a listener, a connection that breaks between pool and user would emit an unhandled error and end the process.
          client.on('error', () => {})
          await client.query(settings.join('; '))
        },
      })
      pool.on('error', () => {})
      return pool
    }
  }

  /** Returns a connection. @param limitMs the time limit for each answer; `undefined` for none */
  async connect(limitMs: number | undefined, readLimit?: ReadLimit): Promise<Connection> {
    this.#pool ??= this.#open()
    const pool = await this.#pool
    const client = await pool.connect().catch(throwConnectionError)
    return new Connection(client, limitMs, readLimit && limitedTypes((await loadDriver()).types, readLimit))
  }

  /** Closes the pool; may be called more than once. */
  end(): Promise<void> {
    this.#pool ??= this.#open()
    this.#ended ??= this.#pool.then((pool) => pool.end())
    return this.#ended
  }
}

/** Returns a pool with one connection, for Kysely, which releases the connection after the transaction. */
const poolOf = (connection: Connection): PostgresPool => ({ connect: async () => connection, end: async () => {} })

/** The connections for searches of one kind, for which subscribers take turns. */
interface SearchConnections {
  readonly pool: ConnectionPool
  readonly queue: FairQueue
}

/**
 * Runs each statement that reads on a connection of its own. Statements that search texts have few connections and a budget, so that
 * they do not hold up the others.
 */
class ReadPool implements PostgresPool {
  readonly #reading: ConnectionPool
  readonly #searching: Readonly<Record<SearchLane, SearchConnections>>
  readonly #limitMs: number
  readonly #scope: ReadScope

  constructor(
    reading: ConnectionPool,
    searching: Readonly<Record<SearchLane, SearchConnections>>,
    limitMs: number,
    scope: ReadScope,
  ) {
    this.#reading = reading
    this.#searching = searching
    this.#limitMs = limitMs
    this.#scope = scope
  }

  async connect(): Promise<PostgresPoolClient> {
    const query = (text: string, values: readonly unknown[]) => this.#run(text, values)
    return { query, release() {} } as PostgresPoolClient
  }

  async end(): Promise<void> {
    const searching = Object.values(this.#searching).map(({ pool }) => pool)
    await Promise.all([this.#reading, ...searching].map((pool) => pool.end()))
  }

  async #run(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<unknown>> {
    const lane = searchLane(text)
    if (lane === undefined) return this.#runOn(this.#reading, text, values)
    const { pool, queue } = this.#searching[lane]
    try {
      return await queue.run(this.#scope.subscriber ?? '', () => this.#runOn(pool, text, values))
    } catch (error) {
      throw isTimeout(error) ? new SearchBudgetError({ cause: error }) : error
    }
  }

  async #runOn(pool: ConnectionPool, text: string, values: readonly unknown[]): Promise<PostgresQueryResult<unknown>> {
    const connection = await pool.connect(this.#limitMs, this.#scope.limit)
    try {
      return await connection.query(text, values)
    } finally {
      connection.release()
    }
  }
}

/** A connection between its checkout and its release. A broken connection does not return to the pool. */
class Connection implements PostgresPoolClient {
  /** Rejects when the connection breaks, even if no query is running. */
  readonly broken: Promise<never>
  readonly #client: pg.PoolClient
  readonly #limitMs: number | undefined
  readonly #types: pg.CustomTypesConfig | undefined
  /** Queues queries, because pg runs one at a time. */
  readonly #queue = new SerialQueue()
  #broken: ConnectionError | undefined
  #hasEnded = false
  #onError = (_: unknown): void => {}

  constructor(client: pg.PoolClient, limitMs: number | undefined, types?: pg.CustomTypesConfig) {
    this.#client = client
    this.#limitMs = limitMs
    this.#types = types
    this.broken = new Promise((_, reject) => {
      this.#onError = (error) => reject(classifyError(error))
    })
    this.broken.catch(() => {})
    client.on('error', this.#onError)
  }

  query<Row>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<Row>>
  query(): never
  query<Row>(text?: string, values: readonly unknown[] = []): Promise<PostgresQueryResult<Row>> {
    if (text === undefined) throw new Error('Cursors are not used')
    // If one of several concurrent statements fails, the write ends. A statement after that would be committed by itself.
    const isEnd = text === 'commit' || text === 'rollback'
    if (this.#hasEnded && !isEnd) throw new Error('The write that this statement belongs to has ended')
    this.#hasEnded = isEnd
    return this.#queue.run(async () => {
      // On a connection that does not answer, the next query would only wait for its own timeout.
      if (this.#broken !== undefined) throw this.#broken
      const query = {
        text,
        values: [...values],
        ...(this.#limitMs !== undefined && { query_timeout: this.#limitMs }),
        ...(this.#types && { types: this.#types }),
      }
      const result = await this.#client.query(query).catch((error: unknown) => {
        const cause = classifyError(error)
        if (cause instanceof ConnectionError) this.#broken = cause
        throw cause
      })
      // If a statement has failed, the server answers a commit with ROLLBACK.
      if (text === 'commit' && result.command !== 'COMMIT') {
        throw new Error('The transaction was rolled back because one of its statements had failed')
      }
      // The caller names the type of its rows; the driver has `any` for them, and more kinds of commands.
      return result as PostgresQueryResult<Row>
    })
  }

  release(): void {
    this.#client.off('error', this.#onError)
    this.#client.release(this.#broken)
  }
}

const throwConnectionError = (error: unknown): never => {
  throw classifyError(error)
}

/** The numbers of types that pg would return differently, with the parsers for them. `numeric` occurs only as the sum of integers. */
const [BOOL, INT8, NUMERIC] = [16, 20, 1700]
const parsers: Readonly<Record<number, (text: string) => number>> = {
  [BOOL]: (text) => (text === 't' ? 1 : 0),
  [INT8]: Number,
  [NUMERIC]: Number,
}

const parserOf =
  (types: typeof pg.types): typeof pg.types.getTypeParser =>
  (type: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers[type]) || types.getTypeParser(type, format as 'text')

/**
 * Returns parsers that ask the limit for each text. If one throws, pg drops the other rows as they arrive, and reports the error.
 */
function limitedTypes(types: typeof pg.types, limit: ReadLimit): pg.CustomTypesConfig {
  const parserFor = parserOf(types)
  return {
    getTypeParser: ((type: number, format?: 'text' | 'binary') => {
      const parse = parserFor(type, format as 'text')
      return (text: string) => {
        const value: unknown = parse(text)
        return typeof value === 'string' ? limit.admit(value) : value
      }
    }) as typeof pg.types.getTypeParser,
  }
}
