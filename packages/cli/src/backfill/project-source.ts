import { type ConvertOptions, exportDecision } from '@penstock/converter'
import {
  type Downstream,
  isObject,
  type JsonObject,
  type Lineage,
  listDownstream,
  parseDate,
  RecordError,
  readInput,
  toId,
} from '@penstock/forges'
import type { Signal } from '@penstock/otlp'
import type { Place, Reading } from '../input/record-stream.ts'
import type { Progress } from '../records/progress.ts'
import type { RecordSource } from '../records/record-run.ts'
import { formatCount } from '../text/wording.ts'
import { BridgeLists, unlessMissing } from './bridge-lists.ts'
import type { ForgeClient, Item } from './forge-client.ts'
import { ForgeError } from './forge-error.ts'
import type { Journal } from './journal.ts'
import { listAll, listAscending } from './listing.ts'
import { readAhead } from './read-ahead.ts'

export interface PipelineFilter {
  /** The earliest creation time. */
  readonly sinceNs: bigint | undefined
  /** The creation time before which pipelines are read. */
  readonly untilNs: bigint | undefined
  /** The statuses to read; `undefined` for any. */
  readonly statuses: readonly string[] | undefined
}

interface ProjectSourceOptions {
  readonly forge: ForgeClient
  /** The project as the forge returns it. */
  readonly project: JsonObject
  readonly journal: Journal
  readonly lineage: Lineage
  readonly filter: PipelineFilter
  readonly signals: readonly Signal[]
  readonly convertOptions: ConvertOptions
  readonly perPage: number
  /** The maximum length of one pipeline, including its jobs. */
  readonly maxBytes: number
  readonly notify: (line: string) => void
}

/** The number of pipelines that are read concurrently. Each takes three requests. */
const PIPELINES_AHEAD = 4
/** The maximum number of jobs per pipeline. GitLab allows some thousands. */
const MAX_JOBS = 100_000
const MAX_PIPELINES = 2_000_000

/** A pipeline that was read, or the reason why it was not. */
interface Loaded {
  readonly id: bigint
  readonly bytes: number
  readonly result:
    | { readonly kind: 'bundle'; readonly bundle: { readonly pipeline: JsonObject; readonly [part: string]: unknown } }
    | { readonly kind: 'refused'; readonly error: RecordError }
    | { readonly kind: 'gone' }
  readonly downstream: readonly Downstream[]
}

/**
 * The finished pipelines of one project that have not been accepted yet, oldest first. Each is followed by the
 * pipelines that it started.
 */
export class ProjectSource implements RecordSource {
  readonly name: string
  readonly #options: ProjectSourceOptions
  readonly #projectId: string
  readonly #path: string
  /** The pipelines that this run has already yielded. */
  readonly #taken = new Set<bigint>()
  readonly #bridges = new BridgeLists()
  #hasBegun = false

  constructor(options: ProjectSourceOptions) {
    const { project, journal, lineage } = options
    this.#options = options
    this.#projectId = String(toId(project.id))
    this.#path = `/projects/${this.#projectId}/pipelines`
    this.name = typeof project.path_with_namespace === 'string' ? project.path_with_namespace : this.#projectId
    for (const [id, downstream] of journal.downstream) lineage.learn(id, project, downstream)
  }

  /** Whether a pipeline of the project has been read. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  async *readings(progress: Progress): AsyncGenerator<Reading> {
    try {
      const loaded = readAhead(this.#pipelines(progress), (item) => this.#loadOrTake(item), PIPELINES_AHEAD)
      for await (const each of loaded) yield* this.#family(each, progress)
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error
      yield { kind: 'fault', place: place(this.name), error: new RecordError('', error.message) }
    }
  }

  /** Yields the children that the journal contains, then the pipelines of the list. */
  async *#pipelines(progress: Progress): AsyncGenerator<Item> {
    const { forge, filter, perPage, journal } = this.#options
    for (const id of this.#knownChildren()) {
      progress.expect(1)
      yield { id, value: {} }
    }
    const { sinceNs, statuses } = filter
    const query = {
      order_by: 'id',
      sort: 'asc',
      per_page: perPage,
      // A pipeline created since then was also updated since then. Its creation time is checked below.
      updated_after: sinceNs === undefined ? undefined : new Date(Number(sinceNs / 1_000_000n)).toISOString(),
      status: statuses?.length === 1 ? statuses[0] : undefined,
    }
    const listed = listAscending({ forge, path: this.#path, query, maxItems: MAX_PIPELINES }, (page, number) => {
      this.#hasBegun = true
      progress.addBytes(page.bytes)
      if (number === 1) progress.expect(page.total ?? 0)
    })
    for await (const item of listed) {
      const isWanted = isWithin(item.value, filter) && journal.missing(item.id, this.#options.signals).length > 0
      if (isWanted) yield item
      else progress.addRecord()
    }
  }

  #knownChildren(): bigint[] {
    const { journal, signals } = this.#options
    const children = [...journal.downstream.values()].flat().filter((child) => child.projectId === this.#projectId)
    return children
      .map(({ id }) => BigInt(id))
      .filter((id) => journal.missing(id, signals).length > 0)
      .sort((a, b) => (a < b ? -1 : 1))
  }

  /**
   * Reads a pipeline. An unfinished pipeline will be skipped, so its list entry is returned, which is enough for the
   * message.
   */
  async #loadOrTake(item: Item): Promise<Loaded> {
    const isListed = 'status' in item.value
    if (!isListed || mayBeExported(item.value, this.#options.convertOptions)) return this.#load(item.id)
    return {
      id: item.id,
      bytes: 0,
      result: { kind: 'bundle', bundle: { pipeline: item.value, jobs: [] } },
      downstream: [],
    }
  }

  async #load(id: bigint): Promise<Loaded> {
    const { forge, maxBytes } = this.#options
    const path = `${this.#path}/${id}`
    let bytes = 0
    const onRead = (read: number): void => {
      bytes += read
      if (bytes <= maxBytes) return
      throw new RecordError('', `with its jobs it is longer than ${formatCount(maxBytes)} bytes (--max-file-bytes)`)
    }
    const all = (part: string, query: Readonly<Record<string, string>>) =>
      listAll({ forge, path: `${path}/${part}`, query: { ...query, per_page: 100 }, maxItems: MAX_JOBS }, onRead)
    const refused = (error: RecordError): Loaded => ({ id, bytes, result: { kind: 'refused', error }, downstream: [] })
    try {
      const [pipeline, jobs, bridges] = await Promise.all([
        unlessMissing(forge.object(path, onRead)),
        unlessMissing(all('jobs', { include_retried: 'true' })),
        this.#bridges.read((part) => all(part, {})),
      ])
      // A pipeline that was deleted after it was listed. A missing list alone does not mean that.
      const isWhole = jobs !== undefined && bridges !== undefined
      if (pipeline === undefined || (!isWhole && (await unlessMissing(forge.object(path))) === undefined)) {
        return { id, bytes, result: { kind: 'gone' }, downstream: [] }
      }
      if (jobs === undefined) return refused(missingList(`${path}/jobs`))
      if (bridges === undefined && !this.#findsNoBridges()) return refused(missingList(`the bridges of ${path}`))
      const listed = this.#bridges.mayExist ? (bridges ?? []) : undefined
      const bundle = {
        pipeline,
        jobs: valuesOf(jobs),
        ...(listed && { bridges: valuesOf(listed) }),
        commit: commitOf(pipeline, [...jobs, ...(listed ?? [])]),
      }
      return { id, bytes, result: { kind: 'bundle', bundle }, downstream: listDownstream(listed ?? []) }
    } catch (error) {
      if (error instanceof RecordError) return refused(error)
      throw error
    }
  }

  /** Returns whether the forge lists no bridges at all, and prints that once. */
  #findsNoBridges(): boolean {
    if (!this.#bridges.mayExist) return true
    const hasNone = this.#bridges.recordMissing()
    if (hasNone) {
      this.#options.notify(
        `${this.name}: the forge serves neither trigger_jobs nor bridges of a pipeline; pipelines are exported without their bridges`,
      )
    }
    return hasNone
  }

  /** Yields the pipeline, then the pipelines that it started in its own project, because lists leave them out. */
  async *#family(first: Loaded, progress: Progress): AsyncGenerator<Reading> {
    const family = [first]
    for (const member of family) {
      if (this.#taken.has(member.id)) {
        progress.addRecord()
        continue
      }
      this.#taken.add(member.id)
      this.#hasBegun = true
      progress.addBytes(member.bytes)
      const { journal, lineage, project, signals } = this.#options
      journal.learn(member.id, member.downstream)
      lineage.learn(String(member.id), project, member.downstream)
      const reading = this.#reading(member)
      if (reading === undefined) progress.addRecord()
      else yield reading
      for (const { id, projectId } of member.downstream) {
        if (projectId !== this.#projectId || this.#taken.has(BigInt(id))) continue
        if (journal.missing(BigInt(id), signals).length === 0) continue
        progress.expect(1)
        family.push(await this.#load(BigInt(id)))
      }
    }
  }

  #reading({ id, result }: Loaded): Reading | undefined {
    const { journal, lineage, project, signals, notify } = this.#options
    const at = place(`${this.name}/-/pipelines/${id}`)
    switch (result.kind) {
      case 'gone':
        notify(`${at.file}: no longer exists`)
        return undefined
      case 'refused':
        return { kind: 'fault', place: at, error: result.error }
      case 'bundle': {
        const { pipeline, ...parts } = result.bundle
        return {
          kind: 'body',
          place: at,
          body: { project, ...parts, ...lineage.withUpstream(pipeline) },
          outstanding: {
            signals: journal.missing(id, signals),
            accepted: (signal) => journal.accept(id, signal),
          },
        }
      }
    }
  }
}

/** Returns whether a listed pipeline may be exported. Returns true if that cannot be decided from the list. */
function mayBeExported(listed: JsonObject, options: ConvertOptions): boolean {
  try {
    const input = readInput({ pipeline: listed, jobs: [] }, { receivedAtNs: undefined })
    if (input.kind !== 'pipeline') return true
    const finishedAtNs = input.record.finishedAtNs ?? 0n
    return exportDecision({ ...input.record, finishedAtNs }, options).kind === 'export'
  } catch (error) {
    if (error instanceof RecordError) return true
    throw error
  }
}

function isWithin(listed: JsonObject, { sinceNs, untilNs, statuses }: PipelineFilter): boolean {
  if (statuses !== undefined && !statuses.includes(String(listed.status))) return false
  const createdAtNs = parseDate(listed.created_at)
  if (createdAtNs === undefined) return true
  return (sinceNs === undefined || createdAtNs >= sinceNs) && (untilNs === undefined || createdAtNs < untilNs)
}

/** Returns the commit, which REST contains only in jobs and bridges. */
const commitOf = ({ sha }: JsonObject, items: readonly Item[]): JsonObject | undefined =>
  items.map(({ value }) => value.commit).find((commit) => isObject(commit) && commit.id === sha) as
    | JsonObject
    | undefined

const missingList = (what: string): RecordError =>
  new RecordError('', `${what}: HTTP 404, although the pipeline exists; check what the access token may read`)

const valuesOf = (items: readonly Item[]): JsonObject[] => items.map(({ value }) => value)
const place = (file: string): Place => ({ file, line: undefined, index: undefined })
