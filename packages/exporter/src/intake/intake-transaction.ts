import { exportDecision, recordInstance } from '@penstock/converter'
import type { DeliveryQueue, NewDelivery } from '@penstock/delivery'
import {
  attemptsListedBy,
  findRoot,
  type Input,
  isFinished,
  type JobEnrichment,
  type RunId,
  rootKey,
  withJobEvents,
} from '@penstock/forges'
import { signalNames } from '@penstock/otlp'
import type { Transaction } from 'kysely'
import type { DurableOptions } from '../options/durable-options.ts'
import { admission, type EarlierExport, toEarlierExport } from '../records/admission.ts'
import {
  DEFAULT_SETTLE_MS,
  type ExportPlan,
  type IntakeRequest,
  type IntakeResult,
  type NotEnqueuedReason,
} from '../records/intake-request.ts'
import { readBody } from '../records/received-body.ts'
import { isCollecting } from '../store/collecting-records.ts'
import { ExportHistory, type StoredPipelineHistory } from '../store/export-history-store.ts'
import { deliveryKey, type PipelineNamespace, pipelineKey, recordKey, toLane } from '../store/export-key.ts'
import type { ExporterTables } from '../store/export-tables.ts'
import { enqueueFetch } from '../store/fetch-store.ts'
import {
  deleteJobEnrichments,
  findJobEnrichments,
  parseJobEnrichments,
  saveJobEnrichments,
} from '../store/job-hook-store.ts'
import { findRow, insertRecords, type StoredRecord, storedForge, storedRoot } from '../store/record-store.ts'
import { isAttemptUnknown, withFoundAttempt } from './find-attempt.ts'

type PipelineInput = Extract<Input, { kind: 'pipeline' }>
type JobInput = Extract<Input, { kind: 'job' }>

/** An intake request with its options and the pipeline that it is about. */
interface Arrival {
  readonly request: IntakeRequest
  readonly options: DurableOptions
  readonly namespace: PipelineNamespace
  readonly pipelineId: RunId
  readonly upstreamId: RunId | undefined
  /** The key of the pipeline's row in the export history. */
  readonly key: string
}

/** Finds out which pipeline a request is about. */
export function toArrival(request: IntakeRequest, options: DurableOptions): Arrival {
  const { scope, body } = request
  const { input } = body
  const isJob = input.kind === 'job'
  const instance = recordInstance(isJob ? input.event : input.record, options)
  const namespace = { scope, instance }
  const pipelineId = isJob ? input.event.pipelineId : input.record.id
  const upstreamId = (isJob ? input.event : input.record).upstream?.pipelineId
  return { request, options, namespace, pipelineId, upstreamId, key: pipelineKey(namespace, pipelineId) }
}

/** The rows that one intake transaction writes: collected request by request, and written at its end. */
export class IntakeTransaction {
  readonly deliveries: NewDelivery[] = []
  /** Deliveries that wait for further job hooks. */
  readonly postponed: { readonly keys: readonly string[]; readonly settleMs: number }[] = []
  readonly #tx: Transaction<ExporterTables>
  readonly #fetchQueue: DeliveryQueue
  readonly #nowMs: number
  readonly #history: ExportHistory
  readonly #records: StoredRecord[] = []
  /**
   * Stored job enrichments by pipeline key; undefined if there are none. A pipeline without
   * an entry has not been looked up.
   */
  readonly #jobEnrichments = new Map<string, string | undefined>()

  constructor(tx: Transaction<ExporterTables>, fetchQueue: DeliveryQueue, nowMs: number) {
    this.#tx = tx
    this.#fetchQueue = fetchQueue
    this.#nowMs = nowMs
    this.#history = new ExportHistory(tx)
  }

  /** Reads everything that these arrivals need, with shared statements. */
  async load(arrivals: readonly Arrival[]): Promise<void> {
    await this.#history.load(
      arrivals.flatMap(({ key, namespace, upstreamId }) =>
        upstreamId === undefined ? [key] : [key, pipelineKey(namespace, upstreamId)],
      ),
    )
    await this.#loadJobEnrichments(arrivals.filter(mayBeExported).map(({ key }) => key))
  }

  async add(given: Arrival): Promise<IntakeResult> {
    const arrival = await this.#withFoundAttempt(given)
    const { input } = arrival.request.body
    return input.kind === 'job' ? this.#addJob(arrival, input) : this.#addPipeline(arrival, input)
  }

  /** Writes all rows except the deliveries, which the caller passes to the queue. */
  async write(): Promise<void> {
    await this.#history.save()
    await insertRecords(this.#tx, this.#records, this.#nowMs)
  }

  async #withFoundAttempt(arrival: Arrival): Promise<Arrival> {
    const { request, options, namespace, pipelineId } = arrival
    const { input } = request.body
    if (!isAttemptUnknown(input)) return arrival
    const keyOf = (attempt: number) => {
      const source = input.kind === 'job' ? { ...input.event, runAttempt: attempt } : { ...input.record, attempt }
      return pipelineKey({ ...namespace, instance: recordInstance(source, options) }, pipelineId)
    }
    const found = await withFoundAttempt(this.#tx, this.#history, input, keyOf)
    return toArrival({ ...request, body: { ...request.body, input: found } }, options)
  }

  async #addJob(arrival: Arrival, input: JobInput): Promise<IntakeResult> {
    const { options, namespace, key, upstreamId } = arrival
    const { event, warnings } = input
    const history = await this.#history.find(namespace, event.pipelineId, upstreamId)
    this.#history.recordRoot(key, findRoot(event, history.roots, namespace.instance).id, this.#nowMs)
    if (event.job !== undefined && history.earlier !== undefined) {
      return this.#addJobOfExportedRun(arrival, input, { ...history, earlier: history.earlier })
    }
    const isTooLate = history.earlier !== undefined && options.reexport === 'none'
    if (!isTooLate) await this.#saveJobEnrichments(key, [event])
    const reason = isTooLate
      ? `job hook of pipeline ${event.pipelineId}, which has been exported`
      : `job hook, kept for pipeline ${event.pipelineId}`
    return { kind: 'kept', code: 'job_hook', reason, warnings }
  }

  /**
   * Adds a job to the record of its run, if that record still waits for job hooks. Otherwise the job becomes part of another record:
   * its jobs are sent without the run.
   */
  async #addJobOfExportedRun(
    { request, key: pipeline, pipelineId }: Arrival,
    { event, warnings }: JobInput,
    { exports, earlier }: StoredPipelineHistory & { readonly earlier: EarlierExport },
  ): Promise<IntakeResult> {
    const kept = (code: NotEnqueuedReason, reason: string): IntakeResult => ({ kind: 'kept', code, reason, warnings })
    const { settleMs = DEFAULT_SETTLE_MS } = request
    if (earlier.jobIds.some((id) => id === event.jobId) || !isFinished(event.status)) {
      return kept('job_hook', `job hook of pipeline ${pipelineId}, which has been exported`)
    }
    const latest = recordKey(pipeline, exports)
    if (
      this.#records.some(({ key, collects }) => key === latest && collects) ||
      (await isCollecting(this.#tx, latest))
    ) {
      await this.#saveJobEnrichments(pipeline, [event])
      this.postponed.push({ keys: signalNames.map((signal) => deliveryKey(latest, signal)), settleMs })
      return kept('job_hook', `job hook, kept for pipeline ${pipelineId}`)
    }
    const run = await findRow(this.#tx, pipeline)
    if (run === undefined) return kept('late_job_lost', `job hook of pipeline ${pipelineId}; its record has expired`)
    const forge = storedForge(run)
    const { input } = readBody(run.body, { forge })
    if (input.kind !== 'pipeline') throw new Error(`the stored body of ${pipeline} is not a pipeline`)
    const { signals: all, destination, identity } = await request.plan(input.record)
    const signals = all.filter((signal) => signal !== 'metrics')
    if (signals.length === 0)
      return kept('nothing_to_export', `job of pipeline ${pipelineId}: nothing is to be exported`)
    await this.#saveJobEnrichments(pipeline, [event])
    this.#enqueue(
      recordKey(pipeline, exports + 1),
      { signals, destination, waitMs: settleMs },
      {
        scope: request.scope,
        body: run.body,
        forge,
        receivedAtNs: BigInt(run.received_at_ns),
        root: storedRoot(run),
        previousJobIds: earlier.jobIds,
        jobEnrichments: undefined,
        identity: { ...identity, attempt: event.attemptsUncounted && event.runAttempt },
        collects: true,
        onlyJobs: true,
      },
    )
    this.#history.recordExport(pipeline, earlier, this.#nowMs)
    return { kind: 'enqueued', signals, warnings }
  }

  #enqueue(
    key: string,
    { signals, destination, waitMs }: Pick<ExportPlan, 'signals' | 'destination'> & { readonly waitMs: number },
    record: Omit<StoredRecord, 'key'>,
  ): void {
    const dueAtMs = this.#nowMs + waitMs
    for (const signal of signals) {
      const each = deliveryKey(key, signal)
      this.deliveries.push({ key: each, subject: each, lane: toLane(signal, destination), dueAtMs })
    }
    this.#records.push({ ...record, key })
  }

  async #addPipeline(arrival: Arrival, input: PipelineInput): Promise<IntakeResult> {
    const { request, options, pipelineId, key: pipeline } = arrival
    const { scope, body, receivedAtNs, plan } = request
    const history = await this.#findHistory(arrival, input)
    const decision = admission({ ...input, record: { ...input.record, receivedAtNs } }, history, options, body.digest)
    const { root } = decision
    const notEnqueued = (code: NotEnqueuedReason, reason: string, warnings = input.warnings): IntakeResult => {
      this.#history.recordRoot(pipeline, root.id, this.#nowMs)
      return { kind: 'kept', code, reason, warnings }
    }
    if (decision.kind === 'skip') {
      if (decision.code === 'not_final') await this.#saveJobEnrichments(pipeline, attemptsListedBy(input.record))
      const wantsReexport = decision.code === 'completed_again' && options.reexport === 'none'
      const hint = wantsReexport ? '; it has finished again; set exporter.reexport to export later completions' : ''
      return notEnqueued(decision.code, decision.reason + hint)
    }

    const { warnings } = decision
    if (!this.#jobEnrichments.has(pipeline)) await this.#loadJobEnrichments([pipeline])
    const jobEnrichments = this.#jobEnrichments.get(pipeline)
    const record = withJobEvents(
      decision.record,
      jobEnrichments === undefined ? [] : parseJobEnrichments(jobEnrichments, pipelineId),
    )
    const { signals, destination, identity } = await plan(record)
    if (signals.length === 0) {
      return notEnqueued('nothing_to_export', `pipeline ${pipelineId}: nothing is to be exported`, warnings)
    }
    const collects = input.record.jobsUnknown === true
    const latest = recordKey(pipeline, history.exports + 1)
    if (collects && request.runReference !== undefined) {
      const isNew = await this.#enqueueFetch(latest, request, request.runReference)
      if (!isNew) {
        return notEnqueued('being_fetched', `pipeline ${pipelineId}: it is being read from its forge already`, warnings)
      }
      this.#history.recordRoot(pipeline, root.id, this.#nowMs)
      return { kind: 'enqueued', signals, warnings }
    }
    // The jobs of a run that lists none arrive in hooks, in any order.
    const waitMs = collects ? (request.settleMs ?? DEFAULT_SETTLE_MS) : 0
    this.#enqueue(
      latest,
      { signals, destination, waitMs },
      {
        scope,
        body: body.text,
        forge: body.forge,
        receivedAtNs,
        root,
        previousJobIds: record.previousExport?.jobIds,
        jobEnrichments: collects ? undefined : jobEnrichments,
        identity: record.attemptsUncounted ? { ...identity, attempt: record.attempt } : identity,
        collects,
        onlyJobs: false,
      },
    )
    const exported = toEarlierExport({ ...decision, record }, root.id, options)
    const remembersJobs = request.isFetched && options.reexport === 'none'
    const jobIds = remembersJobs ? record.jobs.map(({ id }) => id) : exported.jobIds
    this.#history.recordExport(pipeline, { ...exported, jobIds }, this.#nowMs)
    if (jobEnrichments !== undefined && options.reexport === 'none' && !collects)
      await deleteJobEnrichments(this.#tx, pipeline)
    return { kind: 'enqueued', signals, warnings }
  }

  /** Lets the run be read from its forge. Returns `false` if it is being read already. */
  #enqueueFetch(key: string, { scope, body, receivedAtNs }: IntakeRequest, reference: string): Promise<boolean> {
    // A run is read again if a later hook arrives after its history was deleted, so the key of the delivery contains the time.
    const deliveryKey = `${key} ${receivedAtNs}`
    const fetch = { key, deliveryKey, scope, reference, body: body.text, receivedAtNs }
    return enqueueFetch(this.#tx, this.#fetchQueue, fetch, this.#nowMs)
  }

  /** Returns the history of a pipeline. Looks up an upstream pipeline of another project in the scope of that project. */
  async #findHistory(
    { request, namespace, pipelineId, upstreamId }: Arrival,
    { record }: PipelineInput,
  ): Promise<StoredPipelineHistory> {
    const { upstreamScope } = request
    if (upstreamScope === undefined || upstreamId === undefined || record.upstream?.otherProject !== true) {
      return this.#history.find(namespace, pipelineId, upstreamId)
    }
    const history = await this.#history.find(namespace, pipelineId, undefined)
    const roots = new Map(history.roots)
    const key = rootKey(namespace.instance, upstreamId)
    roots.delete(key)
    const rootId =
      upstreamScope && (await this.#history.findRoot(pipelineKey({ ...namespace, scope: upstreamScope }, upstreamId)))
    if (rootId) roots.set(key, rootId)
    return { ...history, roots }
  }

  async #saveJobEnrichments(pipeline: string, enrichments: readonly JobEnrichment[]): Promise<void> {
    await saveJobEnrichments(this.#tx, pipeline, enrichments, this.#nowMs)
    this.#jobEnrichments.delete(pipeline)
  }

  async #loadJobEnrichments(pipelines: readonly string[]): Promise<void> {
    const found = await findJobEnrichments(this.#tx, pipelines)
    for (const pipeline of pipelines) this.#jobEnrichments.set(pipeline, found.get(pipeline))
  }
}

/** Returns whether an arrival may be exported now; only then are its job enrichments needed. */
function mayBeExported({ request, options }: Arrival): boolean {
  const { input } = request.body
  return input.kind === 'pipeline' && exportDecision(input.record, options).kind === 'export'
}
