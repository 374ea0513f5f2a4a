import type { AttributeTable } from '../base/attribute-table.ts'

export interface LogContext {
  readonly severityText: string
  readonly source: 'pipeline' | 'job'
}

/** The attributes of a log record that precede the attributes of its span. */
export const logAttributes: AttributeTable<LogContext> = [
  { keys: ['log.level'], type: 'string', from: ({ severityText }) => severityText, absent: 'never' },
  { keys: ['log.source'], type: 'string', from: ({ source }) => source, absent: 'never' },
]
