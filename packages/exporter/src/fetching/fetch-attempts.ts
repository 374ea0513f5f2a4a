import { exportDecision } from '@penstock/converter'
import type { Db } from '@penstock/db'
import type { Attempt, HttpClient } from '@penstock/delivery'
import { type JsonObject, RecordError, type RunReference } from '@penstock/forges'
import { type Clock, type Log, WorkersBusyError } from '@penstock/runtime'
import { toArrival } from '../intake/intake-transaction.ts'
import type { RecordIntake } from '../intake/record-intake.ts'
import type { DurableOptions } from '../options/durable-options.ts'
import type { BodyReader } from '../records/body-reader.ts'
import type { IntakeRequest } from '../records/intake-request.ts'
import { losslessText } from '../records/received-body.ts'
import type { ExportMetrics } from '../reporting/export-metrics.ts'
import type { FetchFailure } from '../reporting/fetch-outcomes.ts'
import { oneLine } from '../sending/one-line.ts'
import type { SourceApi } from '../sources/source-api.ts'
import { sourceRequest } from '../sources/source-request.ts'
import type { Source } from '../sources/sources.ts'
import { toPipelineKey } from '../store/export-key.ts'
import type { ExporterTables } from '../store/export-tables.ts'
import {
  clearTokenRefusal,
  deleteFetch,
  recordTokenRefusal,
  type StoredFetch,
  saveAnswers,
} from '../store/fetch-store.ts'
import type { FetchLimits } from './fetch-limits.ts'
import { FetchLog } from './fetch-log.ts'
import { FetchEnd, ForgeRequests } from './forge-requests.ts'
import { SourceState } from './source-state.ts'

export interface FetchAttemptsOptions {
  readonly db: Db<ExporterTables>
  readonly clock: Clock
  readonly log: Log
  /** Keeps at least `limits.answerBytes` of a reply. */
  readonly client: HttpClient
  readonly optionsForScope: (scope: string) => DurableOptions
  readonly exporter: {
    readonly intake: Pick<RecordIntake, 'enqueue'>
    readonly bodies: Pick<BodyReader, 'read'>
    readonly metrics: ExportMetrics
    readonly wake: () => void
  }
  readonly limits: FetchLimits
}

/** How long runs of a source must have been failing before the log mentions it. */
const FAILING_AFTER_MS = 60_000

/** Failures that a new token or a permission ends. A run that no hook describes waits for that. */
const tokenFailures: ReadonlySet<FetchFailure> = new Set(['no_token', 'unauthorized', 'forbidden'])

/** Makes attempts to read runs, and takes in what has been read, or the hook of a run that cannot be read. */
export class FetchAttempts {
  readonly #options: FetchAttemptsOptions
  readonly #log: FetchLog
  /** One per scope, so bounded by the number of sources. */
  readonly #states = new Map<string, SourceState>()

  constructor(options: FetchAttemptsOptions) {
    this.#options = options
    this.#log = new FetchLog(options.log)
  }

  /** Makes an attempt. Returns `undefined` if it was interrupted because the process ends. */
  async make(fetch: StoredFetch, source: Source, signal: AbortSignal): Promise<Attempt | undefined> {
    try {
      const bundle = await this.#read(fetch, source, signal)
      return bundle && (await this.#accept(fetch, source, bundle))
    } catch (error) {
      if (error instanceof FetchEnd) return this.#end(fetch, source, error)
      if (error instanceof RecordError) {
        return this.#end(fetch, source, new FetchEnd(error.message, { failure: 'unreadable' }))
      }
      if (error instanceof WorkersBusyError) return retry(0, error.message, true)
      throw error
    }
  }

  /**
   * Reads the run. Returns `undefined` if the process ends.
   * @throws {FetchEnd}, RecordError for an answer that is malformed
   */
  async #read(fetch: StoredFetch, source: Source, signal: AbortSignal): Promise<JsonObject | undefined> {
    const { db, clock, client, limits } = this.#options
    if (clock.nowMs() >= this.#endsAtMs(fetch)) throw new FetchEnd('the time is over', { failure: 'expired' })
    const state = this.#stateOf(fetch.scope)
    const refusal = state.refusal(clock.monotonicMs())
    if (refusal !== undefined) throw new FetchEnd(refusal, { failure: 'unauthorized' })
    const { api } = source
    if (api === undefined) throw new FetchEnd('the source has no apiToken any more', { failure: 'no_token' })
    const shared = { client, clock, limits, api, pause: state.pause, signal }
    const requests = new ForgeRequests({ ...shared, earlier: fetch.answers })
    let bundle: JsonObject
    try {
      bundle = await readRun(fetch, api, requests)
    } catch (error) {
      const mayContinue = error instanceof FetchEnd && error.failure === undefined
      if (mayContinue && requests.saved !== fetch.answers) {
        await db.write((tx) => saveAnswers(tx, fetch.key, requests.saved))
      }
      if (mayContinue && signal.aborted) return undefined
      throw error
    }
    if (state.changes(false)) await db.write((tx) => clearTokenRefusal(tx, fetch.scope))
    return bundle
  }

  /** Enqueues the export of a run that was read. @throws {FetchEnd}, RecordError, WorkersBusyError */
  async #accept(fetch: StoredFetch, source: Source, bundle: JsonObject): Promise<Attempt> {
    const { clock, exporter, limits, optionsForScope } = this.#options
    const request = await this.#toRequest(fetch, source, losslessText(bundle))
    const { input } = request.body
    if (input.kind !== 'pipeline') throw new FetchEnd('the answer is no run', { failure: 'unreadable' })
    const options = optionsForScope(fetch.scope)
    if (fetch.body !== null && toArrival(request, options).key !== toPipelineKey(fetch.key)) {
      throw new FetchEnd('the answer is about another run', { failure: 'unreadable' })
    }
    const isFinal = exportDecision(input.record, options).kind === 'export'
    const isComplete = isFinal && !input.record.jobs.some(({ status }) => status === 'running')
    const isEarly = clock.nowMs() < fetch.enqueued_at_ms + limits.unfinishedMs
    if (!isComplete && isEarly) {
      await this.#options.db.write((tx) => saveAnswers(tx, fetch.key, null))
      throw new FetchEnd('the run has not ended according to the forge', { isLocal: true })
    }
    if (!isFinal && fetch.body !== null) {
      throw new FetchEnd('the run has not ended according to the forge', { failure: 'unfinished' })
    }
    exporter.metrics.add('penstock_run_fetch_attempts', { outcome: 'read' })
    exporter.metrics.add('penstock_run_fetches', { outcome: isFinal ? 'read' : 'unfinished' })
    await this.#store(fetch, { ...request, isFetched: true })
    return delivered(isFinal ? '' : 'the run has not ended; a later hook lets it be read again')
  }

  /** Ends an attempt that has not read the run: it is tried again, or its hook is exported. */
  async #end(fetch: StoredFetch, source: Source, end: FetchEnd): Promise<Attempt> {
    const { db, clock, exporter, limits } = this.#options
    const { failure, message: reason, isLocal } = end
    const state = this.#stateOf(fetch.scope)
    if (failure === 'unauthorized' && state.refusal(clock.monotonicMs()) === undefined) {
      state.refuse(reason, clock.monotonicMs() + limits.refusedMs)
    }
    if ((failure === 'unauthorized' || failure === 'forbidden') && state.changes(true)) {
      await db.write((tx) => recordTokenRefusal(tx, fetch.scope, reason, clock.nowMs()))
    }
    const waits = failure !== undefined && tokenFailures.has(failure) && fetch.body === null
    const waitMs = waits ? limits.refusedMs : end.waitMs
    if (failure !== undefined && !waits) return this.#giveUp(fetch, source, failure, reason)
    if (clock.nowMs() + waitMs >= this.#endsAtMs(fetch)) {
      return this.#giveUp(fetch, source, failure ?? 'expired', `the time is over: ${reason}`)
    }
    exporter.metrics.add('penstock_run_fetch_attempts', { outcome: 'retry' })
    if (clock.nowMs() >= fetch.enqueued_at_ms + FAILING_AFTER_MS) {
      this.#write('failing', fetch, source, { cause: failure ?? 'retry', reason })
    }
    return retry(waitMs, reason, isLocal || waits)
  }

  async #giveUp(fetch: StoredFetch, source: Source, failure: FetchFailure, reason: string): Promise<Attempt> {
    const { db, exporter } = this.#options
    const isExported = await this.#exportHook(fetch, source)
    if (!isExported) await db.write((tx) => deleteFetch(tx, fetch.key))
    exporter.metrics.add('penstock_run_fetch_attempts', { outcome: 'failed' })
    exporter.metrics.add('penstock_run_fetches', { outcome: failure })
    this.#write(isExported ? 'exported' : 'lost', fetch, source, { cause: failure, reason })
    return { outcome: { kind: 'dead', reason, authentication: false, isLocal: true }, progress: '' }
  }

  /** Enqueues the export of the hook, which waits for job hooks. Returns `false` if there is no hook that describes the run. */
  async #exportHook(fetch: StoredFetch, source: Source): Promise<boolean> {
    if (fetch.body === null) return false
    try {
      await this.#store(fetch, await this.#toRequest(fetch, source, fetch.body))
      return true
    } catch (error) {
      if (error instanceof RecordError) return false
      throw error
    }
  }

  async #toRequest(fetch: StoredFetch, source: Source, text: string): Promise<IntakeRequest> {
    const { exporter, limits } = this.#options
    const receivedAtNs = BigInt(fetch.received_at_ns)
    const body = await exporter.bodies.read(text, { receivedAtNs, forge: source.forge, maxJobs: limits.jobs })
    return sourceRequest(source, body, receivedAtNs)
  }

  /**
   * Takes a body in and deletes the fetch, in one transaction, so that the run is neither lost nor exported twice. Does nothing if another
   * attempt has ended the fetch, which happens if the lease of this one has run out.
   */
  async #store(fetch: StoredFetch, request: IntakeRequest): Promise<void> {
    const { db, clock, exporter } = this.#options
    const result = await db.write(async (tx) =>
      (await deleteFetch(tx, fetch.key)) ? exporter.intake.enqueue(tx, request, clock.nowMs()) : undefined,
    )
    if (result?.kind === 'enqueued') exporter.wake()
  }

  #write(
    kind: Parameters<FetchLog['write']>[0],
    { reference }: StoredFetch,
    { name }: Source,
    about: { readonly cause: string; readonly reason: string },
  ): void {
    this.#log.write(kind, { source: name, ...about, run: oneLine(reference) }, this.#options.clock.monotonicMs())
  }

  #endsAtMs({ body, enqueued_at_ms }: StoredFetch): number {
    const { giveUpAfterMs, giveUpUnknownAfterMs } = this.#options.limits
    return enqueued_at_ms + (body === null ? giveUpUnknownAfterMs : giveUpAfterMs)
  }

  #stateOf(scope: string): SourceState {
    const state = this.#states.get(scope) ?? new SourceState()
    this.#states.set(scope, state)
    return state
  }
}

/** @throws {FetchEnd}, RecordError */
async function readRun(
  { reference }: StoredFetch,
  { forgeApi }: SourceApi,
  requests: ForgeRequests,
): Promise<JsonObject> {
  const answer = await forgeApi.readRun((request) => requests.ask(request), JSON.parse(reference) as RunReference)
  if (answer.kind === 'bundle') return answer.bundle
  throw new FetchEnd('the run is gone, or the apiToken may not read it (HTTP 404)', { failure: 'not_found' })
}

export const delivered = (message: string): Attempt => ({
  outcome: { kind: 'delivered', rejectedItems: 0, message },
  progress: '',
})

const retry = (retryAfterMs: number, reason: string, isLocal: boolean): Attempt => ({
  outcome: { kind: 'retry', retryAfterMs, reason, ...(isLocal && { isLocal: true }) },
  progress: '',
})
