import { type JobEvent, mergedJobEvents, type PipelineRecord, rootKey } from '@penstock/converter'
import { RecentMap } from './recent-map.ts'

/** Job hooks that wait for the hook of their pipeline: one event per job, merged from all its hooks. */
export class JobEvents {
  readonly #events: RecentMap<string, JobEvent>

  /** @param capacity the maximum number of jobs; the least recently updated are evicted */
  constructor(capacity: number) {
    this.#events = new RecentMap({ entries: capacity })
  }

  add(instance: string, event: JobEvent): void {
    const key = rootKey(instance, event.jobId)
    const earlier = this.#events.get(key)
    this.#events.set(key, earlier === undefined ? event : mergedJobEvents(earlier, event))
  }

  of(instance: string, { jobs }: PipelineRecord): JobEvent[] {
    return jobs.flatMap(({ id }) => this.#events.get(rootKey(instance, id)) ?? [])
  }
}
