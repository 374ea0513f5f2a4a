import { createHash } from 'node:crypto'
import { type ConvertOptions, exportDecision, recordInstance } from '@penstock/converter'
import {
  findRoot,
  type Input,
  type PipelineRecord,
  type PreviousExport,
  type Root,
  type RunId,
  type Warnings,
  withRoot,
} from '@penstock/forges'

/** The stored facts about the latest export of a pipeline. */
export interface EarlierExport {
  /** The root pipeline of the trace that contains the export. */
  readonly rootId: RunId
  readonly finishedAtNs: bigint | undefined
  /** The digest of the exported record; '' if later completions are not exported. */
  readonly digest: string
  /** The jobs of all exports of the pipeline; empty if later completions are not exported. */
  readonly jobIds: BigInt64Array | readonly RunId[]
}

/** The stored facts about a pipeline before a new record arrives. */
export interface PipelineHistory {
  /** The root ids of the pipeline and of its upstream pipelines, by `rootKey`. */
  readonly roots: ReadonlyMap<string, RunId>
  readonly earlier: EarlierExport | undefined
}

/** The decision about a record. `root` is stored in either case. */
export type Admission = { readonly root: Root } & (Admitted | Skipped)

export interface Admitted {
  readonly kind: 'export'
  /** The record with its root and the jobs of earlier exports, but without job enrichments. */
  readonly record: PipelineRecord
  /** As in `EarlierExport`. */
  readonly digest: string
  readonly warnings: Warnings
}

/**
 * The record is valid, but is not exported: it has nothing to export, cannot be exported yet, or has been exported
 * before.
 */
export interface Skipped {
  readonly kind: 'skip'
  readonly code: SkipCause
  readonly reason: string
}

export const skipCauses = ['not_final', 'already_exported', 'completed_again', 'root_changed'] as const
type SkipCause = (typeof skipCauses)[number]

/**
 * Decides whether a record is exported: once, when its pipeline has finished; with `reexport` also after later completions.
 *
 * @param readDigest `recordDigest` the record, if it was computed when the record was read
 */
export function admission(
  { record, warnings }: Extract<Input, { kind: 'pipeline' }>,
  { roots, earlier }: PipelineHistory,
  options: ConvertOptions,
  readDigest?: string,
): Admission {
  const root = findRoot(record, roots, recordInstance(record, options))
  const skip = (code: SkipCause, reason: string): Admission => ({
    root,
    kind: 'skip',
    code,
    reason: `pipeline ${record.id}: ${reason}`,
  })
  if (earlier !== undefined && earlier.rootId !== root.id) {
    return skip(
      'root_changed',
      `already exported in the trace of pipeline ${earlier.rootId}, but this record belongs to the trace of ${root.id}`,
    )
  }
  const mayReexport = options.reexport !== 'none'
  const decision = exportDecision(record, options)
  if (decision.kind === 'skip' && (mayReexport || earlier === undefined)) return skip('not_final', decision.reason)
  const digest = mayReexport ? (readDigest ?? recordDigest(record)) : ''
  if (earlier !== undefined && !(mayReexport && isLaterContent(record, digest, earlier))) {
    const isLater = decision.kind === 'export' && isAfter(record.finishedAtNs, earlier.finishedAtNs)
    return skip(isLater ? 'completed_again' : 'already_exported', 'already exported')
  }
  const rooted = withRoot(record, root)
  const candidate = earlier === undefined ? rooted : { ...rooted, previousExport: previousExport(earlier) }
  return {
    root,
    kind: 'export',
    record: candidate,
    digest,
    warnings: root.from === 'cycle' ? withWarning(warnings, cycleWarning) : warnings,
  }
}

/** Returns the facts to store about an admitted record. */
export function toEarlierExport(
  { record, digest }: Pick<Admitted, 'record' | 'digest'>,
  rootId: RunId,
  { reexport }: Pick<ConvertOptions, 'reexport'>,
): EarlierExport {
  return { rootId, finishedAtNs: record.finishedAtNs, digest, jobIds: reexport === 'none' ? noJobs : sentJobs(record) }
}

export function withWarning(warnings: Warnings, warning: Warnings['items'][number]): Warnings {
  return { items: [...warnings.items, warning], total: warnings.total + 1 }
}

const cycleWarning = { path: 'source_pipeline', reason: 'leads back to the pipeline itself; read as a root pipeline' }

/**
 * Returns whether the content differs from the exported one and is not older: a late hook about an
 * earlier completion is ignored.
 */
function isLaterContent({ finishedAtNs }: PipelineRecord, digest: string, earlier: EarlierExport): boolean {
  return digest !== earlier.digest && !isAfter(earlier.finishedAtNs, finishedAtNs)
}

const isAfter = (one: bigint | undefined, other: bigint | undefined): boolean =>
  one !== undefined && other !== undefined && one > other

const previousExport = ({ jobIds }: EarlierExport): PreviousExport => ({ jobIds: new Set<RunId>(jobIds) })

/**
 * An empty array that all pipelines without remembered jobs share. This saves memory, because there can be many such
 * pipelines.
 */
const noJobs: readonly RunId[] = []

/** Returns the jobs of all exports so far; integers in an array that takes little memory, because there can be many pipelines. */
function sentJobs({ jobs, previousExport }: PipelineRecord): EarlierExport['jobIds'] {
  const ids = [...new Set([...(previousExport?.jobIds ?? []), ...jobs.map((job) => job.id)])]
  return ids.every((id) => typeof id === 'bigint') ? BigInt64Array.from(ids) : ids
}

/**
 * Returns a digest that is equal for records with the same content. The time when a record
 * was received and the forge make no difference; earlier versions did not store the forge.
 */
export function recordDigest(record: PipelineRecord): string {
  const content = { ...record, receivedAtNs: undefined, forge: undefined }
  const text = JSON.stringify(content, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
  return createHash('sha256').update(text).digest('base64')
}
