import { getOrCreate } from '../../runs/map-entry.ts'
import type { RunEntry } from './run-table.ts'
import { startedIn, type TimeSpan } from './time-buckets.ts'
import { USUAL_RUNS } from './usual-runs.ts'

export interface HistoryFilter {
  readonly service?: string | undefined
  /** A full path or a name. */
  readonly project?: string | undefined
  readonly ref?: string | undefined
}

/**
 * Runs in the order of their start. What is usual for a run depends on the last successful ones of its kind, however old, so these
 * are found by an index: statistics of a week read no runs of the year before.
 */
export class OrderedRuns {
  readonly all: readonly RunEntry[]
  /** The successful runs without child pipelines, by kind, and by kind and ref. */
  #passed: ReadonlyMap<string, readonly RunEntry[]> | undefined

  constructor(all: readonly RunEntry[]) {
    this.all = all
  }

  /** Returns the runs that started in a range. */
  select(filter: HistoryFilter, span: TimeSpan): readonly RunEntry[] {
    const runs = startedIn(this.all, span)
    return isEmpty(filter) ? runs : runs.filter((run) => matches(run, filter))
  }

  /**
   * Returns the runs that started in a range, and before them those that decide what is usual for them: of each kind, the last
   * successful ones before the range.
   */
  selectWithUsual(filter: HistoryFilter, span: TimeSpan): readonly RunEntry[] {
    const runs = this.select(filter, span)
    this.#passed ??= passedByKind(this.all)
    const earlier: RunEntry[] = []
    for (const key of new Set(runs.filter(isPassed).map((run) => keyOf(run, filter)))) {
      const before = startedIn(this.#passed.get(key)!, { since: 0, until: span.since })
      let found = 0
      for (let at = before.length - 1; at >= 0 && found < USUAL_RUNS; at -= 1) {
        if (!matches(before[at]!, filter)) continue
        earlier.push(before[at]!)
        found += 1
      }
    }
    return [...earlier.sort((a, b) => a.start - b.start), ...runs]
  }
}

const isPassed = ({ status, isChild }: RunEntry): boolean => status === 'success' && !isChild

const keyOf = ({ kind, ref }: RunEntry, filter: HistoryFilter): string =>
  filter.ref === undefined ? String(kind) : `${kind} ${ref}`

function passedByKind(runs: readonly RunEntry[]): ReadonlyMap<string, readonly RunEntry[]> {
  const byKind = new Map<string, RunEntry[]>()
  for (const run of runs) {
    if (!isPassed(run)) continue
    for (const key of [String(run.kind), `${run.kind} ${run.ref}`]) getOrCreate(byKind, key, () => []).push(run)
  }
  return byKind
}

const isEmpty = ({ service, project, ref }: HistoryFilter): boolean => (service ?? project ?? ref) === undefined

/** Returns whether a run is one that a filter selects. */
export const matches = (run: RunEntry, { service, project, ref }: HistoryFilter): boolean =>
  (service === undefined || run.service === service) &&
  (project === undefined || run.project === project || run.projectName === project) &&
  (ref === undefined || run.ref === ref)
