import { z } from 'zod'
import type { LogQuery } from '../queries/log-queries.ts'
import { searchText, service, traceId } from './query-route.ts'

/** Name → the first of OTLP's four severity numbers of that name. */
const severities = { trace: 1, debug: 5, info: 9, warn: 13, error: 17, fatal: 21 } as const

const spanId = z
  .string()
  .regex(/^[0-9a-fA-F]{16}$/)
  .transform((id) => id.toLowerCase())

/** The filters that lists and live updates of log records accept. */
export const logFilter = {
  service,
  severity: z.enum(Object.keys(severities) as (keyof typeof severities)[]).optional(),
  trace_id: traceId.optional(),
  span_id: spanId.optional(),
  q: searchText.meta({ description: 'A text in the body of the record, in any case' }).optional(),
}

const schema = z.object(logFilter)

export const toLogFilter = ({
  service,
  severity,
  trace_id,
  span_id,
  q,
}: z.output<typeof schema>): Pick<LogQuery, 'service' | 'minSeverity' | 'traceId' | 'spanId' | 'text'> => ({
  service,
  minSeverity: severity && severities[severity],
  traceId: trace_id,
  spanId: span_id,
  text: q,
})
