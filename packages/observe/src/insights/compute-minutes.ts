import { Distinct } from '../runs/distinct.ts'
import { MICROSECONDS } from './history/compute-use.ts'
import type { RunEntry, RunTable } from './history/run-table.ts'

export interface ComputeMinutes {
  readonly by: 'project' | 'runner' | 'tag'
  readonly name: string
  readonly minutes: number
  readonly jobs: number
}

/**
 * Returns the minutes that jobs ran, by project, by runner and by tag: at most `maxEntries` of each, the most minutes first. By
 * tag, a job counts fully under each of its tags. Bridges use no runner and are left out.
 */
export function computeMinutes(table: RunTable, runs: readonly RunEntry[], maxEntries: number): ComputeMinutes[] {
  const { runner, tagList, time, jobs } = table.use
  const projects = new Distinct<string | null>()
  const byProject: Totals[] = []
  const byRunner = sumsFor(table.runners)
  const byTagList = sumsFor(table.tagsOfList)
  for (const { project, useFrom, useTo } of runs) {
    const number = projects.indexOf(project)
    if (number === byProject.length) byProject.push({ time: 0, jobs: 0 })
    const ofProject = byProject[number]!
    for (let row = useFrom; row < useTo; row += 1) {
      ofProject.time += time[row]!
      ofProject.jobs += jobs[row]!
      addTo(byRunner, runner[row]!, time[row]!, jobs[row]!)
      addTo(byTagList, tagList[row]!, time[row]!, jobs[row]!)
    }
  }
  return [
    ...largest('project', sumsOf(projects.values, byProject), maxEntries),
    ...largest('runner', byRunner, maxEntries),
    ...largest('tag', sumsByTag(table, byTagList), maxEntries),
  ]
}

/** Returns the minutes that all jobs of some runs ran together. */
export function totalMinutes({ use: { time } }: RunTable, runs: readonly RunEntry[]): number {
  let sum = 0
  for (const { useFrom, useTo } of runs) for (let row = useFrom; row < useTo; row += 1) sum += time[row]!
  return sum / (60 * MICROSECONDS)
}

function sumsByTag({ tags }: RunTable, { names: lists, time, jobs }: Sums<readonly number[]>): Sums<string | null> {
  const byTag = sumsFor(tags)
  for (const [number, list] of lists.entries()) {
    for (const tag of list) addTo(byTag, tag, time[number]!, jobs[number]!)
  }
  return byTag
}

/** Microseconds and jobs by the number of a name. */
interface Sums<Name> {
  readonly names: readonly Name[]
  readonly time: Float64Array
  readonly jobs: Float64Array
}

interface Totals {
  time: number
  jobs: number
}

const sumsOf = (names: readonly (string | null)[], totals: readonly Totals[]): Sums<string | null> => ({
  names,
  time: Float64Array.from(totals, ({ time }) => time),
  jobs: Float64Array.from(totals, ({ jobs }) => jobs),
})

const sumsFor = <Name>(names: readonly Name[]): Sums<Name> => ({
  names,
  time: new Float64Array(names.length),
  jobs: new Float64Array(names.length),
})

function addTo(sums: Sums<unknown>, number: number, time: number, jobs: number): void {
  sums.time[number] = sums.time[number]! + time
  sums.jobs[number] = sums.jobs[number]! + jobs
}

const largest = (
  by: ComputeMinutes['by'],
  { names, time, jobs }: Sums<string | null>,
  maxEntries: number,
): ComputeMinutes[] =>
  names
    .flatMap((name, number) =>
      name === null || jobs[number] === 0
        ? []
        : [{ by, name, minutes: time[number]! / (60 * MICROSECONDS), jobs: jobs[number]! }],
    )
    .sort((a, b) => b.minutes - a.minutes || (a.name < b.name ? -1 : 1))
    .slice(0, maxEntries)
