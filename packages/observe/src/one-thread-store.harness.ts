import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate, openReadOnly } from '@penstock/db'
import type { Encoding, Signal } from '@penstock/otlp'
import { type Clock, silentLog } from '@penstock/runtime'
import { RunHistory } from './insights/history/run-history.ts'
import type { Observe } from './observe.ts'
import type { Position } from './paging/cursor.ts'
import type { ObserveQueries } from './ports/observe-queries.ts'
import { sqliteQueries } from './ports/sqlite-queries.ts'
import { answerIn, runStoreQuery, type StoreQuery, type StoreResponse } from './ports/store-queries.ts'
import type { StoredLogRecord } from './queries/log-queries.ts'
import type { MetricName, StoredMetric } from './queries/metric-queries.ts'
import type { RunFacets, RunSummary } from './queries/pipeline-queries.ts'
import type { ServiceSummary } from './queries/service-queries.ts'
import type { TraceSummary } from './queries/trace-queries.ts'
import type { StoredTrace } from './queries/trace-spans.ts'
import { migrations } from './schema/migrations.ts'
import type { ObserveTables } from './schema/tables.ts'
import { defaultObserveLimits, type ObserveLimits } from './store/observe-limits.ts'
import type { Receipt, ReceivedRequest } from './store/received-request.ts'
import type { ObserveStatus } from './store/status.ts'
import { openStoreFile, openStoreWriter, type StoreWriter } from './store/store-writer.ts'

type Filter<Kind extends StoreQuery['kind']> = Extract<StoreQuery, { kind: Kind; filter: unknown }>['filter']

/** Returns a method for every query, which returns the parsed answer. */
export function queriesFor(answer: (query: StoreQuery) => Promise<StoreResponse | undefined>) {
  const ask = async <Found>(query: StoreQuery): Promise<Found> => {
    const found = await answer(query)
    return (found && JSON.parse(Buffer.from(found.json).toString())) as Found
  }
  return {
    runs: (filter: Filter<'runs'>) => ask<RunSummary[]>({ kind: 'runs', filter }),
    run: (traceId: string) => ask<RunSummary | undefined>({ kind: 'run', traceId }),
    facets: (service?: string) => ask<RunFacets>({ kind: 'facets', service }),
    services: () => ask<ServiceSummary[]>({ kind: 'services' }),
    status: () => ask<ObserveStatus>({ kind: 'status' }),
    traces: (filter: Filter<'traces'>) => ask<TraceSummary[]>({ kind: 'traces', filter }),
    trace: (traceId: string, maxSpans: number) => ask<StoredTrace | undefined>({ kind: 'trace', traceId, maxSpans }),
    metricNames: (filter: Filter<'metricNames'>) => ask<MetricName[]>({ kind: 'metricNames', filter }),
    metric: (filter: Filter<'metric'>) => ask<StoredMetric>({ kind: 'metric', filter }),
    logRecords: (filter: Filter<'logRecords'>) => ask<StoredLogRecord[]>({ kind: 'logRecords', filter }),
  }
}

/** A store that does the work of its threads on the thread of the test, with the clock of the test. */
export class OneThreadStore implements Pick<Observe, 'limits' | 'receive' | 'answer'> {
  readonly #writer: StoreWriter
  readonly #reader: ReturnType<typeof openReadOnly<ObserveTables>>
  readonly #history: RunHistory
  readonly limits: ObserveLimits
  readonly queries: ReturnType<typeof queriesFor>

  static async open(options: {
    file: string
    clock: Clock
    limits?: Partial<ObserveLimits>
    maxHistoryJobs?: number | undefined
  }): Promise<OneThreadStore> {
    const db = openStoreFile(options.file)
    await migrate(db, migrations)
    await db.close()
    const limits = { ...defaultObserveLimits, ...options.limits }
    return new OneThreadStore(options.file, options.clock, limits, options.maxHistoryJobs)
  }

  private constructor(file: string, clock: Clock, limits: ObserveLimits, maxHistoryJobs: number | undefined) {
    this.#writer = openStoreWriter({ file, clock, limits, log: silentLog })
    this.#reader = openReadOnly<ObserveTables>(file)
    this.#history = new RunHistory(
      this.#reader.read,
      () => clock.nowMs(),
      maxHistoryJobs === undefined ? {} : { jobs: maxHistoryJobs },
    )
    this.limits = limits
    this.queries = queriesFor((query) => this.answer(query))
  }

  /** The port that the threads of the store answer from. */
  get port(): ObserveQueries {
    return sqliteQueries(this.#reader.read, this.limits, this.#history)
  }

  get database() {
    return this.#reader.read
  }

  receive(received: ReceivedRequest): Promise<Receipt> {
    return this.#writer.receive(received)
  }

  receiveBody(signal: Signal, body: Uint8Array, encoding: Encoding): Promise<Receipt> {
    return this.receive({ signal, wire: body, encoding, coding: 'identity' })
  }

  async answer(query: StoreQuery): Promise<StoreResponse | undefined> {
    return answerIn(await runStoreQuery(this.port, query))
  }

  /** Returns the items of one page, the spans' resources for a trace, and the position in its cursor. */
  // biome-ignore lint/suspicious/noExplicitAny: tests know what they asked for
  async page(query: StoreQuery): Promise<{ items: any[]; after: Position | undefined }> {
    const response = await this.answer(query)
    const value = JSON.parse(Buffer.from(response!.json).toString())
    const cursor = response!.nextCursor
    const after = cursor && JSON.parse(Buffer.from(cursor.slice(4), 'base64url').toString())
    return { items: value.resourceSpans ?? value, after }
  }

  async close(): Promise<void> {
    await this.#reader.close()
    await this.#writer.close()
  }
}

/** Opens a store in a directory of its own, which is deleted with it, and stores bodies in OTLP/JSON. */
export async function filledStore(
  clock: Clock,
  bodies: readonly { readonly signal: Signal; readonly json: string }[],
): Promise<{ readonly queries: ObserveQueries; close(): Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-observe-'))
  const store = await OneThreadStore.open({ file: join(directory, 'observe.db'), clock })
  for (const { signal, json } of bodies) {
    const receipt = await store.receiveBody(signal, Buffer.from(json), 'json')
    if (receipt.kind !== 'kept') throw new Error(`not stored: ${receipt.text}`)
  }
  return {
    queries: store.port,
    async close() {
      await store.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
