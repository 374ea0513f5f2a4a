import type { SignalTotals } from '@penstock/exporter'
import type { Signal } from '@penstock/otlp'
import { type Column, textTable } from '../text/text-table.ts'
import { counted, formatBytes, formatCount, printable } from '../text/wording.ts'
import { itemNouns } from './signal-items.ts'

const columns: readonly Column[] = [
  { title: 'signal', align: 'left' },
  { title: 'requests', align: 'right' },
  { title: 'items', align: 'right' },
  { title: 'bytes', align: 'right' },
  { title: 'accepted', align: 'right' },
  { title: 'rejected', align: 'right' },
  { title: 'failed', align: 'right' },
  { title: 'retries', align: 'right' },
]

/**
 * Returns a table with one line per signal, followed by the messages of the receiver.
 *
 * Bytes are compressed, and each request is counted once. `rejected` is the number of items that the receiver refused
 * in accepted requests; for metrics, it counts data points. `failed` is the number of items that were not accepted or
 * not sent.
 */
export function deliveryTable(
  totals: Readonly<Record<Signal, SignalTotals>>,
  signals: readonly Signal[],
  retries: Readonly<Record<Signal, number>>,
): string[] {
  const rows = signals.map((signal) => rowOf(signal, totals[signal], retries[signal]))
  const remarks = signals.flatMap((signal) => remarksOn(signal, totals[signal]))
  return [...textTable(columns, rows), ...(remarks.length === 0 ? [] : ['', ...remarks])]
}

function rowOf(signal: Signal, totals: SignalTotals, retries: number): string[] {
  const { chunks, items, wireBytes, deliveredItems, rejectedItems, failedItems, skippedItems } = totals
  const accepted = signal === 'metrics' ? deliveredItems : Math.max(deliveredItems - rejectedItems, 0)
  const rejected =
    signal === 'metrics' && rejectedItems > 0 ? counted(rejectedItems, 'point') : formatCount(rejectedItems)
  return [
    signal,
    formatCount(chunks),
    counted(items, itemNouns[signal]),
    formatBytes(wireBytes),
    formatCount(accepted),
    rejected,
    formatCount(failedItems + skippedItems),
    formatCount(retries),
  ]
}

function remarksOn(signal: Signal, { messages }: SignalTotals): string[] {
  return [...messages].map(([message, count]) => {
    const times = count === 1 ? '' : ` (${counted(count, 'request')})`
    return printable(`${signal}: ${message}${times}`)
  })
}
