import { Distinct } from '../distinct.ts'
import { BRIDGE, type RunEntry, type RunTable } from './run-table.ts'

export interface ComputeMinutes {
  readonly by: 'project' | 'runner' | 'tag'
  readonly name: string
  readonly minutes: number
  readonly jobs: number
}

/** Times are added in whole microseconds, so that sums depend neither on the order of the jobs nor on that of their tags. */
const MICROSECONDS = 1_000_000

/**
 * Returns the minutes that jobs ran, by project, by runner and by tag: at most `maxEntries` of each, the most minutes first. By
 * tag, a job counts fully under each of its tags. Bridges use no runner and are left out.
 */
export function computeMinutes(table: RunTable, runs: readonly RunEntry[], maxEntries: number): ComputeMinutes[] {
  const { duration, outcome, runner, tagList } = table.columns
  const projects = new Distinct<string | null>()
  const projectOfRun = runs.map(({ project }) => projects.indexOf(project))
  const byProject = sumsFor(projects.values)
  const byRunner = sumsFor(table.runners)
  const byTagList = sumsFor(table.tagsOfList)
  for (const [index, { from, to }] of runs.entries()) {
    let sum = 0
    let jobs = 0
    for (let at = from; at < to; at += 1) {
      const seconds = duration[at]!
      if (outcome[at] === BRIDGE || seconds <= 0) continue
      const ran = Math.round(seconds * MICROSECONDS)
      sum += ran
      jobs += 1
      addTo(byRunner, runner[at]!, ran, 1)
      addTo(byTagList, tagList[at]!, ran, 1)
    }
    addTo(byProject, projectOfRun[index]!, sum, jobs)
  }
  return [
    ...largest('project', byProject, maxEntries),
    ...largest('runner', byRunner, maxEntries),
    ...largest('tag', sumsByTag(table, byTagList), maxEntries),
  ]
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
