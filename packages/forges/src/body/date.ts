/** Matches `YYYY-MM-DD hh:mm` with seconds, up to nine fraction digits and a zone. Without a zone, the time is in UTC. */
const dateShape = /^\d{4}-\d\d-\d\d[ Tt]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?: ?(?:[Zz]|UTC|[+-]\d\d(?::?\d\d)?))?$/
const daysBeforeMonth = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
const daysInMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** The number of leap days in the years 1 to 1969. */
const leapDaysBefore1970 = 477
/** The index at which the seconds or the zone begin. */
const afterMinutes = 'YYYY-MM-DD hh:mm'.length
/** The index at which the fraction or the zone begins. */
const afterSeconds = 'YYYY-MM-DD hh:mm:ss'.length

/**
 * Returns nanoseconds since 1970, 'absent' for an empty value (null, blank, "null", year 1), or 'invalid' for a value
 * that is not a date after 1970-01-01T00:00:00Z. `Date.parse` is not used, because it reads a text without a zone in the
 * zone of the host and turns 02-30 into a day in March.
 */
export function readDate(value: unknown): bigint | 'absent' | 'invalid' {
  const timeNs = readInstant(value)
  return typeof timeNs === 'bigint' && timeNs <= 0n ? 'invalid' : timeNs
}

/** Returns whether a value is 1970-01-01T00:00:00Z in any zone, which some forges write for a missing date. */
export const isEpoch = (value: unknown): boolean => readInstant(value) === 0n

/** Returns nanoseconds since 1970, 0 and below for earlier dates. */
function readInstant(value: unknown): bigint | 'absent' | 'invalid' {
  if (value === null || value === undefined) return 'absent'
  if (typeof value !== 'string') return 'invalid'
  if (!dateShape.test(value)) return value === 'null' || value.trim() === '' ? 'absent' : 'invalid'

  const year = twoDigits(value, 0) * 100 + twoDigits(value, 2)
  if (year === 1) return 'absent'
  const month = twoDigits(value, 5)
  const day = twoDigits(value, 8)
  const hour = twoDigits(value, 11)
  const minute = twoDigits(value, 14)
  const hasSeconds = value.charAt(afterMinutes) === ':'
  const second = hasSeconds ? twoDigits(value, 17) : 0
  if (month < 1 || month > 12 || day < 1 || day > lastDay(year, month)) return 'invalid'
  if (hour > 23 || minute > 59 || second > 59) return 'invalid'

  const hasFraction = hasSeconds && value.charAt(afterSeconds) === '.'
  const afterFraction = hasFraction ? endOfDigits(value, afterSeconds + 1) : afterSeconds
  const offsetMinutes = readOffset(value, hasSeconds ? afterFraction : afterMinutes)
  if (offsetMinutes === undefined) return 'invalid'
  const seconds = daysSince1970(year, month, day) * 86_400 + hour * 3600 + (minute - offsetMinutes) * 60 + second
  const nanoseconds = readFraction(value, afterFraction)
  const secondNs = BigInt(seconds) * 1_000_000_000n
  return nanoseconds === 0 ? secondNs : secondNs + BigInt(nanoseconds)
}

/** Returns nanoseconds since 1970; `undefined` if the value is absent or not a date. */
export function parseDate(value: unknown): bigint | undefined {
  const date = readDate(value)
  return typeof date === 'bigint' ? date : undefined
}

function twoDigits(text: string, at: number): number {
  return text.charCodeAt(at) * 10 + text.charCodeAt(at + 1) - 528
}

function endOfDigits(text: string, from: number): number {
  let at = from
  while (text.charCodeAt(at) >= 48 && text.charCodeAt(at) <= 57) at++
  return at
}

/** Returns the fraction of a second that ends at offset `end`, converted to nanoseconds. */
function readFraction(text: string, end: number): number {
  if (end === afterSeconds) return 0
  const digits = end - afterSeconds - 1
  return Number(text.slice(afterSeconds + 1, end)) * 10 ** (9 - digits)
}

/** Returns the offset in minutes east of UTC; `undefined` if it is out of range. */
function readOffset(text: string, from: number): number | undefined {
  const at = text.charAt(from) === ' ' ? from + 1 : from
  const sign = text.charAt(at)
  if (sign !== '+' && sign !== '-') return 0
  const hours = twoDigits(text, at + 1)
  const minutes = text.length === at + 3 ? 0 : twoDigits(text, text.length - 2)
  if (hours > 23 || minutes > 59) return undefined
  return sign === '+' ? hours * 60 + minutes : -(hours * 60 + minutes)
}

function daysSince1970(year: number, month: number, day: number): number {
  const passed = year - 1
  const leapDays = Math.floor(passed / 4) - Math.floor(passed / 100) + Math.floor(passed / 400) - leapDaysBefore1970
  const leapDayOfYear = month > 2 && isLeapYear(year) ? 1 : 0
  return (year - 1970) * 365 + leapDays + daysBeforeMonth[month - 1]! + leapDayOfYear + day - 1
}

function lastDay(year: number, month: number): number {
  return month === 2 && isLeapYear(year) ? 29 : daysInMonth[month - 1]!
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}
