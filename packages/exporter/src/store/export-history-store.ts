import { RowInsertion } from '@penstock/db'
import { parseRunId, type RunId, rootKey, runIdText } from '@penstock/forges'
import type { Selectable, Transaction } from 'kysely'
import type { EarlierExport, PipelineHistory } from '../records/admission.ts'
import { type PipelineNamespace, pipelineKey } from './export-key.ts'
import type { ExporterTables, ExportPipelinesTable } from './export-tables.ts'

type Tx = Transaction<ExporterTables>
type Row = Selectable<ExportPipelinesTable>

export interface StoredPipelineHistory extends PipelineHistory {
  /** The number of exports so far. */
  readonly exports: number
}

/** The highest number of upstream levels that are followed. */
const MAX_UPSTREAM_LEVELS = 32
/** How stale `last_seen_at_ms` may be: a repeated record within this time is not written. */
const MIN_SEEN_UPDATE_MS = 3_600_000

/**
 * The export history of pipelines within one transaction: rows are read once, changed in memory, and written by `save`. So
 * all bodies that share the transaction share its statements.
 */
export class ExportHistory {
  readonly #tx: Tx
  /** The loaded rows by key; undefined if a key has no row. */
  readonly #rows = new Map<string, Row | undefined>()
  readonly #changed = new Set<string>()

  constructor(tx: Tx) {
    this.#tx = tx
  }

  async load(keys: Iterable<string>): Promise<void> {
    const wanted = [...new Set(keys)].filter((key) => !this.#rows.has(key))
    if (wanted.length === 0) return
    const rows = await this.#tx.selectFrom('export_pipelines').selectAll().where('key', 'in', wanted).execute()
    for (const key of wanted) this.#rows.set(key, undefined)
    for (const row of rows) this.#rows.set(row.key, row)
  }

  /** Returns whether a loaded key has a row. */
  has(key: string): boolean {
    return this.#rows.get(key) !== undefined
  }

  /** Returns the latest export of a loaded key. */
  earlierExport(key: string): EarlierExport | undefined {
    const row = this.#rows.get(key)
    return row && earlierOf(row)
  }

  /** Returns the stored root of a pipeline. */
  async findRoot(key: string): Promise<RunId | undefined> {
    await this.load([key])
    const row = this.#rows.get(key)
    return row && parseRunId(row.root_id)
  }

  /**
   * Returns the history of a pipeline. Its `roots` are the stored roots of the pipeline, of its upstream pipeline
   * `upstreamId`, and of the pipelines above them.
   */
  async find(namespace: PipelineNamespace, id: RunId, upstreamId: RunId | undefined): Promise<StoredPipelineHistory> {
    const roots = new Map<string, RunId>()
    const asked = new Set<RunId>()
    let ids = upstreamId === undefined ? [id] : [id, upstreamId]
    for (let level = 0; ids.length > 0 && level < MAX_UPSTREAM_LEVELS; level += 1) {
      for (const each of ids) asked.add(each)
      await this.load(ids.map((each) => pipelineKey(namespace, each)))
      const found = ids.flatMap((each) => {
        const row = this.#rows.get(pipelineKey(namespace, each))
        return row === undefined ? [] : [{ each, rootId: parseRunId(row.root_id) }]
      })
      for (const { each, rootId } of found) roots.set(rootKey(namespace.instance, each), rootId)
      ids = found.map(({ rootId }) => rootId).filter((rootId) => !asked.has(rootId))
    }
    const own = this.#rows.get(pipelineKey(namespace, id))
    return { roots, earlier: own && earlierOf(own), exports: own?.exports ?? 0 }
  }

  recordRoot(key: string, rootId: RunId, nowMs: number): void {
    const row = this.#rows.get(key)
    const isKnown = row?.root_id === runIdText(rootId) && nowMs - row.last_seen_at_ms < MIN_SEEN_UPDATE_MS
    if (!isKnown) this.#change(key, { root_id: runIdText(rootId), last_seen_at_ms: nowMs })
  }

  recordExport(key: string, { rootId, finishedAtNs, digest, jobIds }: EarlierExport, nowMs: number): void {
    this.#change(key, {
      root_id: runIdText(rootId),
      exports: (this.#rows.get(key)?.exports ?? 0) + 1,
      exported_root_id: runIdText(rootId),
      finished_at_ns: finishedAtNs === undefined ? null : String(finishedAtNs),
      digest,
      job_ids: idsText(jobIds),
      last_seen_at_ms: nowMs,
    })
  }

  async save(): Promise<void> {
    const rows = [...this.#changed].map((key) => this.#rows.get(key)!)
    await upsertRows.run(this.#tx, rows)
  }

  #change(key: string, change: Partial<Row> & Pick<Row, 'root_id' | 'last_seen_at_ms'>): void {
    const former = this.#rows.get(key) ?? { ...emptyRow, key }
    this.#rows.set(key, { ...former, ...change })
    this.#changed.add(key)
  }
}

const upsertRows = new RowInsertion<ExporterTables, Row>(
  ['key', 'root_id', 'exports', 'exported_root_id', 'finished_at_ns', 'digest', 'job_ids', 'last_seen_at_ms'],
  (tx, rows) =>
    tx
      .insertInto('export_pipelines')
      .values(rows)
      .onConflict((conflict) =>
        conflict.column('key').doUpdateSet(({ ref }) => ({
          root_id: ref('excluded.root_id'),
          exports: ref('excluded.exports'),
          exported_root_id: ref('excluded.exported_root_id'),
          finished_at_ns: ref('excluded.finished_at_ns'),
          digest: ref('excluded.digest'),
          job_ids: ref('excluded.job_ids'),
          last_seen_at_ms: ref('excluded.last_seen_at_ms'),
        })),
      ),
)

const emptyRow = { exports: 0, exported_root_id: null, finished_at_ns: null, digest: '', job_ids: '' }

export async function deletePipelinesBefore(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('export_pipelines')
    .where('key', 'in', (eb) =>
      eb
        .selectFrom('export_pipelines')
        .select('key')
        .where('last_seen_at_ms', '<', beforeMs)
        .orderBy('last_seen_at_ms')
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

function earlierOf({ exported_root_id, finished_at_ns, digest, job_ids }: Row): EarlierExport | undefined {
  if (exported_root_id === null) return undefined
  return {
    rootId: parseRunId(exported_root_id),
    finishedAtNs: finished_at_ns === null ? undefined : BigInt(finished_at_ns),
    digest,
    jobIds: readIds(job_ids),
  }
}

export const idsText = (ids: Iterable<RunId>): string => Array.from(ids, runIdText).join(' ')

export const readIds = (text: string): RunId[] => (text === '' ? [] : text.split(' ').map(parseRunId))
