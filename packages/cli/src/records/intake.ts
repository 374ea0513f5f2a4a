import { type ConvertOptions, exportDecision, hasTime, recordInstance, withNamedParts } from '@penstock/converter'
import {
  type Admitted as AdmittedRecord,
  admission,
  type EarlierExport,
  toEarlierExport,
  withWarning,
} from '@penstock/exporter'
import {
  attemptsListedBy,
  type Intake as Facts,
  findRoot,
  type Input,
  type JobEvent,
  type PipelineRecord,
  RecordError,
  type RunId,
  readInput,
  rootKey,
  type Warning,
  withJobEvents,
} from '@penstock/forges'
import { JobEvents } from './job-events.ts'
import { PendingPipelines } from './pending-pipelines.ts'
import { PipelineLinks } from './pipeline-links.ts'
import { RecentMap } from './recent-map.ts'
import { UncountedAttempts } from './uncounted-attempts.ts'

/** The decision about a body. */
export type Admission = Admitted | Skipped

export interface Admitted extends AdmittedRecord {
  /** The root pipeline of the record's trace. */
  readonly rootId: RunId
}

/** A body that is never exported, cannot be exported yet, or has been exported before. This is not a failure. */
interface Skipped {
  readonly kind: 'skip'
  readonly reason: string
}

/**
 * The maximum number of pipelines for which the root and the export are remembered. The oldest are evicted. If an
 * evicted pipeline is delivered again, it is exported again with the same ids.
 */
export const rememberedPipelines = 100_000
/**
 * The highest number of stored jobs of earlier exports under `reexport`, for all pipelines together. The pipelines that were
 * exported least recently are evicted with their jobs.
 */
export const rememberedExportedJobs = 1_000_000
/** The maximum number of jobs with a hook that waits for the hook of its pipeline. */
const rememberedJobs = 100_000

/**
 * Decides whether each body is converted, stored or refused, based on the bodies that were read before.
 *
 * Inputs that can be read twice are surveyed first, so that a pipeline finds its parent, its bridge and its job hooks in
 * any order.
 */
export class Intake {
  readonly #options: ConvertOptions
  readonly #facts: Facts
  readonly #nowNs: () => bigint
  readonly #roots = new RecentMap<string, RunId>({ entries: rememberedPipelines })
  readonly #exports = new RecentMap<string, EarlierExport>({
    entries: rememberedPipelines,
    weight: { max: rememberedExportedJobs, of: ({ jobIds }) => jobIds.length },
  })
  readonly #links: PipelineLinks
  /** The job events of the survey, and of the records admitted so far. */
  readonly #surveyedJobEvents = new JobEvents(rememberedJobs)
  readonly #jobEvents = new JobEvents(rememberedJobs)
  readonly #surveyedAttempts = new UncountedAttempts(rememberedJobs)
  readonly #attempts = new UncountedAttempts(rememberedJobs)
  readonly #pendingPipelines = new PendingPipelines(rememberedPipelines)

  /** `nowNs` returns the receipt time for records that contain no time. */
  constructor(options: ConvertOptions, { receivedAtNs, forge }: Facts, nowNs: () => bigint) {
    this.#options = options
    this.#facts = { receivedAtNs, forge }
    this.#nowNs = nowNs
    this.#links = new PipelineLinks(options, rememberedPipelines)
  }

  /** Reads a body of the survey, before any body is admitted. Invalid bodies are ignored here, because `admit` refuses them. */
  survey(body: unknown): void {
    const read = this.#readable(body)
    const input = read && this.#withFoundAttempt(this.#surveyedAttempts, read)
    if (input?.kind === 'pipeline') {
      this.#links.learnRecord(input.record)
      if (exportDecision(input.record, this.#options).kind === 'skip')
        this.#keepAttempts(this.#surveyedJobEvents, input.record)
    }
    if (input?.kind !== 'job') return
    this.#links.learnJobEvent(input.event)
    this.#surveyedJobEvents.add(recordInstance(input.event, this.#options), input.event)
  }

  /** Ends the survey. */
  surveyed(): void {
    for (const [key, id] of this.#links.roots()) this.#roots.set(key, id)
  }

  /** @throws {RecordError} for a body that is no record */
  admit(body: unknown): Admission {
    const input = this.#withFoundAttempt(this.#attempts, readInput(body, this.#facts))
    if (input.kind === 'job') return this.#admitJob(input.event)
    return this.#admitPipeline({ ...input, record: withNamedParts(input.record, this.#options) })
  }

  /** Records that an admitted record has been exported. Its pipeline is not admitted again, except under `reexport`. */
  remember(admitted: Admitted): void {
    this.#exports.set(this.#keyOf(admitted.record), toEarlierExport(admitted, admitted.rootId, this.#options))
  }

  /** The pipelines for which only job hooks have arrived. */
  get pendingPipelines(): readonly RunId[] {
    return this.#pendingPipelines.ids
  }

  #readable(body: unknown): Input | undefined {
    try {
      return readInput(body, this.#facts)
    } catch (error) {
      if (error instanceof RecordError) return undefined
      throw error
    }
  }

  #withFoundAttempt(attempts: UncountedAttempts, input: Input): Input {
    if (input.kind === 'job') {
      const key = rootKey(
        recordInstance({ ...input.event, runAttempt: undefined }, this.#options),
        input.event.pipelineId,
      )
      return { ...input, event: attempts.ofJob(key, input.event) }
    }
    return { ...input, record: attempts.ofRun(this.#keyOf({ ...input.record, attempt: undefined }), input.record) }
  }

  #admitJob(event: JobEvent): Admission {
    const instance = recordInstance(event, this.#options)
    this.#links.learnJobEvent(event)
    this.#roots.set(rootKey(instance, event.pipelineId), findRoot(event, this.#roots, instance).id)
    this.#jobEvents.add(instance, event)
    this.#pendingPipelines.addJobHook(instance, event.pipelineId)
    const isUsed = this.#options.reexport !== 'none' || this.#surveyedJobEvents.has(instance, event)
    const isTooLate = !isUsed && this.#exports.has(rootKey(instance, event.pipelineId))
    const reason = isTooLate
      ? `job hook of pipeline ${event.pipelineId}, which has been exported without it`
      : `job hook, kept for pipeline ${event.pipelineId}`
    return { kind: 'skip', reason }
  }

  #admitPipeline(input: Extract<Input, { kind: 'pipeline' }>): Admission {
    const key = this.#keyOf(input.record)
    this.#pendingPipelines.addPipeline(recordInstance(input.record, this.#options), input.record.id)
    const known = { roots: this.#roots, earlier: this.#exports.get(key) }
    this.#links.learnRecord(input.record)
    const linked = { ...input, record: this.#links.completed(input.record) }
    const { root, ...admitted } = admission(linked, known, this.#options)
    this.#roots.set(key, root.id)
    if (admitted.kind === 'skip') {
      if (admitted.code === 'not_final') this.#keepAttempts(this.#jobEvents, input.record)
      return admitted
    }
    const instance = recordInstance(input.record, this.#options)
    const events = [this.#jobEvents, this.#surveyedJobEvents].flatMap((all) => all.of(instance, input.record))
    const record = withJobEvents(admitted.record, events)
    if (hasTime(record)) return { ...admitted, record, rootId: root.id }
    return {
      ...admitted,
      record: { ...record, receivedAtNs: this.#nowNs() },
      rootId: root.id,
      warnings: withWarning(admitted.warnings, timelessWarning),
    }
  }

  /** Keeps the attempts that an unfinished pipeline lists: the record of the finished one lacks those that were retried. */
  #keepAttempts(events: JobEvents, record: PipelineRecord): void {
    const instance = recordInstance(record, this.#options)
    for (const attempt of attemptsListedBy(record)) events.add(instance, attempt)
  }

  #keyOf(record: PipelineRecord): string {
    return rootKey(recordInstance(record, this.#options), record.id)
  }
}

const timelessWarning: Warning = {
  path: '',
  reason: 'has no time at all; stands at the time of reading, or give --received-at',
}
