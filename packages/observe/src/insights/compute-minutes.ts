import { entryOf } from '../map-entry.ts'
import { BRIDGE, NONE, type RunEntry, type RunTable } from './run-table.ts'

export interface ComputeMinutes {
  readonly by: 'project' | 'runner' | 'tag'
  readonly name: string
  readonly minutes: number
  readonly jobs: number
}

const MAX_ENTRIES = 50

/**
 * Returns the minutes that jobs ran, by project, by runner and by tag; the most minutes first. By tag, a job counts fully under
 * each of its tags. Bridges use no runner and are left out.
 */
export function computeMinutes(table: RunTable, runs: readonly RunEntry[]): ComputeMinutes[] {
  const { duration, outcome, runner, tagList } = table.columns
  const projects = new Map<string | null, number>()
  const projectOfRun = runs.map(({ project }) => entryOf(projects, project, () => projects.size))
  const byProject = new Sums([...projects.keys()])
  const byRunner = new Sums(table.runners)
  const byTag = new Sums(table.tags)
  for (const [index, { from, to }] of runs.entries()) {
    const project = projectOfRun[index]!
    for (let at = from; at < to; at += 1) {
      const seconds = duration[at]!
      if (outcome[at] === BRIDGE || seconds <= 0) continue
      byProject.add(project, seconds)
      byRunner.add(runner[at]!, seconds)
      const list = tagList[at]!
      if (list !== NONE) for (const tag of table.tagsOfList[list]!) byTag.add(tag, seconds)
    }
  }
  return [...byProject.largest('project'), ...byRunner.largest('runner'), ...byTag.largest('tag')]
}

/** Seconds and jobs by the number of a name. */
class Sums {
  readonly #names: readonly (string | null)[]
  readonly #seconds: Float64Array
  readonly #jobs: Float64Array

  constructor(names: readonly (string | null)[]) {
    this.#names = names
    this.#seconds = new Float64Array(names.length)
    this.#jobs = new Float64Array(names.length)
  }

  add(number: number, seconds: number): void {
    this.#seconds[number] = this.#seconds[number]! + seconds
    this.#jobs[number] = this.#jobs[number]! + 1
  }

  largest(by: ComputeMinutes['by']): ComputeMinutes[] {
    return this.#names
      .flatMap((name, number) =>
        name === null || this.#jobs[number] === 0
          ? []
          : [{ by, name, minutes: this.#seconds[number]! / 60, jobs: this.#jobs[number]! }],
      )
      .sort((a, b) => b.minutes - a.minutes || (a.name < b.name ? -1 : 1))
      .slice(0, MAX_ENTRIES)
  }
}
