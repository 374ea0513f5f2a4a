import { type ClickHouseClient, ClickHouseError, createClient } from '@clickhouse/client'

/** The address of a database and who reads it. */
export interface ClickHouseAddress {
  /** The origin of its HTTP interface. */
  readonly url: string
  readonly database: string
  readonly username: string
  readonly password: string
}

const DEFAULT_DATABASE = 'default'
const HTTP_PORT = '8123'

/**
 * Returns the address in the text of a setting: `http(s)://user:password@host:8123/database`, or the same with `clickhouse:`, which
 * means `http:`; `undefined` for other texts.
 */
export function parseClickHouseUrl(text: string): ClickHouseAddress | undefined {
  const asHttp = text.replace(/^clickhouse:/, 'http:')
  if (!URL.canParse(asHttp)) return undefined
  const { protocol, host, port, username, password, pathname, search, hash } = new URL(asHttp)
  const database = /^\/?([A-Za-z_][\w-]*)?\/?$/.exec(pathname)
  if (!/^https?:$/.test(protocol) || host === '' || database === null || search !== '' || hash !== '') return undefined
  const hasPort = port !== '' || !text.startsWith('clickhouse:')
  return {
    url: `${protocol}//${host}${hasPort ? '' : `:${HTTP_PORT}`}`,
    database: database[1] ?? DEFAULT_DATABASE,
    username: decodeURIComponent(username) || 'default',
    password: decodeURIComponent(password),
  }
}

/** The bounds of one statement. ClickHouse ends a statement beyond one of them with an error. */
export interface StatementBounds {
  readonly seconds: number
  readonly rows: number
  readonly resultBytes: number
  readonly memoryBytes: number
}

const MIB = 1024 * 1024

export const defaultBounds: StatementBounds = {
  seconds: 10,
  rows: 300_000,
  resultBytes: 128 * MIB,
  memoryBytes: 2048 * MIB,
}

/** The bounds of the statements that fill views. */
export const fillBounds: StatementBounds = { ...defaultBounds, seconds: 600, memoryBytes: 4096 * MIB }

/** The error for a database that cannot be reached, refuses the credential, or ends a statement because of a bound. */
export class ClickHouseUnavailable extends Error {
  override readonly name = 'ClickHouseUnavailable'
  /** The code of ClickHouse's error; `undefined` if the database did not answer. */
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    super(message)
    this.code = code
  }

  /** Whether the user has no right to do this. */
  get isRefused(): boolean {
    return this.code !== undefined && refusals.has(this.code)
  }
}

const READ_ONLY = '164'
const ACCESS_DENIED = '497'
const refusals: ReadonlySet<string> = new Set([READ_ONLY, ACCESS_DENIED])

/** The values of a statement by name. They are sent apart from its text, which names them as `{name:Type}`. */
export type Parameters = Readonly<Record<string, string | number | readonly string[]>>

/** The codes of ClickHouse's errors that are no fault of the statement. */
const passingCodes: ReadonlySet<string> = new Set([
  '81', // unknown database
  '159', // time exceeded
  READ_ONLY,
  '192', // unknown user
  '193', // wrong password
  '202', // too many simultaneous queries
  '241', // memory exceeded
  '307', // too many bytes
  '396', // too many rows or bytes in the result
  ACCESS_DENIED,
  '516', // authentication failed
])

/** Sends statements to one ClickHouse database over HTTP. Each is bounded; `rows` and `row` change nothing. */
export class ClickHouse {
  readonly #client: ClickHouseClient
  readonly #bounds: StatementBounds

  constructor({ url, database, username, password }: ClickHouseAddress, bounds: StatementBounds = defaultBounds) {
    this.#bounds = bounds
    this.#client = createClient({
      url,
      database,
      username,
      password,
      application: 'penstock',
      request_timeout: (bounds.seconds + 5) * 1000,
      max_open_connections: 10,
      compression: { response: false, request: false },
      log: { level: 127 },
    })
  }

  /**
   * Returns the rows of a statement.
   * @throws ClickHouseUnavailable
   */
  async rows<Row>(query: string, parameters: Parameters = {}): Promise<Row[]> {
    const { seconds, rows, resultBytes, memoryBytes } = this.#bounds
    try {
      const result = await this.#client.query({
        query,
        format: 'JSONEachRow',
        query_params: parameters,
        clickhouse_settings: {
          readonly: '2',
          max_execution_time: seconds,
          timeout_overflow_mode: 'throw',
          max_result_rows: String(rows),
          max_result_bytes: String(resultBytes),
          result_overflow_mode: 'throw',
          max_memory_usage: String(memoryBytes),
          output_format_json_quote_64bit_integers: 1,
          wait_end_of_query: 1,
        },
      })
      const found: Row[] = []
      let bytes = 0
      for await (const part of result.stream<Row>()) {
        for (const row of part) {
          bytes += row.text.length
          // The limit above counts bytes in memory; the JSON of them can be longer.
          if (bytes > 2 * resultBytes) throw new ClickHouseUnavailable('the result of a statement is too large')
          found.push(row.json<Row>())
        }
      }
      return found
    } catch (error) {
      throw asUnavailable(error)
    }
  }

  /** Returns the only row of an aggregation. */
  async row<Row>(query: string, parameters: Parameters = {}): Promise<Row> {
    return (await this.rows<Row>(query, parameters))[0]!
  }

  /**
   * Runs a statement that creates, fills or changes a table. After `signal`, nothing is known about what it has done.
   *
   * @throws ClickHouseUnavailable
   */
  async execute(query: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<void> {
    const { seconds, memoryBytes } = this.#bounds
    try {
      await this.#client.command({
        query,
        query_params: parameters,
        ...(signal && { abort_signal: signal }),
        clickhouse_settings: {
          max_execution_time: seconds,
          timeout_overflow_mode: 'throw',
          max_memory_usage: String(memoryBytes),
          wait_end_of_query: 1,
        },
      })
    } catch (error) {
      throw asUnavailable(error)
    }
  }

  async close(): Promise<void> {
    await this.#client.close()
  }
}

/** Returns `ClickHouseUnavailable` for failures that pass, and others as they are. Neither contains the address or the credential. */
function asUnavailable(error: unknown): unknown {
  if (error instanceof ClickHouseUnavailable) return error
  if (error instanceof ClickHouseError) {
    const text = `ClickHouse answered with error ${error.code} (${error.type ?? 'unknown'})`
    return passingCodes.has(error.code)
      ? new ClickHouseUnavailable(text, error.code)
      : new Error(`${text}: ${error.message}`)
  }
  const code = (error as { code?: string }).code
  return new ClickHouseUnavailable(`ClickHouse cannot be reached${code === undefined ? '' : ` (${code})`}`)
}
