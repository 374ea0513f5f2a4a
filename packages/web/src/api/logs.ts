import { getPage, type Page, type Query } from './client.ts'
import type { WireAttribute, WireValue } from './otlp-json.ts'

/** A log record as it is stored. Its fields come from strangers, so each may be absent. */
export interface StoredLogRecord {
  readonly service: string
  /** The time of the record, else when it was observed, else when it arrived. */
  readonly time_unix_nano: string
  readonly resource?: { readonly attributes?: readonly WireAttribute[] }
  readonly scope?: { readonly name?: string; readonly version?: string }
  readonly record: {
    readonly severityNumber?: number
    readonly severityText?: string
    readonly body?: WireValue
    readonly attributes?: readonly WireAttribute[]
    readonly traceId?: string
    readonly spanId?: string
    readonly eventName?: string
  }
}

/** Returns a page of log records, the latest first. */
export function listLogRecords(query: Query, signal?: AbortSignal): Promise<Page<StoredLogRecord>> {
  return getPage<StoredLogRecord>('/api/v1/observe/logs', query, signal)
}
