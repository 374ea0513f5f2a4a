import type { LogRecord, Resource } from '@penstock/otlp'
import { timeOf } from './log-rows.ts'

/** Something of a log record that VictoriaLogs changes or does not store, by the name that docs/guides/backends.md has for it. */
export interface LogLoss {
  readonly id: string
  readonly reason: string
  /** Whether a record has it. A test fails if no record of the fixtures has it. */
  applies(record: LogRecord, resource: Resource): boolean
}

const nsPerDay = 86_400_000_000_000n

/** Returns whether VictoriaLogs drops a record because of its time. */
export function isTooFarAhead(record: LogRecord): boolean {
  return timeOf(record) > BigInt(Date.now()) * 1_000_000n + 2n * nsPerDay
}

export const victoriaLogsLosses: readonly LogLoss[] = [
  {
    id: 'types of attributes',
    reason: 'texts; queries compare numbers in them as numbers',
    applies: ({ attributes }) => attributes.some(({ type }) => type !== 'string'),
  },
  {
    id: 'a list as the value of an attribute',
    reason: 'a text with the list as JSON',
    applies: ({ attributes }) => attributes.some(({ type }) => type === 'array'),
  },
  {
    id: 'resource, scope and attributes apart',
    reason:
      'fields of one record under the same names; the name and version of the scope are `scope.name` and `scope.version`',
    applies: (_, { attributes }) => attributes.length > 0,
  },
  {
    id: 'body and time',
    reason: 'the fields `_msg` and `_time`',
    applies: () => true,
  },
  {
    id: 'a record that is more than two days in the future',
    reason: 'not stored, although VictoriaLogs answers with status 200',
    applies: isTooFarAhead,
  },
  {
    id: 'time of observation',
    reason: 'not stored; it is the time of a record that has no other',
    applies: ({ observedTimeUnixNano }) => observedTimeUnixNano !== 0n,
  },
]
