import { type ConvertOptions, exportDecision, recordInstance, upstreamInstance } from '@penstock/converter'
import {
  type JobEvent,
  type JobRecord,
  type PipelineRecord,
  type RunId,
  rootKey,
  type UpstreamPipeline,
} from '@penstock/forges'
import { RecentMap } from './recent-map.ts'

/** The facts that are known about one pipeline. */
interface KnownPipeline {
  readonly id: RunId
  /** Whether the pipeline's own record has been read. */
  readonly isRead: boolean
  /** A record of the pipeline that is to be exported has been read, so all of its exported bridges are known. */
  readonly isExported: boolean
  readonly rootPipelineId: RunId | undefined
  readonly upstream: UpstreamPipeline | undefined
}

/**
 * Collects from records and job hooks which pipeline started which.
 *
 * The hook of a downstream pipeline names the upstream pipeline. In a REST API, the bridges of an upstream pipeline
 * name the downstream pipelines. At most `capacity` pipelines and as many bridges are stored; the least recently
 * mentioned are evicted first.
 */
export class PipelineLinks {
  readonly #options: ConvertOptions
  /** The pipelines by `rootKey`. */
  readonly #pipelines: RecentMap<string, KnownPipeline>
  /** The bridges that records list, by `rootKey` of their ids. */
  readonly #bridges: RecentMap<string, true>

  constructor(options: ConvertOptions, capacity: number) {
    this.#options = options
    this.#pipelines = new RecentMap({ entries: capacity })
    this.#bridges = new RecentMap({ entries: capacity })
  }

  learnRecord(record: PipelineRecord): void {
    const instance = recordInstance(record, this.#options)
    const isExported = exportDecision(record, this.#options).kind === 'export'
    const { id, rootPipelineId, upstream } = record
    this.#learn(instance, { id, isRead: true, isExported, rootPipelineId, upstream })
    for (const job of record.jobs) {
      if (!job.bridge) continue
      this.#bridges.set(rootKey(instance, job.id), true)
      this.#learnDownstream(instance, record, job)
    }
  }

  learnJobEvent(event: JobEvent): void {
    const { pipelineId: id, rootPipelineId, upstream } = event
    const known = { id, isRead: false, isExported: false, rootPipelineId, upstream }
    this.#learn(recordInstance(event, this.#options), known)
  }

  /**
   * Yields the `rootKey` of each pipeline with the id that leads towards its root: the root's if it is known, else the
   * parent's, else its own.
   */
  *roots(): Generator<[key: string, id: RunId]> {
    for (const [key, { id, isRead, rootPipelineId, upstream }] of this.#pipelines) {
      if (rootPipelineId !== undefined) yield [key, rootPipelineId]
      else if (upstream !== undefined && !upstream.otherProject) yield [key, upstream.pipelineId]
      else if (isRead) yield [key, id]
    }
  }

  /** Returns the record, completed with what other records contain about its upstream pipeline. */
  completed(record: PipelineRecord): PipelineRecord {
    const instance = recordInstance(record, this.#options)
    const learnt = this.#pipelines.get(rootKey(instance, record.id))?.upstream
    const upstream = mergedUpstream(record.upstream, learnt)
    if (upstream === undefined) return record
    const bridgeListed = this.#isBridgeListed(upstream, record)
    return { ...record, upstream: bridgeListed === undefined ? upstream : { ...upstream, bridgeListed } }
  }

  /** Returns whether the upstream record lists the bridge; `undefined` while that record is unknown. */
  #isBridgeListed(upstream: UpstreamPipeline, record: PipelineRecord): boolean | undefined {
    if (upstream.bridgeId === undefined) return undefined
    const home = upstreamInstance(upstream, record, this.#options)
    if (this.#bridges.has(rootKey(home, upstream.bridgeId))) return true
    return this.#pipelines.get(rootKey(home, upstream.pipelineId))?.isExported ? false : undefined
  }

  #learn(instance: string, news: KnownPipeline): void {
    const key = rootKey(instance, news.id)
    const known = this.#pipelines.get(key)
    const upstream = news.upstream?.pipelineId === news.id ? undefined : news.upstream
    this.#pipelines.set(key, {
      id: news.id,
      isRead: news.isRead || known?.isRead === true,
      isExported: news.isExported || known?.isExported === true,
      rootPipelineId: news.rootPipelineId ?? known?.rootPipelineId,
      upstream: mergedUpstream(upstream, known?.upstream),
    })
  }

  #learnDownstream(
    instance: string,
    { id, forge, attempt, project }: PipelineRecord,
    { id: bridgeId, downstream }: JobRecord,
  ): void {
    if (downstream === undefined) return
    const { pipelineId, projectId, projectWebUrl } = downstream
    const upstream: UpstreamPipeline = {
      pipelineId: id,
      attempt,
      bridgeId,
      otherProject: differ(projectId, project.id) ?? differ(projectWebUrl, project.webUrl) ?? false,
      projectWebUrl: project.webUrl,
      projectId: project.id,
      projectPath: project.path,
    }
    const home = { forge, project: { id: projectId, name: undefined, path: undefined, webUrl: projectWebUrl } }
    const isElsewhere = projectWebUrl !== undefined || (project.webUrl === undefined && upstream.otherProject)
    this.#learn(isElsewhere ? recordInstance(home, this.#options) : instance, {
      id: pipelineId,
      isRead: false,
      isExported: false,
      rootPipelineId: undefined,
      upstream,
    })
  }
}

/**
 * Merges two descriptions of the upstream pipeline: returns the first, with the bridge of the second if the first has
 * none.
 */
function mergedUpstream(
  one: UpstreamPipeline | undefined,
  other: UpstreamPipeline | undefined,
): UpstreamPipeline | undefined {
  if (one === undefined || other === undefined) return one ?? other
  if (one.bridgeId !== undefined || one.pipelineId !== other.pipelineId) return one
  return { ...one, bridgeId: other.bridgeId }
}

const differ = <T>(one: T | undefined, other: T | undefined): boolean | undefined =>
  one === undefined || other === undefined ? undefined : one !== other
