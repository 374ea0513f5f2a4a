import type { LogRecord, Resource } from '@penstock/otlp'

/** Something of a log record that VictoriaLogs changes or does not store, by the name that docs/backends.md has for it. */
export interface LogLoss {
  readonly id: string
  readonly reason: string
  /** Whether a record has it. A test fails if no record of the fixtures has it. */
  applies(record: LogRecord, resource: Resource): boolean
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
    id: 'time of observation',
    reason: 'not stored',
    applies: ({ observedTimeUnixNano }) => observedTimeUnixNano !== 0n,
  },
]
