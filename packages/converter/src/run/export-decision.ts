import { isFinished, knownStatuses, type PipelineRecord } from '@penstock/forges/record'
import type { ConvertOptions } from '../base/options.ts'
import { blockedStatuses } from '../base/status-maps.ts'

export type ExportDecision = { readonly kind: 'export' } | { readonly kind: 'skip'; readonly reason: string }

const skip = (reason: string): ExportDecision => ({ kind: 'skip', reason })
const includes = (list: readonly string[], word: string): boolean => list.includes(word)

/**
 * Decides whether a record is exported. A pipeline is exported once, when it has finished; options extend this to
 * blocked pipelines, unknown statuses and later completions.
 */
export function exportDecision(record: PipelineRecord, options: ConvertOptions): ExportDecision {
  const { status } = record
  if (record.previousExport !== undefined && options.reexport === 'none') return skip('already exported')
  if (isFinished(status)) return { kind: 'export' }
  if (includes(blockedStatuses, status)) return options.exportBlocked ? { kind: 'export' } : skip(`waits (${status})`)
  if (includes(knownStatuses, status)) return skip(`not final (${status})`)
  if (!options.exportUnknown) return skip('unknown status')
  return record.finishedAtNs === undefined ? skip('unknown status, not finished') : { kind: 'export' }
}
