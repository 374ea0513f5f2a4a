import { setImmediate } from 'node:timers/promises'
import { convertChunks, type PipelineRecord, PRODUCT_VERSION, RecordError } from '@penstock/converter'
import type { Db } from '@penstock/db'
import {
  type ClaimedDelivery,
  DeliveryQueue,
  type DeliveryTables,
  Drain,
  type HttpClient,
  type Settled,
} from '@penstock/delivery'
import { type EncodedChunk, type Encoding, RequestEncoder } from '@penstock/otlp'
import type { Clock, Log, Random } from '@penstock/runtime'
import { BodyReader } from './body-reader.ts'
import { DeadLetterLog, type Told } from './dead-letter-log.ts'
import { EndpointCache } from './endpoint-cache.ts'
import { EndpointError } from './endpoint-url.ts'
import { destinationOfLane, readDeliveryKey, scopeOfKey } from './export-key.ts'
import type { ExportLimits } from './export-limits.ts'
import { type DeadClass, ExportMetrics, itemNames } from './export-metrics.ts'
import type { ExporterTables } from './export-tables.ts'
import { oneLine } from './one-line.ts'
import type { ChunkAttempt } from './otlp-endpoint.ts'
import { RecordCache } from './record-cache.ts'
import { type DurableOptions, RecordIntake, type Taken } from './record-intake.ts'
import { EXPORT_QUEUE, type FoundRecord, findRecord } from './record-store.ts'
import { Retention } from './retention.ts'
import { type PlannedExport, sendExports } from './send-exports.ts'

/** Where a record goes, as things stand when it is sent. */
export interface Destination {
  /** OTLP/HTTP base URL. */
  readonly url: string
  /** Sent as a bearer token. */
  readonly token: string | undefined
  readonly encoding: Encoding
}

export interface ExporterOptions {
  readonly db: Db<ExporterTables>
  readonly clock: Clock
  readonly random: Random
  /** A text unlike every other one, of any process. */
  readonly newClaim: () => string
  readonly log: Log
  readonly client: HttpClient
  /** The same object for the same options: what follows from them is worked out once. */
  readonly optionsOf: (scope: string) => DurableOptions
  /** A text, without secrets, says why it will not be possible. */
  readonly destinationOf: (scope: string, record: PipelineRecord) => Promise<Destination | string>
  /** By the destination of its plan: what is not served here is left for a process that does. Default: everything. */
  readonly serves?: (destination: string) => boolean
  readonly limits: ExportLimits
}

/** What fails for longer is told: a moment's failure is nobody's business. */
const FAILING_AFTER_MS = 60_000

/** Begins the reason of those that did not get as far as a request. */
const UNSENDABLE = 'cannot be sent: '

/**
 * Takes records in and exports them, at least once: what has been taken in is in the database, and what is there is sent until
 * it is accepted or dead. Any number of processes share the work on one database.
 *
 * @see spec/pipeline-telemetry.md 2.6, 6
 */
export class Exporter {
  readonly queue: DeliveryQueue
  readonly intake: RecordIntake
  readonly bodies = new BodyReader()
  readonly metrics = new ExportMetrics()
  readonly #options: ExporterOptions
  readonly #drain: Drain
  readonly #retention: Retention
  readonly #endpoints: EndpointCache
  readonly #deadLetters: DeadLetterLog
  readonly #records: RecordCache
  readonly #encoders = { protobuf: new RequestEncoder('protobuf'), json: new RequestEncoder('json') }

  constructor(options: ExporterOptions) {
    const { db, clock, random, newClaim, log, client, optionsOf, serves = () => true, limits } = options
    this.#options = options
    const queue = new DeliveryQueue(db as unknown as Db<DeliveryTables>, EXPORT_QUEUE)
    this.queue = queue
    this.intake = new RecordIntake({
      db,
      queue,
      clock,
      optionsOf,
      limits,
      onTaken: (taken) => this.metrics.add('penstock_export_records', { outcome: outcomeOf(taken) }),
      onCommitted: () => this.wake(),
    })
    const onTrouble = (error: unknown) => log.error({ event: 'export.trouble', err: error }, 'exporting is in trouble')
    this.#drain = new Drain({
      ...limits,
      queue,
      serves: (lane) => serves(destinationOfLane(lane)),
      clock,
      random,
      newClaim,
      send: sendExports({
        plan: (subject) => this.#plan(subject),
        keepProgress: (delivery, progress) => queue.keepProgress(delivery, progress, clock.nowMs() + limits.leaseMs),
        clock,
        budgetMs: limits.budgetMs,
        maxSharedBytes: limits.maxSharedBytes,
        onAttempt: (attempt, exports, chunk) => this.#countAttempt(attempt, chunk, exports),
        onTrouble,
      }),
      onSettled: (settled) => {
        for (const one of settled) this.#countSettled(one, settled)
      },
      onTrouble,
    })
    this.#retention = new Retention({ db, queue, clock, limits })
    this.#endpoints = new EndpointCache(
      { version: PRODUCT_VERSION, client, clock, random, attemptTimeoutMs: limits.attemptTimeoutMs },
      limits.maxEndpoints,
    )
    this.#deadLetters = new DeadLetterLog(log)
    this.#records = new RecordCache(clock, limits.maxCachedCharacters)
  }

  /** Something has been enqueued, and committed. */
  wake(): void {
    this.#drain.wake()
  }

  /** Exports, and forgets what is old, until `signal` aborts. Resolves when all that was claimed is settled. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#drain.run(signal), this.#keepHouse(signal)])
  }

  async #keepHouse(signal: AbortSignal): Promise<void> {
    const { clock, log, limits } = this.#options
    while (!signal.aborted) {
      try {
        await this.#retention.round(signal)
        const { open, dead } = await this.queue.counts()
        this.metrics.set('otelcol_exporter_queue_size', {}, open)
        this.metrics.set('penstock_export_dead_letters', {}, dead)
      } catch (error) {
        log.error(
          { event: 'export.retention_failed', err: error },
          'old exports could not be deleted; it is tried again',
        )
      }
      await clock.sleep(limits.retentionEveryMs, signal).catch(() => {})
    }
  }

  /** Reads record, endpoint, token and options as they are now. */
  async #plan(subject: string): Promise<PlannedExport | string> {
    // Reading and converting take a while, and a batch has many.
    await setImmediate()
    const { destinationOf, optionsOf, limits } = this.#options
    const { record: key, signal } = readDeliveryKey(subject)
    try {
      const found = this.#records.find(key) ?? (await this.#findRecord(key))
      if (found === undefined) return `${UNSENDABLE}its record is gone`
      const { scope, record } = found
      const destination = await destinationOf(scope, record)
      if (typeof destination === 'string') return UNSENDABLE + destination
      const options = optionsOf(scope)
      const chunking = { signals: [signal], encoder: this.#encoders[destination.encoding], limits: limits.chunk }
      return {
        endpoint: this.#endpoints.of(destination),
        chunks: { [Symbol.iterator]: () => convertChunks(record, options, chunking) },
      }
    } catch (error) {
      if (error instanceof RecordError || error instanceof EndpointError) return UNSENDABLE + oneLine(error.message)
      throw error
    }
  }

  async #findRecord(key: string): Promise<FoundRecord | undefined> {
    const found = await findRecord(this.#options.db.read, key, (text) => this.bodies.read(text))
    if (found !== undefined) this.#records.add(key, found)
    return found
  }

  #countAttempt({ outcome }: ChunkAttempt, { signal, items }: EncodedChunk, exports: readonly ClaimedDelivery[]): void {
    const { metrics } = this
    metrics.add('penstock_export_attempts', { signal, outcome: outcome.kind })
    if (outcome.kind === 'delivered') {
      metrics.add(`otelcol_exporter_sent_${itemNames[signal]}`, {}, items)
      metrics.add('penstock_export_rejected_items', { signal }, outcome.rejectedItems)
      const { message } = outcome
      if (message !== '') this.#deadLetters.remark(toldOf(exports, message), this.#options.clock.nowMs())
    } else {
      metrics.add(`otelcol_exporter_send_failed_${itemNames[signal]}`, {}, items)
    }
    if (outcome.kind === 'dead' && outcome.authentication) {
      metrics.add('penstock_export_authentication_refusals', { signal })
    }
  }

  #countSettled(settled: Settled, batch: readonly Settled[]): void {
    const { delivery, settlement, isLost } = settled
    const alike = () => batch.filter((one) => one.settlement.kind === settlement.kind).map((one) => one.delivery)
    const { signal } = readDeliveryKey(delivery.key)
    const nowMs = this.#options.clock.nowMs()
    if (isLost) this.metrics.add('penstock_export_lost_claims', { signal })
    else if (settlement.kind === 'delivered') this.metrics.add('penstock_export_delivered', { signal })
    else if (settlement.kind === 'dead') {
      const reason = deadClassOf(settled)
      this.metrics.add('penstock_export_dead', { signal, reason })
      this.#deadLetters.dead(reason, toldOf(alike(), settlement.reason), nowMs)
    } else if (settlement.kind === 'retry' && nowMs - delivery.enqueuedAtMs >= FAILING_AFTER_MS) {
      this.#deadLetters.failing(toldOf(alike(), settlement.reason), nowMs)
    }
  }
}

/** They share a lane. */
function toldOf(exports: readonly ClaimedDelivery[], reason: string): Told {
  return { lane: exports[0]!.lane, scopes: exports.map(({ key }) => scopeOfKey(key)), reason }
}

function deadClassOf({ outcome }: Settled): DeadClass {
  if (outcome?.kind !== 'dead') return 'gave_up'
  if (outcome.authentication) return 'authentication'
  return outcome.reason.startsWith(UNSENDABLE) ? 'unsendable' : 'refused'
}

const outcomeOf = (taken: Taken) => (taken.kind === 'enqueued' ? taken.kind : taken.because)
