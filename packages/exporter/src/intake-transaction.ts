import { exportDecision, type Input, recordInstance, rootKey, rootOf, withJobEvents } from '@penstock/converter'
import type { NewDelivery } from '@penstock/delivery'
import type { Transaction } from 'kysely'
import { admission, toEarlierExport } from './admission.ts'
import { deliveryKey, laneOf, pipelineKey, type Realm, recordKey } from './export-key.ts'
import type { ExporterTables } from './export-tables.ts'
import { findJobNews, forgetJobNews, keepJobNews, readJobNews } from './job-hook-store.ts'
import { type KnownPipeline, PipelineLedger } from './pipeline-ledger-store.ts'
import type { DurableOptions, KeptCause, Received, Taken } from './record-intake.ts'
import { insertRecords, type KeptRecord } from './record-store.ts'

type PipelineInput = Extract<Input, { kind: 'pipeline' }>
type JobInput = Extract<Input, { kind: 'job' }>

/** A body, and the pipeline it is about. */
interface Arrival {
  readonly received: Received
  readonly options: DurableOptions
  readonly realm: Realm
  readonly pipelineId: bigint
  readonly upstreamId: bigint | undefined
  /** Of its row in the ledger. */
  readonly key: string
}

export function arrivalOf(received: Received, options: DurableOptions): Arrival {
  const { scope, body } = received
  const { input } = body
  const isJob = input.kind === 'job'
  const instance = recordInstance(isJob ? input.event : input.record, options)
  const realm = { scope, instance }
  const pipelineId = isJob ? input.event.pipelineId : input.record.id
  const upstreamId = (isJob ? input.event : input.record).upstream?.pipelineId
  return { received, options, realm, pipelineId, upstreamId, key: pipelineKey(realm, pipelineId) }
}

/** What one transaction learns and enqueues: gathered body by body, and written at its end. */
export class IntakeTransaction {
  readonly deliveries: NewDelivery[] = []
  readonly #tx: Transaction<ExporterTables>
  readonly #nowMs: number
  readonly #ledger: PipelineLedger
  readonly #records: KeptRecord[] = []
  /** By pipeline, what job hooks have told; undefined where nothing. Those that are not in it have not been looked for. */
  readonly #jobNews = new Map<string, string | undefined>()

  constructor(tx: Transaction<ExporterTables>, nowMs: number) {
    this.#tx = tx
    this.#nowMs = nowMs
    this.#ledger = new PipelineLedger(tx)
  }

  /** Reads at once what all of them will need. */
  async load(arrivals: readonly Arrival[]): Promise<void> {
    await this.#ledger.load(
      arrivals.flatMap(({ key, realm, upstreamId }) =>
        upstreamId === undefined ? [key] : [key, pipelineKey(realm, upstreamId)],
      ),
    )
    await this.#loadJobNews(arrivals.filter(mayBeExported).map(({ key }) => key))
  }

  take(arrival: Arrival): Promise<Taken> {
    const { input } = arrival.received.body
    return input.kind === 'job' ? this.#takeJob(arrival, input) : this.#takePipeline(arrival, input)
  }

  /** All but the deliveries, which have a queue to write them. */
  async write(): Promise<void> {
    await this.#ledger.write()
    await insertRecords(this.#tx, this.#records, this.#nowMs)
  }

  async #takeJob({ options, realm, key, upstreamId }: Arrival, { event, warnings }: JobInput): Promise<Taken> {
    const known = await this.#ledger.known(realm, event.pipelineId, upstreamId)
    this.#ledger.learnRoot(key, rootOf(event, known.roots, realm.instance).id, this.#nowMs)
    const isTooLate = known.earlier !== undefined && options.reexport === 'none'
    if (!isTooLate && hasNews(event)) {
      await keepJobNews(this.#tx, key, event, this.#nowMs)
      this.#jobNews.delete(key)
    }
    const reason = isTooLate
      ? `job hook of pipeline ${event.pipelineId}, which has been exported`
      : `job hook, kept for pipeline ${event.pipelineId}`
    return { kind: 'kept', because: 'job_hook', reason, warnings }
  }

  async #takePipeline(arrival: Arrival, input: PipelineInput): Promise<Taken> {
    const { received, options, pipelineId, key: pipeline } = arrival
    const { scope, body, receivedAtNs, plan } = received
    const known = await this.#known(arrival, input)
    const admitted = admission({ ...input, record: { ...input.record, receivedAtNs } }, known, options, body.digest)
    const { root } = admitted
    const kept = (because: KeptCause, reason: string, warnings = input.warnings): Taken => {
      this.#ledger.learnRoot(pipeline, root.id, this.#nowMs)
      return { kind: 'kept', because, reason, warnings }
    }
    if (admitted.kind === 'skip') {
      const wantsReexport = admitted.because === 'completed_again' && options.reexport === 'none'
      const hint = wantsReexport ? '; it has finished again, which the setting exporter.reexport is for' : ''
      return kept(admitted.because, admitted.reason + hint)
    }

    const { warnings } = admitted
    if (!this.#jobNews.has(pipeline)) await this.#loadJobNews([pipeline])
    const jobNews = this.#jobNews.get(pipeline)
    const record = withJobEvents(admitted.record, jobNews === undefined ? [] : readJobNews(jobNews, pipelineId))
    const { signals, destination, identity } = await plan(record)
    if (signals.length === 0) {
      return kept('nothing_to_export', `pipeline ${pipelineId}: nothing is to be exported`, warnings)
    }
    const key = recordKey(pipeline, known.exports + 1)
    for (const signal of signals) {
      const each = deliveryKey(key, signal)
      this.deliveries.push({ key: each, subject: each, lane: laneOf(signal, destination) })
    }
    const previousJobIds = record.previousExport?.jobIds
    this.#records.push({ key, scope, body: body.text, receivedAtNs, root, previousJobIds, jobNews, identity })
    this.#ledger.learnExport(pipeline, toEarlierExport(admitted, root.id, options), this.#nowMs)
    if (jobNews !== undefined && options.reexport === 'none') await forgetJobNews(this.#tx, pipeline)
    return { kind: 'enqueued', signals, warnings }
  }

  /** Looks an upstream pipeline of another project up in the scope of that project. */
  async #known(
    { received, realm, pipelineId, upstreamId }: Arrival,
    { record }: PipelineInput,
  ): Promise<KnownPipeline> {
    const { upstreamScope } = received
    if (upstreamScope === undefined || upstreamId === undefined || record.upstream?.otherProject !== true) {
      return this.#ledger.known(realm, pipelineId, upstreamId)
    }
    const known = await this.#ledger.known(realm, pipelineId, undefined)
    const roots = new Map(known.roots)
    const key = rootKey(realm.instance, upstreamId)
    roots.delete(key)
    const rootId =
      upstreamScope && (await this.#ledger.rootOf(pipelineKey({ ...realm, scope: upstreamScope }, upstreamId)))
    if (rootId) roots.set(key, rootId)
    return { ...known, roots }
  }

  async #loadJobNews(pipelines: readonly string[]): Promise<void> {
    const found = await findJobNews(this.#tx, pipelines)
    for (const pipeline of pipelines) this.#jobNews.set(pipeline, found.get(pipeline))
  }
}

/** Of others it does not matter yet what job hooks have told. */
function mayBeExported({ received, options }: Arrival): boolean {
  const { input } = received.body
  return input.kind === 'pipeline' && exportDecision(input.record, options).kind === 'export'
}

function hasNews({ retriesCount, runner, environment, failureReason }: JobInput['event']): boolean {
  return [retriesCount, runner, environment, failureReason].some((told) => told !== undefined)
}
