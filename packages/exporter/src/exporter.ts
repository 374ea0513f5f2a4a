import { setImmediate } from 'node:timers/promises'
import { convertChunks, PRODUCT_VERSION } from '@penstock/converter'
import type { Db } from '@penstock/db'
import {
  type ClaimedDelivery,
  DeliveryQueue,
  Drain,
  deliveriesIn,
  drainErrors,
  type HttpClient,
  type Settled,
} from '@penstock/delivery'
import { type PipelineRecord, RecordError } from '@penstock/forges'
import { type EncodedChunk, RequestEncoder } from '@penstock/otlp'
import type { Clock, Log, Random } from '@penstock/runtime'
import { RecordIntake } from './intake/record-intake.ts'
import type { DurableOptions } from './options/durable-options.ts'
import type { ExportLimits } from './options/export-limits.ts'
import { BodyReader } from './records/body-reader.ts'
import type { IntakeResult } from './records/intake-request.ts'
import { DeadLetterLog, type FailureNotice } from './reporting/dead-letter-log.ts'
import { type DeadClass, ExportMetrics, itemNames } from './reporting/export-metrics.ts'
import type { Destination } from './sending/destination.ts'
import { EndpointCache } from './sending/endpoint-cache.ts'
import { EndpointError } from './sending/endpoint-url.ts'
import { oneLine } from './sending/one-line.ts'
import type { ChunkAttempt } from './sending/otlp-endpoint.ts'
import { type PlannedExport, sendExports } from './sending/send-exports.ts'
import { completeRecord } from './store/collecting-records.ts'
import { destinationOfLane, readDeliveryKey, scopeOfKey } from './store/export-key.ts'
import type { ExporterTables } from './store/export-tables.ts'
import { FETCH_QUEUE } from './store/fetch-store.ts'
import { RecordCache } from './store/record-cache.ts'
import { EXPORT_QUEUE, type FoundRecord, findRecord } from './store/record-store.ts'
import { Retention } from './store/retention.ts'

export interface ExporterOptions {
  readonly db: Db<ExporterTables>
  readonly clock: Clock
  readonly random: Random
  /** Returns a claim id that is unique across all processes. */
  readonly newClaim: () => string
  readonly log: Log
  readonly client: HttpClient
  /** Returns the same object for the same options, because values derived from the options are cached per object. */
  readonly optionsForScope: (scope: string) => DurableOptions
  /** Returns the destination, or the reason why the record cannot be sent; the reason contains no secrets. */
  readonly resolveDestination: (scope: string, record: PipelineRecord) => Promise<Destination | string>
  /**
   * Returns whether this process exports to a planned destination; exports to others are left to
   * other processes. Default: all.
   */
  readonly serves?: (destination: string) => boolean
  readonly limits: ExportLimits
}

/** How long an export must have been failing before the log mentions it; short failures are not worth a line. */
const FAILING_AFTER_MS = 60_000

/** The prefix of reasons why an export failed permanently before any request was sent. */
const PERMANENT_FAILURE_PREFIX = 'cannot be sent: '

/**
 * Accepts records and exports them at least once: accepted records are stored in the database, and every stored export is
 * sent until it is accepted or dead. Any number of processes can share the work on one database.
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
    const { db, clock, random, newClaim, log, client, optionsForScope, serves = () => true, limits } = options
    this.#options = options
    const queue = new DeliveryQueue(deliveriesIn(db), EXPORT_QUEUE)
    this.queue = queue
    this.intake = new RecordIntake({
      db,
      queue,
      fetchQueue: new DeliveryQueue(deliveriesIn(db), FETCH_QUEUE),
      clock,
      optionsForScope,
      limits,
      onResult: (result) => this.metrics.add('penstock_export_records', { outcome: outcomeOf(result) }),
      onCommitted: () => this.wake(),
    })
    const errors = drainErrors({ log, clock, work: 'exports' }, (err) =>
      log.error({ event: 'export.trouble', err }, 'An export failed because of an internal error; it is tried again'),
    )
    const { onError } = errors
    this.#drain = new Drain({
      ...limits,
      queue,
      serves: (lane) => serves(destinationOfLane(lane)),
      clock,
      random,
      newClaim,
      send: sendExports({
        plan: (subject) => this.#plan(subject),
        saveProgress: (delivery, progress) => queue.saveProgress(delivery, progress, clock.nowMs() + limits.leaseMs),
        clock,
        budgetMs: limits.budgetMs,
        maxSharedBytes: limits.maxSharedBytes,
        onAttempt: (attempt, exports, chunk) => this.#countAttempt(attempt, chunk, exports),
        onError,
      }),
      onSettled: (settled) => {
        for (const one of settled) this.#countSettled(one, settled)
      },
      ...errors,
    })
    this.#retention = new Retention({ db, queue, clock, limits })
    this.#endpoints = new EndpointCache(
      { version: PRODUCT_VERSION, client, clock, random, attemptTimeoutMs: limits.attemptTimeoutMs },
      limits.maxEndpoints,
    )
    this.#deadLetters = new DeadLetterLog(log)
    this.#records = new RecordCache(clock, limits.maxCachedCharacters)
  }

  /** Makes the exporter look for work at once; call it after a transaction that enqueued exports has been committed. */
  wake(): void {
    this.#drain.wake()
  }

  /** Exports, and deletes expired rows, until `signal` aborts. Resolves when all claimed deliveries are settled. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#drain.run(signal), this.#runRetention(signal)])
  }

  async #runRetention(signal: AbortSignal): Promise<void> {
    const { clock, log, limits } = this.#options
    const { onError, onRecovered } = drainErrors({ log, clock, work: 'retention of exports' }, (err) =>
      log.error(
        { event: 'export.retention_failed', err },
        'Old exports could not be deleted; the next round tries again',
      ),
    )
    while (!signal.aborted) {
      try {
        await this.#retention.round(signal)
        const { open, dead } = await this.queue.counts()
        this.metrics.set('otelcol_exporter_queue_size', {}, open)
        this.metrics.set('penstock_export_dead_letters', {}, dead)
        onRecovered()
      } catch (error) {
        onError(error)
      }
      await clock.sleep(limits.retentionEveryMs, signal).catch(() => {})
    }
  }

  /** Plans an export with the current record, endpoint, token and options. */
  async #plan(subject: string): Promise<PlannedExport | string> {
    // Lets other work run first, because reading and converting take a while and a batch has many exports.
    await setImmediate()
    const { resolveDestination, optionsForScope, limits } = this.#options
    const { record: key, signal } = readDeliveryKey(subject)
    try {
      const found = this.#records.find(key) ?? (await this.#findRecord(key))
      if (found === undefined) return `${PERMANENT_FAILURE_PREFIX}its record is gone`
      const { scope, record } = found
      const destination = await resolveDestination(scope, record)
      if (typeof destination === 'string') return PERMANENT_FAILURE_PREFIX + destination
      const options = optionsForScope(scope)
      const chunking = { signals: [signal], encoder: this.#encoders[destination.encoding], limits: limits.chunk }
      return {
        endpoint: this.#endpoints.get(destination),
        chunks: { [Symbol.iterator]: () => convertChunks(record, options, chunking) },
      }
    } catch (error) {
      if (error instanceof RecordError || error instanceof EndpointError)
        return PERMANENT_FAILURE_PREFIX + oneLine(error.message)
      throw error
    }
  }

  async #findRecord(key: string): Promise<FoundRecord | undefined> {
    const { db } = this.#options
    const read: typeof this.bodies.read = (text, context) => this.bodies.read(text, context)
    let found = await findRecord(db.read, key, read)
    if (found?.collects) {
      await completeRecord(db, key, found.record.id)
      found = await findRecord(db.read, key, read)
    }
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
      if (message !== '') this.#deadLetters.logRemark(noticeFor(exports, message), this.#options.clock.monotonicMs())
    } else {
      metrics.add(`otelcol_exporter_send_failed_${itemNames[signal]}`, {}, items)
    }
    if (outcome.kind === 'dead' && outcome.authentication) {
      metrics.add('penstock_export_authentication_refusals', { signal })
    }
  }

  #countSettled(settled: Settled, batch: readonly Settled[]): void {
    const { delivery, settlement, isLost } = settled
    const withSameResult = () =>
      batch.filter((one) => one.settlement.kind === settlement.kind).map((one) => one.delivery)
    const { signal } = readDeliveryKey(delivery.key)
    const { clock } = this.#options
    if (isLost) this.metrics.add('penstock_export_lost_claims', { signal })
    else if (settlement.kind === 'delivered') this.metrics.add('penstock_export_delivered', { signal })
    else if (settlement.kind === 'dead') {
      const reason = deadClassOf(settled)
      this.metrics.add('penstock_export_dead', { signal, reason })
      this.#deadLetters.logDead(reason, noticeFor(withSameResult(), settlement.reason), clock.monotonicMs())
    } else if (settlement.kind === 'retry' && clock.nowMs() - delivery.enqueuedAtMs >= FAILING_AFTER_MS) {
      this.#deadLetters.logFailing(noticeFor(withSameResult(), settlement.reason), clock.monotonicMs())
    }
  }
}

/** Returns the notice about exports of one lane. */
function noticeFor(exports: readonly ClaimedDelivery[], reason: string): FailureNotice {
  return { lane: exports[0]!.lane, scopes: exports.map(({ key }) => scopeOfKey(key)), reason }
}

function deadClassOf({ outcome }: Settled): DeadClass {
  if (outcome?.kind !== 'dead') return 'gave_up'
  if (outcome.authentication) return 'authentication'
  return outcome.reason.startsWith(PERMANENT_FAILURE_PREFIX) ? 'unsendable' : 'refused'
}

const outcomeOf = (result: IntakeResult) => (result.kind === 'enqueued' ? result.kind : result.code)
