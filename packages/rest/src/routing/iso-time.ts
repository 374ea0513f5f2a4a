const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** The last time that a `Date` can have. */
const MAX_MS = 8.64e15
const DATES = 256

/** Dates that were used lately, each at the place of its day modulo `DATES`. Formatting a `Date` takes longest. */
const dates: { readonly day: number; readonly text: string }[] = Array.from({ length: DATES }, () => ({
  day: Number.NaN,
  text: '',
}))
const twoDigits = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'))
const threeDigits = Array.from({ length: SECOND_MS }, (_, number) => String(number).padStart(3, '0'))

export function isoTime(ms: number): string
export function isoTime(ms: number | undefined): string | null
/** Returns a time in the form of ISO 8601, or null for an absent one. */
export function isoTime(ms: number | undefined): string | null {
  if (ms === undefined) return null
  if (!Number.isInteger(ms) || ms < 0 || ms > MAX_MS) return new Date(ms).toISOString()
  const day = Math.floor(ms / DAY_MS)
  const rest = ms - day * DAY_MS
  const hours = Math.floor(rest / HOUR_MS)
  const minutes = Math.floor(rest / MINUTE_MS) % 60
  const seconds = Math.floor(rest / SECOND_MS) % 60
  return `${dateOf(day)}T${twoDigits[hours]}:${twoDigits[minutes]}:${twoDigits[seconds]}.${threeDigits[rest % SECOND_MS]}Z`
}

function dateOf(day: number): string {
  const known = dates[day % DATES]!
  if (known.day === day) return known.text
  const text = new Date(day * DAY_MS).toISOString().slice(0, -'T00:00:00.000Z'.length)
  dates[day % DATES] = { day, text }
  return text
}
