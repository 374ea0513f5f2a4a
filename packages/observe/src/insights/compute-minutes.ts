import { entryOf, type JobFacts, type RunFacts } from './run-facts.ts'

export interface ComputeMinutes {
  readonly by: 'project' | 'runner' | 'tag'
  readonly name: string
  readonly minutes: number
  readonly jobs: number
}

const MAX_ENTRIES = 50

const groupings: Readonly<Record<ComputeMinutes['by'], (run: RunFacts, job: JobFacts) => readonly string[]>> = {
  project: ({ project }) => (project === null ? [] : [project]),
  runner: (_, { runner }) => (runner === null ? [] : [runner]),
  tag: (_, { tags }) => tags,
}

/**
 * Returns the minutes that jobs ran, by project, by runner and by tag; the most minutes first. By tag, a job counts fully under
 * each of its tags. Bridges use no runner and are left out.
 */
export function computeMinutes(runs: readonly RunFacts[]): ComputeMinutes[] {
  return Object.entries(groupings).flatMap(([by, namesOf]) => {
    const sums = new Map<string, { seconds: number; jobs: number }>()
    for (const run of runs) {
      for (const job of run.jobs) {
        if (job.isBridge || job.duration <= 0) continue
        for (const name of namesOf(run, job)) {
          const sum = entryOf(sums, name, () => ({ seconds: 0, jobs: 0 }))
          sum.seconds += job.duration
          sum.jobs += 1
        }
      }
    }
    return [...sums]
      .map(([name, { seconds, jobs }]) => ({ by: by as ComputeMinutes['by'], name, minutes: seconds / 60, jobs }))
      .sort((a, b) => b.minutes - a.minutes || (a.name < b.name ? -1 : 1))
      .slice(0, MAX_ENTRIES)
  })
}
