import { Distinct } from './distinct.ts'
import { getOrCreate } from './map-entry.ts'
import type { JobFacts, RunData, RunFacts } from './run-facts.ts'

/** A run with its jobs as the store keeps it: its texts as JSON, the numbers of its jobs in columns of bytes. */
export interface PackedRun {
  readonly facts_json: string
  readonly jobs: Uint8Array
}

/** The distinct texts of a run's jobs, to which the columns refer. */
export interface JobTexts {
  readonly names: readonly string[]
  readonly stages: readonly (string | null)[]
  readonly statuses: readonly (string | null)[]
  readonly runners: readonly (string | null)[]
  readonly tags: readonly (readonly string[])[]
}

/** A run with its jobs in columns; each has an entry per job, in the order of their start. */
export interface UnpackedRun {
  readonly run: RunData
  readonly texts: JobTexts
  readonly length: number
  readonly start: Float64Array
  readonly duration: Float64Array
  readonly critical: Float64Array
  /** Indexes into the texts. */
  readonly name: Uint16Array
  readonly stage: Uint16Array
  readonly status: Uint16Array
  readonly runner: Uint16Array
  readonly tagList: Uint16Array
  readonly isBridge: Uint8Array
}

/** The texts before the run, and before the names of its jobs. */
const RUN_BEGIN = '{"run":'
const TEXTS_BEGIN = ',"names":'

const BYTES_PER_JOB = 3 * 8 + 5 * 2 + 1

/** The columns over the bytes of some jobs, the widest first, so that each is aligned. */
function columnsOver({ buffer, byteOffset }: Uint8Array, length: number) {
  const wide = (index: number) => new Float64Array(buffer, byteOffset + index * 8 * length, length)
  const short = (index: number) => new Uint16Array(buffer, byteOffset + (24 + index * 2) * length, length)
  return {
    length,
    start: wide(0),
    duration: wide(1),
    critical: wide(2),
    name: short(0),
    stage: short(1),
    status: short(2),
    runner: short(3),
    tagList: short(4),
    isBridge: new Uint8Array(buffer, byteOffset + 34 * length, length),
  }
}

/** Packs a run. It has at most 65,536 jobs, because indexes have 16 bits. */
export function packRun({ jobs, ...run }: RunFacts): PackedRun {
  const bytes = new Uint8Array(jobs.length * BYTES_PER_JOB)
  const columns = columnsOver(bytes, jobs.length)
  const names = new Distinct<string>()
  const stages = new Distinct<string | null>()
  const statuses = new Distinct<string | null>()
  const runners = new Distinct<string | null>()
  const tags = new Distinct<string>()
  for (const [at, job] of jobs.entries()) {
    columns.start[at] = job.start
    columns.duration[at] = job.duration
    columns.critical[at] = job.critical
    columns.name[at] = names.indexOf(job.name)
    columns.stage[at] = stages.indexOf(job.stage)
    columns.status[at] = statuses.indexOf(job.status)
    columns.runner[at] = runners.indexOf(job.runner)
    columns.tagList[at] = tags.indexOf(JSON.stringify(job.tags))
    columns.isBridge[at] = Number(job.isBridge)
  }
  const texts: JobTexts = {
    names: names.values,
    stages: stages.values,
    statuses: statuses.values,
    runners: runners.values,
    tags: tags.values.map((json) => JSON.parse(json)),
  }
  return { facts_json: `${RUN_BEGIN}${JSON.stringify(run)}${JSON.stringify(texts).replace('{', ',')}`, jobs: bytes }
}

/** The number of texts that are kept; beyond it, all are forgotten. */
const MAX_TEXTS = 2_000

/** The texts of jobs by their JSON. Many runs of a project have the same, so reading these once saves most of the time. */
export class JobTextCache {
  readonly #texts = new Map<string, JobTexts>()

  parse(json: string): JobTexts {
    if (this.#texts.size >= MAX_TEXTS) this.#texts.clear()
    return getOrCreate(this.#texts, json, () => JSON.parse(json) as JobTexts)
  }
}

/** Returns the columns and texts of a stored run. */
export function unpackRun({ facts_json, jobs }: PackedRun, cache = new JobTextCache()): UnpackedRun {
  // A quote within a text is escaped, so the first place is the end of the run.
  const end = facts_json.indexOf(TEXTS_BEGIN)
  const run = JSON.parse(facts_json.slice(RUN_BEGIN.length, end)) as RunData
  const texts = cache.parse(`{${facts_json.slice(end + 1)}`)
  // Columns have to begin at a multiple of 8.
  const bytes = jobs.byteOffset % 8 === 0 ? jobs : new Uint8Array(jobs)
  return { run, texts, ...columnsOver(bytes, jobs.length / BYTES_PER_JOB) }
}

/** Returns the run with an object per job. */
export function toRunFacts(unpacked: UnpackedRun): RunFacts {
  const { run, texts } = unpacked
  const { names, stages, statuses, runners, tags } = texts
  const jobs = Array.from(
    { length: unpacked.length },
    (_, at): JobFacts => ({
      name: names[unpacked.name[at]!]!,
      stage: stages[unpacked.stage[at]!]!,
      status: statuses[unpacked.status[at]!]!,
      start: unpacked.start[at]!,
      duration: unpacked.duration[at]!,
      critical: unpacked.critical[at]!,
      isBridge: unpacked.isBridge[at] === 1,
      runner: runners[unpacked.runner[at]!]!,
      tags: tags[unpacked.tagList[at]!]!,
    }),
  )
  return { ...run, jobs }
}
