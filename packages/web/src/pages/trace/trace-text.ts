import type { SpanStatus, TraceSpan } from './trace-span.ts'
import type { Lane } from './trace-tree.ts'

/** What a status is called, and the colour class of the style sheet. */
export const statusLooks: Readonly<Record<SpanStatus, { readonly label: string; readonly look: string }>> = {
  success: { label: 'Passed', look: 'passed' },
  failed: { label: 'Failed', look: 'failed' },
  allowed: { label: 'Failed, allowed', look: 'warning' },
  canceled: { label: 'Canceled', look: 'canceled' },
  skipped: { label: 'Skipped', look: 'skipped' },
  running: { label: 'Running', look: 'running' },
  queued: { label: 'Queued', look: 'queued' },
  manual: { label: 'Manual', look: 'skipped' },
  none: { label: '', look: 'passed' },
}

const NS_PER_MS = 1e6
const NS_PER_SECOND = 1e9

/** Returns a duration as people read it: `87 µs`, `12 ms`, `0.3 s`, `13.6 s`, `4m 22s`, `1h 02m`. Short spans keep their unit. */
export function durationText(nanoseconds: number): string {
  if (nanoseconds <= 0) return '0 s'
  if (nanoseconds < NS_PER_MS) return `${Math.max(1, Math.round(nanoseconds / 1e3))} µs`
  if (nanoseconds < NS_PER_SECOND / 10) return `${Math.round(nanoseconds / NS_PER_MS)} ms`
  const seconds = nanoseconds / NS_PER_SECOND
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${twoDigits(whole % 60)}s`
  const minutes = Math.round(whole / 60)
  return `${Math.floor(minutes / 60)}h ${twoDigits(minutes % 60)}m`
}

const twoDigits = (number: number): string => String(number).padStart(2, '0')

const MAX_NAME = 1_000

/** Returns a name for a row. Names of any length are accepted from telemetry, and a row cannot show a megabyte. */
export function nameText(name: string): string {
  if (name === '') return '(no name)'
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name
}

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
