/** Returns the milliseconds of a time in nanoseconds, given as text, or of an RFC 3339 time. */
export function toMilliseconds(time: string): number {
  return /^\d+$/.test(time) ? Number(BigInt(time) / 1_000_000n) : Date.parse(time)
}

/** Returns a time in UTC: `2026-11-22 11:02:29 UTC`. */
export function utcText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

const day: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short' }
const minute: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }

/** How exact a time is shown: `22 Nov, 11:02`, with seconds, the clock alone to the minute or the millisecond, or the day alone. */
export type Precision = 'minute' | 'second' | 'time' | 'clock' | 'day'

const formats: Readonly<Record<Precision, Intl.DateTimeFormatOptions>> = {
  minute: { ...day, ...minute },
  second: { ...day, ...minute, second: '2-digit' },
  time: minute,
  clock: { ...minute, second: '2-digit', fractionalSecondDigits: 3 },
  day,
}

/** Returns a time in the viewer's zone. The year is added unless it is the current one. */
export function localText(ms: number, precision: Precision, nowMs: number, timeZone?: string): string {
  const isOtherYear =
    new Date(ms).getFullYear() !== new Date(nowMs).getFullYear() && !['time', 'clock'].includes(precision)
  const year = isOtherYear ? { year: 'numeric' as const } : {}
  return new Intl.DateTimeFormat('en-GB', { ...formats[precision], ...year, timeZone }).format(ms)
}

const units: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
]

/** Returns how long ago a time was: `just now`, `5 min ago`, `2 h ago`, `3 d ago`. Times to come are `in 5 min`. */
export function agoText(ms: number, nowMs: number): string {
  const seconds = Math.abs(nowMs - ms) / 1000
  for (const [length, unit] of units) {
    if (seconds < length) continue
    const text = `${Math.floor(seconds / length)} ${unit}`
    return ms > nowMs ? `in ${text}` : `${text} ago`
  }
  return 'just now'
}
