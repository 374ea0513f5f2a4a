import { MAX_INTEGER } from '../../base/kit/common-fields.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
/** Working time: a day has 8 hours, a week 5 days and a month 4 weeks. */
const DAY = 8 * HOUR
const WEEK = 5 * DAY
const MONTH = 4 * WEEK

const units = [
  { name: 'mo', words: ['mo', 'mos', 'month', 'months'], seconds: MONTH },
  { name: 'w', words: ['w', 'wk', 'wks', 'week', 'weeks'], seconds: WEEK },
  { name: 'd', words: ['d', 'day', 'days'], seconds: DAY },
  { name: 'h', words: ['h', 'hr', 'hrs', 'hour', 'hours'], seconds: HOUR },
  { name: 'm', words: ['m', 'min', 'mins', 'minute', 'minutes'], seconds: MINUTE },
  { name: 's', words: ['s', 'sec', 'secs', 'second', 'seconds'], seconds: 1 },
] as const

const secondsOf = new Map<string, number>(units.flatMap(({ words, seconds }) => words.map((word) => [word, seconds])))

/** The maximum time that can be estimated or spent: the largest value of GitLab's 32-bit column. */
export const MAX_DURATION_SECONDS = MAX_INTEGER
export const ESTIMATE_INVALID = 'must have a valid format and be greater than or equal to zero.'

/**
 * Returns the seconds of a working time such as `1w 2d 3h30m` or `-1h`; `undefined` if the text is not valid. A number
 * without a unit means hours.
 */
export function durationSeconds(text: string): number | undefined {
  const wanted = text.trim().toLowerCase()
  const isNegative = wanted.startsWith('-')
  const unsigned = isNegative ? wanted.slice(1).trimStart() : wanted
  let seconds = 0
  let read = 0
  for (const [part, count, unit] of unsigned.matchAll(/(\d{1,9}(?:\.\d{1,4})?)\s*([a-z]*)[\s,]*/gy)) {
    const each = unit === '' ? HOUR : secondsOf.get(unit!)
    if (each === undefined) return undefined
    seconds += Number(count) * each
    read += part.length
  }
  if (read === 0 || read < unsigned.length) return undefined
  const whole = Math.round(seconds)
  if (whole > MAX_DURATION_SECONDS) return undefined
  return isNegative && whole !== 0 ? -whole : whole
}

/** Returns a working time as text: `1w 2d 3h 30m`; `undefined` for 0. */
export function durationText(seconds: number): string | undefined {
  if (seconds === 0) return undefined
  let left = Math.abs(seconds)
  const parts = units.flatMap((unit) => {
    const count = Math.floor(left / unit.seconds)
    left -= count * unit.seconds
    return count === 0 ? [] : [`${count}${unit.name}`]
  })
  return `${seconds < 0 ? '-' : ''}${parts.join(' ')}`
}
