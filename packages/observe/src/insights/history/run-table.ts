import { Distinct } from '../../runs/distinct.ts'
import { getOrCreate } from '../../runs/map-entry.ts'
import type { JobTexts, UnpackedRun } from '../../runs/packed-run.ts'
import type { RunData } from '../../runs/run-facts.ts'
import type { RunKind } from '../../runs/run-kind.ts'
import { ComputeUse, type UseColumns } from './compute-use.ts'

/**
 * A run in a table, with the places of its jobs in the columns, `from` up to, but without, `to`, and those of its rows in the columns of
 * compute time.
 */
export interface RunEntry extends RunData {
  /** The same number for runs of one kind. */
  readonly kind: number
  readonly slot: number
  readonly from: number
  readonly to: number
  readonly useFrom: number
  readonly useTo: number
}

/** Jobs of one project, stage and name. */
export interface JobKind {
  readonly project: string | null
  readonly stage: string | null
  readonly name: string
}

/** The jobs of a project with one name, whatever their stage. */
export type JobName = Omit<JobKind, 'stage'>

/** The bits of `JobColumns.outcome`. A bridge has neither of the results. */
export const PASSED = 1
export const FAILED = 2
export const BRIDGE = 4

/** The number of a missing text, and of a missing commit. */
export const NONE = 0
const FIRST_CAPACITY = 1_024

const columnTypes = {
  start: Float64Array,
  duration: Float64Array,
  critical: Float64Array,
  /** The index of its kind. */
  kind: Uint32Array,
  /** The slot of its run. */
  run: Uint32Array,
  /** A number in `runners`. */
  runner: Uint32Array,
  outcome: Uint8Array,
} as const

/** One entry per job in each column. */
export type JobColumns = { readonly [Name in keyof typeof columnTypes]: InstanceType<(typeof columnTypes)[Name]> }

/** The numbers in the columns, for the indexes of a run's texts. */
interface JobNumbers {
  /** The kind of each stage and name, set when they first occur together. */
  readonly kinds: number[]
  readonly outcomes: readonly number[]
  readonly runners: readonly number[]
  readonly tagLists: readonly number[]
}

/**
 * Runs and their jobs for statistics over a million jobs: an object per run, and a number per job and column. A job takes
 * 37 bytes. The places of removed runs are not used again.
 */
export class RunTable {
  readonly #slots: (RunEntry | undefined)[] = []
  readonly #kinds: JobKind[] = []
  readonly #names: JobName[] = []
  /** The number of the name of each kind. */
  readonly #nameOfKind: number[] = []
  readonly #nameNumbers = new Map<string | null, Map<string, number>>()
  readonly #kindNumbers = new Map<string | null, Map<string | null, Map<string, number>>>()
  readonly #texts = new Map<string, string>()
  /** The numbers of the texts of jobs that runs share, by project. */
  readonly #numbers = new WeakMap<JobTexts, Map<string | null, JobNumbers>>()
  readonly #runKinds = new Distinct<string>()
  readonly #shas = new Distinct<string | null>([null])
  readonly #runners = new Distinct<string | null>([null])
  readonly #tags = new Distinct<string | null>([null])
  readonly #tagLists = new Distinct<string>(['[]'])
  readonly #tagsOfList: (readonly number[])[] = [[]]
  readonly #use = new ComputeUse()
  #columns = makeColumns(FIRST_CAPACITY)
  /** The start and the commit of each run, by its slot. */
  #startOfRun = new Float64Array(FIRST_CAPACITY)
  #shaOfRun = new Uint32Array(FIRST_CAPACITY)
  #length = 0
  #jobs = 0
  #runs = 0

  get columns(): JobColumns {
    return this.#columns
  }

  get use(): UseColumns {
    return this.#use.columns
  }

  /** The start of each run by its slot. */
  get startOfRun(): Float64Array {
    return this.#startOfRun
  }

  /** The number of each run's commit by its slot. */
  get shaOfRun(): Uint32Array {
    return this.#shaOfRun
  }

  get kinds(): readonly JobKind[] {
    return this.#kinds
  }

  get names(): readonly JobName[] {
    return this.#names
  }

  get nameOfKind(): readonly number[] {
    return this.#nameOfKind
  }

  /** The runs that were not removed, and their jobs. */
  get size(): { readonly runs: number; readonly jobs: number } {
    return { runs: this.#runs, jobs: this.#jobs }
  }

  /** The places of removed jobs and runs. */
  get unused(): number {
    return this.#length - this.#jobs + this.#slots.length - this.#runs
  }

  /** One more than the largest number of a commit. */
  get shaCount(): number {
    return this.#shas.values.length
  }

  get runners(): readonly (string | null)[] {
    return this.#runners.values
  }

  get tags(): readonly (string | null)[] {
    return this.#tags.values
  }

  /** The numbers of the tags in each list. */
  get tagsOfList(): readonly (readonly number[])[] {
    return this.#tagsOfList
  }

  runAt(slot: number): RunEntry {
    return this.#slots[slot]!
  }

  add(unpacked: UnpackedRun): RunEntry {
    const { run, length } = unpacked
    const from = this.#length
    const slot = this.#slots.length
    this.#length += length
    this.#reserve(this.#length, slot + 1)
    this.#startOfRun[slot] = run.start
    this.#shaOfRun[slot] = this.#shas.indexOf(run.sha)
    const [useFrom, useTo] = this.#addJobs(unpacked, slot, from)
    // Written out, because objects that are made in the same way are several times as fast to read.
    const entry: RunEntry = {
      traceId: run.traceId,
      service: this.#shared(run.service),
      project: this.#shared(run.project),
      projectName: this.#shared(run.projectName),
      ref: this.#shared(run.ref),
      refKind: this.#shared(run.refKind),
      name: this.#shared(run.name),
      trigger: this.#shared(run.trigger),
      sha: this.#shared(run.sha),
      status: this.#shared(run.status),
      isChild: run.isChild,
      start: run.start,
      duration: run.duration,
      queue: run.queue,
      kind: this.#runKinds.indexOf(kindKey(run)),
      slot,
      from,
      to: from + length,
      useFrom,
      useTo,
    }
    this.#slots.push(entry)
    this.#runs += 1
    this.#jobs += length
    return entry
  }

  /** Fills the columns of a run's jobs, and returns the places of its compute time. */
  #addJobs(unpacked: UnpackedRun, slot: number, from: number): [useFrom: number, useTo: number] {
    const { length, texts } = unpacked
    const columns = this.#columns
    columns.start.set(unpacked.start, from)
    columns.duration.set(unpacked.duration, from)
    columns.critical.set(unpacked.critical, from)
    columns.run.fill(slot, from, from + length)
    const { kinds, outcomes, runners, tagLists } = this.#numbersOf(texts, unpacked.run.project)
    const names = texts.names.length
    const useFrom = this.#use.begin()
    for (let at = 0; at < length; at += 1) {
      const stageAndName = unpacked.stage[at]! * names + unpacked.name[at]!
      const isBridge = unpacked.isBridge[at] === 1
      const runner = runners[unpacked.runner[at]!]!
      columns.kind[from + at] = kinds[stageAndName] ??= this.#kindOf(unpacked, at)
      columns.outcome[from + at] = isBridge ? BRIDGE : outcomes[unpacked.status[at]!]!
      columns.runner[from + at] = runner
      // Bridges use no runner.
      const seconds = isBridge ? 0 : unpacked.duration[at]!
      if (seconds > 0) this.#use.add(runner, tagLists[unpacked.tagList[at]!]!, seconds)
    }
    return [useFrom, this.#use.end()]
  }

  remove({ slot, from, to }: RunEntry): void {
    this.#slots[slot] = undefined
    this.#runs -= 1
    this.#jobs -= to - from
  }

  /** Returns the runs in order of their start. */
  inOrder(): RunEntry[] {
    return this.#slots.filter((entry) => entry !== undefined).sort(byStart)
  }

  /** Returns one copy of equal texts. */
  #shared<Text extends string | null>(text: Text): Text {
    return text === null ? text : (getOrCreate(this.#texts, text, () => text) as Text)
  }

  #numbersOf(texts: JobTexts, project: string | null): JobNumbers {
    const ofProject = getOrCreate(this.#numbers, texts, () => new Map<string | null, JobNumbers>())
    return getOrCreate(ofProject, project, () => ({
      kinds: [],
      outcomes: texts.statuses.map((status) => (status === 'success' ? PASSED : status === 'failed' ? FAILED : 0)),
      runners: texts.runners.map((runner) => this.#runners.indexOf(runner)),
      tagLists: texts.tags.map((tags) => this.#tagListOf(tags)),
    }))
  }

  /** Returns the number of the kind of a run's job. */
  #kindOf({ run: { project }, texts, stage: stages, name: names }: UnpackedRun, at: number): number {
    const stage = texts.stages[stages[at]!]!
    const name = texts.names[names[at]!]!
    const stagesOf = getOrCreate(this.#kindNumbers, project, () => new Map<string | null, Map<string, number>>())
    return getOrCreate(
      getOrCreate(stagesOf, stage, () => new Map<string, number>()),
      name,
      () => {
        this.#nameOfKind.push(this.#nameNumberOf({ project, name }))
        return this.#kinds.push({ project, stage, name }) - 1
      },
    )
  }

  #nameNumberOf({ project, name }: JobName): number {
    const ofProject = getOrCreate(this.#nameNumbers, project, () => new Map<string, number>())
    return getOrCreate(ofProject, name, () => this.#names.push({ project, name }) - 1)
  }

  #tagListOf(tags: readonly string[]): number {
    const number = this.#tagLists.indexOf(JSON.stringify(tags))
    if (number === this.#tagsOfList.length) this.#tagsOfList.push(tags.map((tag) => this.#tags.indexOf(tag)))
    return number
  }

  #reserve(jobs: number, runs: number): void {
    const columns = this.#columns
    const capacity = capacityFor(columns.start.length, jobs)
    if (capacity > columns.start.length) {
      this.#columns = makeColumns(capacity)
      for (const name of Object.keys(columnTypes) as (keyof JobColumns)[]) this.#columns[name].set(columns[name])
    }
    const [starts, shas] = [this.#startOfRun, this.#shaOfRun]
    const places = capacityFor(starts.length, runs)
    if (places === starts.length) return
    this.#startOfRun = new Float64Array(places)
    this.#startOfRun.set(starts)
    this.#shaOfRun = new Uint32Array(places)
    this.#shaOfRun.set(shas)
  }
}

/** Texts of attributes are never empty, so an empty one is a missing one. */
const kindKey = ({ service, project, refKind, name, trigger }: RunKind): string =>
  `${service}\0${project ?? ''}\0${refKind ?? ''}\0${name ?? ''}\0${trigger ?? ''}`

/** Returns the capacity, doubled until it is large enough. */
function capacityFor(capacity: number, length: number): number {
  let doubled = capacity
  while (doubled < length) doubled *= 2
  return doubled
}

const makeColumns = (capacity: number): JobColumns =>
  Object.fromEntries(Object.entries(columnTypes).map(([name, Type]) => [name, new Type(capacity)])) as JobColumns

const byStart = (a: RunEntry, b: RunEntry): number =>
  a.start - b.start || (a.traceId < b.traceId ? -1 : a.traceId > b.traceId ? 1 : a.slot - b.slot)
