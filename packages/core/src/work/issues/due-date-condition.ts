import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { DAY_MS, dayAt } from '../../base/kit/day.ts'
import type { DueDateWord } from './issue.ts'

const dueDate = sql.ref('issues.due_date')

/** Returns the condition that an issue's due date is in the period, as seen on `today`. Weeks begin on Monday. */
export function dueDateCondition(word: DueDateWord, today: string): RawBuilder<SqlBool> {
  if (word === '0') return sql<SqlBool>`${dueDate} is null`
  if (word === 'any') return sql<SqlBool>`${dueDate} is not null`
  if (word === 'overdue') return sql<SqlBool>`${dueDate} < ${today}`
  const [first, last] = periods[word](today)
  return sql<SqlBool>`(${dueDate} >= ${first} and ${dueDate} <= ${last})`
}

const periods: Readonly<
  Record<Exclude<DueDateWord, '0' | 'any' | 'overdue'>, (today: string) => readonly [first: string, last: string]>
> = {
  today: (today) => [today, today],
  tomorrow: (today) => [plusDays(today, 1), plusDays(today, 1)],
  week: (today) => {
    const monday = plusDays(today, -((new Date(today).getUTCDay() + 6) % 7))
    return [monday, plusDays(monday, 6)]
  },
  month: (today) => [`${today.slice(0, 7)}-01`, lastOfMonth(today, 0)],
  next_month_and_previous_two_weeks: (today) => [plusDays(today, -14), lastOfMonth(today, 1)],
}

const plusDays = (day: string, days: number): string => dayAt(Date.parse(day) + days * DAY_MS)

/** Returns the last day of a month, given as the number of months after the month of `day`. */
function lastOfMonth(day: string, months: number): string {
  const date = new Date(day)
  return dayAt(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months + 1, 0))
}
