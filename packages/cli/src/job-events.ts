import { type JobEvent, type PipelineRecord, rootKey } from '@penstock/converter'
import { RecentMap } from './recent-map.ts'

/** Job hooks that wait for the hook of their pipeline: one event per job, with all that its hooks have told. */
export class JobEvents {
  readonly #events: RecentMap<string, JobEvent>

  /** Beyond `capacity` jobs, what was heard of longest ago is forgotten. */
  constructor(capacity: number) {
    this.#events = new RecentMap(capacity)
  }

  add(instance: string, event: JobEvent): void {
    const key = rootKey(instance, event.jobId)
    const earlier = this.#events.get(key)
    this.#events.set(key, earlier === undefined ? event : merged(earlier, event))
  }

  of(instance: string, { jobs }: PipelineRecord): JobEvent[] {
    return jobs.flatMap(({ id }) => this.#events.get(rootKey(instance, id)) ?? [])
  }
}

/** The last that knows counts. */
function merged(earlier: JobEvent, later: JobEvent): JobEvent {
  return {
    ...later,
    failureReason: later.failureReason ?? earlier.failureReason,
    retriesCount: later.retriesCount ?? earlier.retriesCount,
    runner: later.runner ?? earlier.runner,
    environment: later.environment ?? earlier.environment,
  }
}
