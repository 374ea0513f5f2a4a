import { durationText as secondsText } from '../../components/duration.ts'
import type { Meaning } from '../../components/status-words.ts'
import type { SpanStatus, TraceSpan } from './trace-span.ts'
import type { Lane } from './trace-tree.ts'

/** The meaning and the name of each status. A span of a service that sets no status has no label. */
export const statusLooks: Readonly<Record<SpanStatus, { readonly label: string; readonly meaning: Meaning }>> = {
  success: { label: 'Passed', meaning: 'passed' },
  failed: { label: 'Failed', meaning: 'failed' },
  allowed: { label: 'Failed, allowed', meaning: 'warning' },
  canceled: { label: 'Canceled', meaning: 'canceled' },
  skipped: { label: 'Skipped', meaning: 'skipped' },
  running: { label: 'Running', meaning: 'running' },
  queued: { label: 'Queued', meaning: 'queued' },
  manual: { label: 'Manual', meaning: 'manual' },
  none: { label: '', meaning: 'passed' },
}

/** Returns a duration in nanoseconds as text: `13.6 s`. */
export const durationText = (nanoseconds: number): string => secondsText(nanoseconds / 1e9)

const MAX_NAME = 1_000

/** Returns a name for a row. Names of any length are accepted from telemetry, and a row cannot show a megabyte. */
export function nameText(name: string): string {
  if (name === '') return '(no name)'
  return cutText(name, MAX_NAME)
}

export const cutText = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length)}…` : text

/** Returns the name of a span without the word before it: `unit` for `job: unit`. */
export const shortName = ({ name, kind }: TraceSpan): string =>
  nameText(kind === 'job' || kind === 'bridge' ? name.replace(/^job: /, '') : name)

/** Returns the caption of a lane: `test, 2 jobs, 3 attempts`. */
export function laneText({ stage, jobs, attempts }: Lane): string {
  const parts = [stage === '' ? 'no stage' : nameText(stage), counted(jobs, 'job')]
  if (attempts > jobs) parts.push(counted(attempts, 'attempt'))
  return parts.join(', ')
}

export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`

/** Returns what stands beside a bar: why the job failed, or why it did not run. */
export function reasonText(span: TraceSpan): { readonly text: string; readonly isFailure: boolean } | undefined {
  if (span.status === 'failed' || span.status === 'allowed') {
    const hasReason = span.reason !== undefined && span.kind !== 'pipeline' && span.kind !== 'stage'
    return hasReason ? { text: nameText(span.reason!), isFailure: span.status === 'failed' } : undefined
  }
  if (span.executed) return undefined
  const text = { skipped: 'not started', canceled: 'canceled before it started', manual: 'waits for a person' }[
    span.status as 'skipped' | 'canceled' | 'manual'
  ]
  return { text: text ?? 'not started', isFailure: false }
}
