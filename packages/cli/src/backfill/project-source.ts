import { type ConvertOptions, exportDecision } from '@penstock/converter'
import {
  type ApiMemory,
  type Ask,
  type ForgeApi,
  type ForgeName,
  type JsonObject,
  type ListedRun,
  type PipelineRecord,
  RecordError,
  type RunAnswer,
  type RunReference,
  readInput,
} from '@penstock/forges'
import type { Signal } from '@penstock/otlp'
import type { Place, Reading } from '../input/record-stream.ts'
import type { Progress } from '../records/progress.ts'
import type { RecordSource } from '../records/record-run.ts'
import { formatCount } from '../text/wording.ts'
import type { ForgeClient } from './forge-client.ts'
import { ForgeError } from './forge-error.ts'
import type { Journal } from './journal.ts'
import type { PipelineFamily } from './pipeline-family.ts'
import { readAhead } from './read-ahead.ts'

export interface PipelineFilter {
  /** The earliest creation time. */
  readonly sinceNs: bigint | undefined
  /** The creation time before which pipelines are read. */
  readonly untilNs: bigint | undefined
  /** The statuses to read; `undefined` for any. */
  readonly statuses: readonly string[] | undefined
}

interface ProjectSourceOptions {
  readonly forgeName: ForgeName
  readonly api: ForgeApi
  readonly forge: Pick<ForgeClient, 'ask' | 'demand'>
  /** The name in messages. */
  readonly name: string
  /** The name or id of the project for the API. */
  readonly project: string
  readonly journal: Journal
  /** Present for GitLab. */
  readonly family: PipelineFamily | undefined
  readonly filter: PipelineFilter
  readonly signals: readonly Signal[]
  readonly convertOptions: ConvertOptions
  readonly perPage: number
  /** The maximum length of one pipeline, including its jobs. */
  readonly maxBytes: number
  readonly nowNs: bigint
  readonly notify: (line: string) => void
}

/** The number of runs that are read concurrently. Each takes two or three requests. */
const RUNS_AHEAD = 4

/** A run that was read, or the reason why it was not. */
interface Loaded {
  readonly reference: RunReference
  readonly bytes: number
  readonly result: RunAnswer | { readonly kind: 'unwanted' } | { readonly kind: 'refused'; readonly error: RecordError }
}

/**
 * The finished runs of one project that have not been accepted yet, in the order of the forge's list. A pipeline of GitLab is followed by
 * the pipelines that it started.
 */
export class ProjectSource implements RecordSource {
  readonly name: string
  readonly #options: ProjectSourceOptions
  /** The keys of the runs that this run has already yielded. */
  readonly #taken = new Set<string>()
  readonly #memory: ApiMemory = new Map()
  #hasBegun = false

  constructor(options: ProjectSourceOptions) {
    this.#options = options
    this.name = options.name
  }

  /** Whether a run of the project has been read. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  async *readings(progress: Progress): AsyncGenerator<Reading> {
    try {
      for await (const each of readAhead(this.#runs(progress), (run) => this.#loadOrTake(run), RUNS_AHEAD)) {
        yield* this.#withChildren(each, progress)
      }
    } catch (error) {
      if (!(error instanceof ForgeError || error instanceof RecordError)) throw error
      yield { kind: 'fault', place: place(this.name), error: new RecordError('', error.message) }
    }
  }

  /** Yields the children that the journal contains, then the runs of the list. */
  async *#runs(progress: Progress): AsyncGenerator<ListedRun> {
    const { api, forge, filter, perPage, family, nowNs, project } = this.#options
    for (const reference of family?.knownChildren ?? []) {
      if (!this.#isMissing(reference)) continue
      progress.expect(1)
      yield { reference, createdAtNs: undefined }
    }
    const { sinceNs, untilNs = nowNs, statuses } = filter
    const status = statuses?.length === 1 ? statuses[0] : undefined
    let isTotalKnown = false
    for await (const { runs, total, bytes } of api.listRuns(forge.demand, {
      project,
      sinceNs,
      untilNs,
      perPage,
      status,
    })) {
      this.#hasBegun = true
      progress.addBytes(bytes)
      // A total does not count the earlier attempts.
      const uncounted = isTotalKnown || total !== undefined ? runs.filter(({ bundle }) => bundle === undefined) : runs
      progress.expect(uncounted.length + (isTotalKnown ? 0 : (total ?? 0)))
      isTotalKnown ||= total !== undefined
      for (const run of runs) {
        if (this.#isWanted(run) && this.#isMissing(run.reference)) yield run
        else progress.addRecord()
      }
    }
  }

  /** Returns the key of a run in the journal. Each attempt has one. A folder of Jenkins has jobs that number their builds from 1. */
  #key({ project, run, attempt }: RunReference): string {
    const id = project === this.#options.project ? run : `${project}#${run}`
    return attempt === undefined ? id : `${id}/${attempt}`
  }

  #isMissing(reference: RunReference): boolean {
    const { journal, signals } = this.#options
    return journal.missing(this.#key(reference), signals).length > 0
  }

  #isWanted({ createdAtNs, bundle }: ListedRun): boolean {
    const { sinceNs, untilNs, statuses } = this.#options.filter
    if (createdAtNs !== undefined) {
      if (sinceNs !== undefined && createdAtNs < sinceNs) return false
      if (untilNs !== undefined && createdAtNs >= untilNs) return false
    }
    return bundle === undefined || statuses === undefined || this.#hasStatus(bundle, statuses)
  }

  #hasStatus(bundle: JsonObject, statuses: readonly string[]): boolean {
    const record = this.#record(bundle)
    return record === undefined || statuses.includes(record.status)
  }

  /** Returns the record of a bundle; `undefined` for a bundle that cannot be read, which the conversion reports. */
  #record(bundle: JsonObject): PipelineRecord | undefined {
    try {
      const input = readInput(bundle, { receivedAtNs: undefined, forge: this.#options.forgeName })
      return input.kind === 'pipeline' ? input.record : undefined
    } catch (error) {
      if (error instanceof RecordError) return undefined
      throw error
    }
  }

  /** Reads a run. An unfinished run will be skipped, so its list entry is returned, which is enough for the message. */
  async #loadOrTake(run: ListedRun): Promise<Loaded> {
    const { reference, bundle } = run
    if (bundle === undefined || this.#mayBeExported(bundle)) return this.#load(run)
    return { reference, bytes: 0, result: { kind: 'bundle', bundle } }
  }

  /** Returns whether a listed run may be exported. Returns true if that cannot be decided from the list. */
  #mayBeExported(bundle: JsonObject): boolean {
    const record = this.#record(bundle)
    if (record === undefined) return true
    const finishedAtNs = record.finishedAtNs ?? 0n
    return exportDecision({ ...record, finishedAtNs }, this.#options.convertOptions).kind === 'export'
  }

  async #load({ reference, bundle }: ListedRun): Promise<Loaded> {
    const { api, forge, maxBytes, filter } = this.#options
    let bytes = 0
    const ask: Ask = async (request) => {
      const answer = await forge.ask(request)
      bytes += answer?.bytes ?? 0
      if (bytes <= maxBytes) return answer
      throw new RecordError('', `with its jobs it is longer than ${formatCount(maxBytes)} bytes (--max-file-bytes)`)
    }
    try {
      const result = await api.readRun(ask, reference, this.#memory)
      // The status of an earlier attempt is in no list.
      const isEarlierAttempt = bundle === undefined && reference.attempt !== undefined
      const { statuses } = filter
      const isUnwanted =
        isEarlierAttempt &&
        statuses !== undefined &&
        result.kind === 'bundle' &&
        !this.#hasStatus(result.bundle, statuses)
      return { reference, bytes, result: isUnwanted ? { kind: 'unwanted' } : result }
    } catch (error) {
      if (error instanceof RecordError) return { reference, bytes, result: { kind: 'refused', error } }
      throw error
    }
  }

  /** Yields a run, then the pipelines that it started in its own project, because lists leave them out. */
  async *#withChildren(first: Loaded, progress: Progress): AsyncGenerator<Reading> {
    const { family, notify } = this.#options
    const members = [first]
    for (const { reference, bytes, result } of members) {
      const key = this.#key(reference)
      if (this.#taken.has(key)) {
        progress.addRecord()
        continue
      }
      this.#taken.add(key)
      this.#hasBegun = true
      progress.addBytes(bytes)
      const children = family?.learn(key, result.kind === 'bundle' ? result.bundle : undefined) ?? []
      const notice = family?.notice(this.#memory)
      if (notice !== undefined) notify(`${this.name}: ${notice}`)
      const reading = this.#reading(reference, result)
      if (reading === undefined) progress.addRecord()
      else yield reading
      for (const child of children) {
        if (this.#taken.has(this.#key(child)) || !this.#isMissing(child)) continue
        progress.expect(1)
        members.push(await this.#load({ reference: child, createdAtNs: undefined }))
      }
    }
  }

  #reading(reference: RunReference, result: Loaded['result']): Reading | undefined {
    const { journal, family, signals, notify } = this.#options
    const key = this.#key(reference)
    const at = place(family === undefined ? `${this.name} run ${key}` : `${this.name}/-/pipelines/${key}`)
    switch (result.kind) {
      case 'unwanted':
        return undefined
      case 'gone':
        notify(`${at.file}: no longer exists`)
        return undefined
      case 'refused':
        return { kind: 'fault', place: at, error: result.error }
      case 'bundle':
        return {
          kind: 'body',
          place: at,
          body: family?.complete(result.bundle) ?? result.bundle,
          outstanding: { signals: journal.missing(key, signals), accepted: (signal) => journal.accept(key, signal) },
        }
    }
  }
}

const place = (file: string): Place => ({ file, line: undefined, index: undefined })
