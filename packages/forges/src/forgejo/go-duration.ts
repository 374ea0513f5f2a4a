import type { Fields } from '../body/fields.ts'
import { warn } from '../body/fields.ts'
import { MAX_SECONDS } from '../record/limits.ts'

const secondsByUnit: Readonly<Record<string, number>> = {
  h: 3600,
  m: 60,
  s: 1,
  ms: 1e-3,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ns: 1e-9,
}
const part = /(\d{1,15}(?:\.\d{1,9})?)(h|ms|m|s|us|µs|μs|ns)/g
const wholeDuration = /^(?:\d{1,15}(?:\.\d{1,9})?(?:h|ms|m|s|us|µs|μs|ns))+$/

/** Reads a duration of Go in seconds: an integer of nanoseconds, or a text such as `1m32.5s`. 0 means that it is unknown. */
export function goDuration(fields: Fields, key: string): number | undefined {
  const value = fields.values[key]
  if (value === null || value === undefined || value === 0) return undefined
  const seconds = typeof value === 'string' ? secondsIn(value) : toNanoseconds(value)
  if (seconds !== undefined && seconds >= 0 && seconds <= MAX_SECONDS) return seconds || undefined
  warn(fields, key, 'must be a duration of Go: nanoseconds, or a text such as 1m32s')
  return undefined
}

function toNanoseconds(value: unknown): number | undefined {
  return typeof value === 'bigint' || Number.isSafeInteger(value) ? Number(value) / 1e9 : undefined
}

function secondsIn(text: string): number | undefined {
  if (text === '0') return 0
  if (!wholeDuration.test(text)) return undefined
  let seconds = 0
  for (const [, amount, unit] of text.matchAll(part)) seconds += Number(amount) * (secondsByUnit[unit ?? ''] ?? 0)
  return seconds
}
