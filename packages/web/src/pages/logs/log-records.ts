import type { StoredLogRecord } from '../../api/logs.ts'
import { toValueText } from '../../api/otlp-json.ts'
import { toMilliseconds } from '../../components/time.ts'

/** The severities that filters offer: each includes those above it. */
export const severities = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
export type Severity = (typeof severities)[number]

/** Returns the severity of OTLP's number, which has four steps for each; undefined if it is not set. */
export function toSeverity(number: number | undefined): Severity | undefined {
  if (number === undefined || number < 1) return undefined
  return severities[Math.min(severities.length - 1, Math.floor((number - 1) / 4))]
}

/** A log record as the page shows it. */
export interface LogRow {
  /** Names the record in the address: its time, and its place among those of the same time. */
  readonly key: string
  readonly timeNs: string
  readonly service: string
  readonly severity: Severity | undefined
  readonly body: string
  readonly traceId: string | undefined
  readonly spanId: string | undefined
  readonly facts: readonly (readonly [name: string, value: string])[]
}

/** Returns the rows of records. */
export function logRows(records: readonly StoredLogRecord[]): readonly LogRow[] {
  const seen = new Map<string, number>()
  return records.map((stored) => {
    const { record, time_unix_nano: timeNs } = stored
    const place = seen.get(timeNs) ?? 0
    seen.set(timeNs, place + 1)
    return {
      key: place === 0 ? timeNs : `${timeNs}.${place}`,
      timeNs,
      service: stored.service,
      severity: toSeverity(record.severityNumber),
      body: toValueText(record.body) || record.eventName || '',
      traceId: record.traceId || undefined,
      spanId: record.spanId || undefined,
      facts: factsOf(stored),
    }
  })
}

function factsOf({ record, resource, scope, service }: StoredLogRecord): readonly (readonly [string, string])[] {
  const attributes = (record.attributes ?? []).map(({ key, value }) => [key ?? '', toValueText(value)] as const)
  const others: readonly (readonly [string, string | undefined])[] = [
    ['severity', record.severityText],
    ['event', record.eventName],
    ['span', record.spanId],
    ['service', service],
    ['scope', scope?.name],
  ]
  const ofResource = (resource?.attributes ?? [])
    .filter(({ key }) => key !== 'service.name')
    .map(({ key, value }) => [key ?? '', toValueText(value)] as const)
  return [
    ...attributes,
    ...others.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, value] as const])),
    ...ofResource,
  ]
}

/** Returns reloaded records before the older ones that were loaded already. */
export function mergeRecords(
  fresh: readonly StoredLogRecord[],
  shown: readonly StoredLogRecord[],
): readonly StoredLogRecord[] {
  const oldest = fresh.at(-1)
  if (oldest === undefined) return shown
  const end = BigInt(oldest.time_unix_nano)
  const known = new Set(fresh.filter((record) => record.time_unix_nano === oldest.time_unix_nano).map(textOf))
  const older = shown.filter((record) => {
    const time = BigInt(record.time_unix_nano)
    return time < end || (time === end && !known.has(textOf(record)))
  })
  return [...fresh, ...older]
}

function textOf(record: StoredLogRecord): string {
  return JSON.stringify(record)
}

/** A bar of the histogram: how many records of a part of the time there are. */
export interface LogBar {
  readonly x: number
  readonly width: number
  readonly errors: number
  readonly warnings: number
  readonly others: number
}

export const HISTOGRAM_WIDTH = 1000
const BARS = 48

/** Returns the bars of records over time. */
export function logBars(rows: readonly LogRow[], sinceMs: number, untilMs: number): readonly LogBar[] {
  const size = Math.max(1, untilMs - sinceMs) / BARS
  const counts = Array.from({ length: BARS }, () => ({ errors: 0, warnings: 0, others: 0 }))
  for (const { timeNs, severity } of rows) {
    const index = Math.floor((Number(timeNs) / 1e6 - sinceMs) / size)
    const count = counts[Math.min(BARS - 1, Math.max(0, index))]!
    if (severity === 'error' || severity === 'fatal') count.errors += 1
    else if (severity === 'warn') count.warnings += 1
    else count.others += 1
  }
  const width = HISTOGRAM_WIDTH / BARS
  return counts.flatMap((count, index) =>
    count.errors + count.warnings + count.others === 0
      ? []
      : [{ ...count, x: index * width + width * 0.1, width: width * 0.8 }],
  )
}

/** How far the records around a record reach. What led to a record matters more than what followed. */
const BEFORE_MS = 60_000
const AFTER_MS = 10_000

/** Returns the address of the records of the same service around a record, with the record open and without other filters. */
export function addressAround({ key, timeNs, service }: LogRow): string {
  const ms = toMilliseconds(timeNs)
  const query = new URLSearchParams(service === '' ? {} : { service })
  query.set('since', new Date(ms - BEFORE_MS).toISOString())
  query.set('until', new Date(ms + AFTER_MS).toISOString())
  query.set('open', key)
  return `/logs?${query}`
}
