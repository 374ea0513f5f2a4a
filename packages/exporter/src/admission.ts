import { createHash } from 'node:crypto'
import {
  type ConvertOptions,
  exportDecision,
  type Input,
  type PipelineRecord,
  type PreviousExport,
  type Root,
  recordInstance,
  rootOf,
  type Warnings,
  withRoot,
} from '@penstock/converter'

/** What is remembered of the latest export of a pipeline. */
export interface EarlierExport {
  /** The root of the trace it went to. */
  readonly rootId: bigint
  readonly finishedAtNs: bigint | undefined
  /** Of what was exported; '' where news does not count. */
  readonly digest: string
  /** Of all exports of the pipeline; empty where news does not count. */
  readonly jobIds: BigInt64Array
}

/** What has been learnt before a record comes. */
export interface Known {
  /** Of the record's pipeline, and of those on the way up, by `rootKey`. */
  readonly roots: ReadonlyMap<string, bigint>
  readonly earlier: EarlierExport | undefined
}

/** What becomes of a record. `root` is to be learnt either way. */
export type Admission = { readonly root: Root } & (Admitted | Skipped)

export interface Admitted {
  readonly kind: 'export'
  /** With its root, and what earlier exports have sent; without what job hooks have told. */
  readonly record: PipelineRecord
  /** As in `EarlierExport`. */
  readonly digest: string
  readonly warnings: Warnings
}

/** No failure: there is nothing to export, or not yet, or not again. */
export interface Skipped {
  readonly kind: 'skip'
  readonly because: SkipCause
  readonly reason: string
}

export const skipCauses = ['not_final', 'already_exported', 'completed_again', 'root_changed'] as const
export type SkipCause = (typeof skipCauses)[number]

/**
 * Whether a record is to be exported: once, when its pipeline has finished; under `reexport` also a later completion.
 *
 * @param readDigest `digestOf` the record, where it was computed when the record was read
 * @see spec/pipeline-telemetry.md 2.5, 2.6, 7 (1, 2, 41 to 47)
 */
export function admission(
  { record, warnings }: Extract<Input, { kind: 'pipeline' }>,
  { roots, earlier }: Known,
  options: ConvertOptions,
  readDigest?: string,
): Admission {
  const root = rootOf(record, roots, recordInstance(record, options))
  const skip = (because: SkipCause, reason: string): Admission => ({
    root,
    kind: 'skip',
    because,
    reason: `pipeline ${record.id}: ${reason}`,
  })
  if (earlier !== undefined && earlier.rootId !== root.id) {
    return skip(
      'root_changed',
      `already exported in the trace of pipeline ${earlier.rootId}, and now said to belong to ${root.id}`,
    )
  }
  const newsCounts = options.reexport !== 'none'
  const decision = exportDecision(record, options)
  if (decision.kind === 'skip' && (newsCounts || earlier === undefined)) return skip('not_final', decision.reason)
  const digest = newsCounts ? (readDigest ?? digestOf(record)) : ''
  if (earlier !== undefined && !(newsCounts && isNews(record, digest, earlier))) {
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

/** What is to be remembered of an admitted record once it has been exported. */
export function toEarlierExport(
  { record, digest }: Pick<Admitted, 'record' | 'digest'>,
  rootId: bigint,
  { reexport }: Pick<ConvertOptions, 'reexport'>,
): EarlierExport {
  return { rootId, finishedAtNs: record.finishedAtNs, digest, jobIds: reexport === 'none' ? noJobs : sentJobs(record) }
}

export function withWarning(warnings: Warnings, warning: Warnings['items'][number]): Warnings {
  return { items: [...warnings.items, warning], total: warnings.total + 1 }
}

const cycleWarning = { path: 'source_pipeline', reason: 'leads back to the pipeline itself; read as a root pipeline' }

/** A completion before the one that was exported has only been late. */
function isNews({ finishedAtNs }: PipelineRecord, digest: string, earlier: EarlierExport): boolean {
  return digest !== earlier.digest && !isAfter(earlier.finishedAtNs, finishedAtNs)
}

const isAfter = (one: bigint | undefined, other: bigint | undefined): boolean =>
  one !== undefined && other !== undefined && one > other

const previousExport = ({ jobIds }: EarlierExport): PreviousExport => ({ jobIds: new Set(jobIds) })

/** Kept small: there are many of them. */
const noJobs = new BigInt64Array()

function sentJobs({ jobs, previousExport }: PipelineRecord): BigInt64Array {
  return BigInt64Array.from(new Set([...(previousExport?.jobIds ?? []), ...jobs.map((job) => job.id)]))
}

/** Returns a digest that is equal for records with the same content. The time when a record was received makes no difference. */
export function digestOf(record: PipelineRecord): string {
  const said = { ...record, receivedAtNs: undefined }
  const text = JSON.stringify(said, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
  return createHash('sha256').update(text).digest('base64')
}
