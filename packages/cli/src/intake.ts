import { createHash } from 'node:crypto'
import {
  type ConvertOptions,
  exportDecision,
  type Input,
  instanceOf,
  type JobEvent,
  type PipelineRecord,
  type PreviousExport,
  readInput,
  recordInstance,
  rootKey,
  rootOf,
  type Warning,
  type Warnings,
  withJobEvents,
  withRoot,
} from '@penstock/converter'
import { JobEvents } from './job-events.ts'
import { RecentMap } from './recent-map.ts'

/** What becomes of a body. `skip` is no failure: there is nothing to export (yet, or again). */
export type Admission =
  | { readonly kind: 'export'; readonly record: PipelineRecord; readonly warnings: Warnings }
  | { readonly kind: 'skip'; readonly reason: string; readonly warnings: Warnings }

/** Pipelines whose root, or whose export, is remembered; some 30 MB when full. */
export const rememberedPipelines = 100_000
/** Jobs of which a hook is kept until their pipeline comes. */
export const rememberedJobs = 100_000

/** What one run has learnt so far, and what it makes of the next body. */
export class Intake {
  readonly #options: ConvertOptions
  readonly #receivedAtNs: bigint | undefined
  readonly #roots = new RecentMap<string, bigint>(rememberedPipelines)
  readonly #exports = new RecentMap<string, EarlierExport>(rememberedPipelines)
  readonly #jobEvents = new JobEvents(rememberedJobs)

  constructor(options: ConvertOptions, receivedAtNs: bigint | undefined) {
    this.#options = options
    this.#receivedAtNs = receivedAtNs
  }

  /** @throws {RecordError} for a body that is no record */
  admit(body: unknown): Admission {
    const input = readInput(body, { receivedAtNs: this.#receivedAtNs })
    return input.kind === 'job' ? this.#admitJob(input) : this.#admitPipeline(input)
  }

  /** Says that a record that was to be exported has been. Its pipeline is not exported again. */
  remember(record: PipelineRecord): void {
    const key = rootKey(recordInstance(record, this.#options), record.id)
    this.#exports.set(key, earlierExport(record, this.#options))
  }

  #admitJob({ event, warnings }: Extract<Input, { kind: 'job' }>): Admission {
    const instance = this.#options.instanceId ?? instanceOf(event.project.webUrl)
    this.#learnRoot(instance, event.pipelineId, event)
    this.#jobEvents.add(instance, event)
    return { kind: 'skip', reason: `job hook, kept for pipeline ${event.pipelineId}`, warnings }
  }

  #admitPipeline({ record, warnings }: Extract<Input, { kind: 'pipeline' }>): Admission {
    const instance = recordInstance(record, this.#options)
    const root = this.#learnRoot(instance, record.id, record)
    const known = withRoot(withJobEvents(record, this.#jobEvents.of(instance, record)), root)
    const earlier = this.#exports.get(rootKey(instance, record.id))
    const all = root.from === 'cycle' ? withWarning(warnings, cycleWarning) : warnings
    const skip = (reason: string): Admission => ({ kind: 'skip', reason: `pipeline ${record.id}: ${reason}`, warnings: all })
    if (earlier !== undefined && earlier.digest === digestOf(known, this.#options)) return skip('already exported')

    const candidate = earlier === undefined ? known : { ...known, previousExport: previousExport(earlier) }
    const decision = exportDecision(candidate, this.#options)
    return decision.kind === 'skip' ? skip(decision.reason) : { kind: 'export', record: candidate, warnings: all }
  }

  #learnRoot(instance: string, pipelineId: bigint, run: PipelineRecord | JobEvent) {
    const root = rootOf(run, this.#roots, instance)
    this.#roots.set(rootKey(instance, pipelineId), root.id)
    return root
  }
}

const cycleWarning: Warning = {
  path: 'source_pipeline',
  reason: 'leads back to the pipeline itself; read as a root pipeline',
}

function withWarning(warnings: Warnings, warning: Warning): Warnings {
  return { items: [...warnings.items, warning], total: warnings.total + 1 }
}

/** Kept small: there are many of them. */
interface EarlierExport {
  /** Tells a redelivery from news; '' where news does not count. */
  readonly digest: string
  readonly jobIds: BigInt64Array
}

/** Without `reexport` no second completion is exported, so there is nothing to compare it with. */
function earlierExport(record: PipelineRecord, options: ConvertOptions): EarlierExport {
  const sent = record.jobs.map((job) => job.id)
  const jobIds = options.reexport === 'none' ? [] : new Set([...(record.previousExport?.jobIds ?? []), ...sent])
  return { digest: digestOf(record, options), jobIds: BigInt64Array.from(jobIds) }
}

const previousExport = ({ jobIds }: EarlierExport): PreviousExport => ({ jobIds: new Set(jobIds) })

/** Of all that the record says; when and how often it reached us is not part of that. */
function digestOf(record: PipelineRecord, { reexport }: ConvertOptions): string {
  if (reexport === 'none') return ''
  const said = { ...record, receivedAtNs: undefined, previousExport: undefined }
  const text = JSON.stringify(said, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
  return createHash('sha256').update(text).digest('base64')
}
