import type { AttributeTable } from '../attribute-table.ts'

export interface LogContext {
  readonly severityText: string
  readonly source: 'pipeline' | 'job'
}

/** What a log record carries before the attributes of its span. @see spec/interface-1.md 2.4 */
export const logAttributes: AttributeTable<LogContext> = [
  { keys: ['log.level'], type: 'string', from: ({ severityText }) => severityText, absent: 'never' },
  { keys: ['log.source'], type: 'string', from: ({ source }) => source, absent: 'never' },
]
