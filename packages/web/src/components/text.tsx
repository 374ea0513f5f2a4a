import { durationText } from './duration.ts'
import { nowMs } from './now.ts'
import { agoText, localText, type Precision, toMilliseconds, utcText } from './time.ts'

interface TimeProps {
  /** Nanoseconds as text, or RFC 3339. */
  readonly at: string | null | undefined
  readonly precision?: Precision
}

/** A time in the viewer's zone, with UTC in its title. */
export function Time({ at, precision = 'second' }: TimeProps) {
  if (at == null) return <span class="zero">–</span>
  const ms = toMilliseconds(at)
  return (
    <time dateTime={new Date(ms).toISOString()} title={utcText(ms)}>
      {localText(ms, precision, nowMs.value)}
    </time>
  )
}

/** How long ago a time was. The exact time, in the viewer's zone and in UTC, is in its title. */
export function Ago({ at }: { readonly at: string | null | undefined }) {
  if (at == null) return <span class="zero">never</span>
  const ms = toMilliseconds(at)
  return (
    <time dateTime={new Date(ms).toISOString()} title={`${localText(ms, 'second', nowMs.value)} (${utcText(ms)})`}>
      {agoText(ms, nowMs.value)}
    </time>
  )
}

/** A duration in seconds. */
export function Duration({ seconds }: { readonly seconds: number | null | undefined }) {
  return seconds == null ? <span class="zero">–</span> : <span>{durationText(seconds)}</span>
}

const numbers = new Intl.NumberFormat('en-GB')

/** Returns a number with separators: `1,284`. */
export function numberText(value: number): string {
  return numbers.format(value)
}

/** Returns a share of 1 as a percentage: `4.2 %`. */
export function percentText(share: number | null | undefined): string {
  if (share == null) return '–'
  const percent = share * 100
  return `${percent < 20 ? Math.round(percent * 10) / 10 : Math.round(percent)} %`
}
