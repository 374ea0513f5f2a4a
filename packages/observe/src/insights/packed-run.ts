import { Distinct } from './distinct.ts'
import type { JobFacts, RunData, RunFacts } from './run-facts.ts'

/** A run with its jobs as the store keeps it: its texts as JSON, the numbers of its jobs in columns of bytes. */
export interface PackedRun {
  readonly facts_json: string
  readonly jobs: Uint8Array
}

/** The run, and the distinct texts of its jobs, to which the columns refer. */
interface RunTexts {
  readonly run: RunData
  readonly names: readonly string[]
  readonly stages: readonly (string | null)[]
  readonly statuses: readonly (string | null)[]
  readonly runners: readonly (string | null)[]
  readonly tags: readonly (readonly string[])[]
}

/** A run with its jobs in columns; each has an entry per job, in the order of their start. */
export interface UnpackedRun extends RunTexts {
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

const BYTES_PER_JOB = 3 * 8 + 5 * 2 + 1

/** The columns over the bytes of some jobs, the widest first, so that each is aligned. */
function columnsOver(buffer: ArrayBuffer, length: number) {
  const wide = (index: number) => new Float64Array(buffer, index * 8 * length, length)
  const short = (index: number) => new Uint16Array(buffer, (24 + index * 2) * length, length)
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
    isBridge: new Uint8Array(buffer, 34 * length, length),
  }
}

/** Packs a run. It has at most 65,536 jobs, because indexes have 16 bits. */
export function packRun({ jobs, ...run }: RunFacts): PackedRun {
  const buffer = new ArrayBuffer(jobs.length * BYTES_PER_JOB)
  const columns = columnsOver(buffer, jobs.length)
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
  const texts: RunTexts = {
    run,
    names: names.values,
    stages: stages.values,
    statuses: statuses.values,
    runners: runners.values,
    tags: tags.values.map((json) => JSON.parse(json)),
  }
  return { facts_json: JSON.stringify(texts), jobs: new Uint8Array(buffer) }
}

/** Returns the columns and texts of a stored run. */
export function unpackRun({ facts_json, jobs }: PackedRun): UnpackedRun {
  const texts = JSON.parse(facts_json) as RunTexts
  // A copy, because the columns have to begin at a multiple of 8.
  const buffer = new Uint8Array(jobs).buffer
  return { ...texts, ...columnsOver(buffer, jobs.length / BYTES_PER_JOB) }
}

/** Returns the run with an object per job. */
export function toRunFacts(unpacked: UnpackedRun): RunFacts {
  const { run, names, stages, statuses, runners, tags } = unpacked
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
