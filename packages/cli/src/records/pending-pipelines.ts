import { type RunId, rootKey } from '@penstock/forges'
import { RecentMap } from './recent-map.ts'

/** The pipelines that are known only from job hooks. They cannot be converted before their own hook arrives. */
export class PendingPipelines {
  readonly #waiting: RecentMap<string, RunId>
  readonly #arrived: RecentMap<string, true>

  /** @param capacity the maximum number of pipelines; the least recently mentioned are evicted first */
  constructor(capacity: number) {
    this.#waiting = new RecentMap({ entries: capacity })
    this.#arrived = new RecentMap({ entries: capacity })
  }

  addJobHook(instance: string, pipelineId: RunId): void {
    const key = rootKey(instance, pipelineId)
    if (!this.#arrived.has(key)) this.#waiting.set(key, pipelineId)
  }

  addPipeline(instance: string, pipelineId: RunId): void {
    const key = rootKey(instance, pipelineId)
    this.#waiting.delete(key)
    this.#arrived.set(key, true)
  }

  get ids(): readonly RunId[] {
    return [...this.#waiting.values()]
  }
}
