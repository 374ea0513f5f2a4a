import { type JobEnrichment, mergedJobEvents, type PipelineRecord, type RunId, rootKey } from '@penstock/forges'
import { RecentMap } from './recent-map.ts'

/**
 * Job hooks, and jobs in hooks of unfinished pipelines, that wait for the hook of the finished pipeline: one event per job, merged
 * from all of them.
 */
export class JobEvents {
  /** The events by job, by `rootKey` of the pipeline. */
  readonly #pipelines: RecentMap<string, Map<RunId, JobEnrichment>>
  readonly #capacity: number

  /**
   * @param capacity the maximum number of jobs; the pipelines mentioned least recently are evicted. Further jobs of a
   *   pipeline at this limit are ignored.
   */
  constructor(capacity: number) {
    this.#capacity = capacity
    this.#pipelines = new RecentMap({ entries: capacity, weight: { max: capacity, of: ({ size }) => size } })
  }

  add(instance: string, event: JobEnrichment): void {
    const key = rootKey(instance, event.pipelineId)
    const jobs = this.#pipelines.get(key) ?? new Map<RunId, JobEnrichment>()
    const earlier = jobs.get(event.jobId)
    if (earlier === undefined && jobs.size >= this.#capacity) return
    // Deleted while it changes, because the map counts the jobs when a pipeline is set and deleted.
    this.#pipelines.delete(key)
    jobs.set(event.jobId, earlier === undefined ? event : mergedJobEvents(earlier, event))
    this.#pipelines.set(key, jobs)
  }

  has(instance: string, { pipelineId, jobId }: JobEnrichment): boolean {
    return this.#pipelines.get(rootKey(instance, pipelineId))?.has(jobId) === true
  }

  of(instance: string, { id }: PipelineRecord): JobEnrichment[] {
    return [...(this.#pipelines.get(rootKey(instance, id))?.values() ?? [])]
  }
}
