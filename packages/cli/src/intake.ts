import { createHash } from 'node:crypto'
import {
  type ConvertOptions,
  exportDecision,
  hasTime,
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

/** What becomes of a body. */
export type Admission = Admitted | Skipped

export interface Admitted {
  readonly kind: 'export'
  readonly record: PipelineRecord
  /** Of what was delivered; tells a redelivery from news. '' where news does not count. */
  readonly digest: string
  /** The root of the trace it belongs to. */
  readonly rootId: bigint
  readonly warnings: Warnings
}

/** No failure: there is nothing to export, or not yet, or not again. */
interface Skipped {
  readonly kind: 'skip'
  readonly reason: string
}

/** Pipelines whose root, or whose export, is remembered. Beyond them a redelivery is exported again, under the same ids. */
export const rememberedPipelines = 100_000
/**
 * Jobs of earlier exports that are remembered under `reexport`, of all pipelines together; the pipelines exported longest ago
 * are forgotten with theirs.
 */
export const rememberedExportedJobs = 1_000_000
/** Jobs of which a hook is kept until their pipeline comes. */
const rememberedJobs = 100_000

/** What one run has learnt so far, and what it makes of the next body. */
export class Intake {
  readonly #options: ConvertOptions
  readonly #receivedAtNs: bigint | undefined
  readonly #nowNs: () => bigint
  readonly #roots = new RecentMap<string, bigint>({ entries: rememberedPipelines })
  readonly #exports = new RecentMap<string, EarlierExport>({
    entries: rememberedPipelines,
    weight: { max: rememberedExportedJobs, of: ({ jobIds }) => jobIds.length },
  })
  readonly #jobEvents = new JobEvents(rememberedJobs)

  /** `nowNs` stands in as receipt time for records that have no time at all. */
  constructor(options: ConvertOptions, receivedAtNs: bigint | undefined, nowNs: () => bigint) {
    this.#options = options
    this.#receivedAtNs = receivedAtNs
    this.#nowNs = nowNs
  }

  /** @throws {RecordError} for a body that is no record */
  admit(body: unknown): Admission {
    const input = readInput(body, { receivedAtNs: this.#receivedAtNs })
    return input.kind === 'job' ? this.#admitJob(input) : this.#admitPipeline(input)
  }

  /** Says that an admitted record has been exported. Its pipeline is not admitted again, unless `reexport` says so. */
  remember({ record, digest, rootId }: Admitted): void {
    const key = rootKey(recordInstance(record, this.#options), record.id)
    const jobIds = this.#options.reexport === 'none' ? noJobs : sentJobs(record)
    this.#exports.set(key, { digest, jobIds, rootId })
  }

  #admitJob({ event }: Extract<Input, { kind: 'job' }>): Admission {
    const instance = this.#options.instanceId ?? instanceOf(event.project.webUrl)
    this.#learnRoot(instance, event.pipelineId, event)
    this.#jobEvents.add(instance, event)
    return { kind: 'skip', reason: `job hook, kept for pipeline ${event.pipelineId}` }
  }

  #admitPipeline({ record, warnings }: Extract<Input, { kind: 'pipeline' }>): Admission {
    const instance = recordInstance(record, this.#options)
    const root = this.#learnRoot(instance, record.id, record)
    const skip = (reason: string): Skipped => ({ kind: 'skip', reason: `pipeline ${record.id}: ${reason}` })
    const digest = this.#options.reexport === 'none' ? '' : digestOf(record)
    const earlier = this.#exports.get(rootKey(instance, record.id))
    if (earlier !== undefined && earlier.rootId !== root.id) {
      return skip(`already exported in the trace of pipeline ${earlier.rootId}, and now said to belong to ${root.id}`)
    }
    if (earlier?.digest === digest) return skip('already exported')

    const enriched = withRoot(withJobEvents(record, this.#jobEvents.of(instance, record)), root)
    const candidate = earlier === undefined ? enriched : { ...enriched, previousExport: previousExport(earlier) }
    const decision = exportDecision(candidate, this.#options)
    if (decision.kind === 'skip') return skip(decision.reason)
    const all = root.from === 'cycle' ? withWarning(warnings, cycleWarning) : warnings
    const admitted = { kind: 'export', record: candidate, digest, rootId: root.id, warnings: all } as const
    if (hasTime(candidate)) return admitted
    const received = { ...candidate, receivedAtNs: this.#nowNs() }
    return { ...admitted, record: received, warnings: withWarning(all, timelessWarning) }
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

const timelessWarning: Warning = {
  path: '',
  reason: 'has no time at all; stands at the time of reading, or give --received-at',
}

function withWarning(warnings: Warnings, warning: Warning): Warnings {
  return { items: [...warnings.items, warning], total: warnings.total + 1 }
}

/** Kept small: there are many of them. */
interface EarlierExport {
  readonly digest: string
  readonly jobIds: BigInt64Array
  /** The root of the trace it went to. */
  readonly rootId: bigint
}

const noJobs = new BigInt64Array()

function sentJobs({ jobs, previousExport }: PipelineRecord): BigInt64Array {
  return BigInt64Array.from(new Set([...(previousExport?.jobIds ?? []), ...jobs.map((job) => job.id)]))
}

const previousExport = ({ jobIds }: EarlierExport): PreviousExport => ({ jobIds: new Set(jobIds) })

/** When a record reached us is not part of what it says. */
function digestOf(record: PipelineRecord): string {
  const said = { ...record, receivedAtNs: undefined }
  const text = JSON.stringify(said, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
  return createHash('sha256').update(text).digest('base64')
}
