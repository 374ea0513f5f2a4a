import {
  type ApiMemory,
  type Downstream,
  isObject,
  type JsonObject,
  type Lineage,
  listDownstream,
  type RunReference,
  toId,
} from '@penstock/forges'
import type { Journal } from './journal.ts'

interface FamilyOptions {
  /** The project as GitLab returns it. */
  readonly project: JsonObject
  readonly journal: Journal
  readonly lineage: Lineage
}

/**
 * The relations of GitLab's pipelines: lists leave out the pipelines that bridges have started, and a pipeline does not name the one that
 * started it.
 */
export class PipelineFamily {
  readonly #options: FamilyOptions
  readonly #projectId: string
  #isNoticeGiven = false

  constructor(options: FamilyOptions) {
    const { project, journal, lineage } = options
    this.#options = options
    this.#projectId = String(toId(project.id))
    for (const [id, downstream] of journal.downstream) lineage.learn(id, project, downstream)
  }

  /** Returns the children of the project that the journal contains. */
  get knownChildren(): readonly RunReference[] {
    const ids = this.#childrenOf([...this.#options.journal.downstream.values()].flat())
    return ids.sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1)).map((id) => this.#reference(id))
  }

  /** Records the pipelines that a pipeline has started, and returns those of its own project. */
  learn(pipelineId: string, bundle: JsonObject | undefined): readonly RunReference[] {
    const bridges: unknown = bundle?.bridges
    const items = (Array.isArray(bridges) ? bridges.filter(isObject) : []).flatMap((value) => {
      const id = toId(value.id)
      return id === undefined ? [] : [{ id, value }]
    })
    const downstream = listDownstream(items)
    const { journal, lineage, project } = this.#options
    journal.learn(pipelineId, downstream)
    lineage.learn(pipelineId, project, downstream)
    return this.#childrenOf(downstream).map((id) => this.#reference(id))
  }

  /** Returns the bundle with its project and the pipeline that started it. */
  complete({ pipeline, ...parts }: JsonObject): JsonObject {
    const { project, lineage } = this.#options
    return { project, ...parts, ...lineage.withUpstream(pipeline as JsonObject) }
  }

  /** Returns once that the forge lists no bridges at all. */
  notice(memory: ApiMemory): string | undefined {
    if (this.#isNoticeGiven || memory.get('bridges') !== 'none') return undefined
    this.#isNoticeGiven = true
    return 'the forge serves neither trigger_jobs nor bridges of a pipeline; pipelines are exported without their bridges'
  }

  #reference(id: string): RunReference {
    return { project: this.#projectId, run: id }
  }

  #childrenOf(downstream: readonly Downstream[]): string[] {
    return downstream.filter(({ projectId }) => projectId === this.#projectId).map(({ id }) => id)
  }
}
