import type { AnyValue, LogRecord, OtlpRequest } from '@penstock/otlp'
import type { LogRow } from './victoria-logs.ts'

/** The fields that VictoriaLogs adds itself. */
const ownFields = ['_stream', '_stream_id'] as const

/** Returns the rows that VictoriaLogs should store of the kept records of a request: every field as a text under its own name. */
export function rowsOf({ resources }: OtlpRequest<'logs'>, isKept: (record: LogRecord) => boolean): LogRow[] {
  return resources.flatMap(({ resource, scopes }) =>
    scopes.flatMap(({ scope, items }) =>
      items.filter(isKept).map((record) => ({
        ...fieldsOf(resource.attributes),
        'scope.name': scope.name || 'unknown',
        'scope.version': scope.version || 'unknown',
        ...fieldsOf(record.attributes),
        ...recordFields(record),
      })),
    ),
  )
}

/** Returns the time that VictoriaLogs stores: that of the observation, if there is no other. */
export const timeOf = ({ timeUnixNano, observedTimeUnixNano }: LogRecord): bigint =>
  timeUnixNano || observedTimeUnixNano

/** Returns a stored row without the fields that VictoriaLogs adds. */
export const withoutOwnFields = (row: LogRow): LogRow =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !ownFields.some((own) => own === name)))

function recordFields(record: LogRecord): LogRow {
  return {
    _time: timeText(timeOf(record)),
    _msg: record.body === undefined ? '' : textOf(record.body),
    trace_id: record.traceId,
    span_id: record.spanId,
    severity_number: String(record.severityNumber),
    severity_text: record.severityText,
    ...(record.eventName !== '' && { event_name: record.eventName }),
  }
}

const fieldsOf = (attributes: readonly (AnyValue & { readonly key: string })[]): LogRow =>
  Object.fromEntries(attributes.map((attribute) => [attribute.key, textOf(attribute)]))

/** Returns a time as RFC 3339, with as many decimals as it needs. */
function timeText(ns: bigint): string {
  const seconds = new Date(Number(ns / 1_000_000_000n) * 1000).toISOString().slice(0, -'.000Z'.length)
  const decimals = (ns % 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '')
  return `${seconds}${decimals === '' ? '' : `.${decimals}`}Z`
}

function textOf({ type, value }: AnyValue): string {
  switch (type) {
    case 'array':
      return JSON.stringify(value.map((each) => plainOf(each)))
    case 'string':
    case 'bool':
    case 'int':
    case 'double':
      return String(value)
    default:
      throw new Error(`a value of type ${type}`)
  }
}

function plainOf(value: AnyValue): string | number | boolean {
  if (value.type === 'string' || value.type === 'bool' || value.type === 'double') return value.value
  throw new Error(`a list with a value of type ${value.type}`)
}
