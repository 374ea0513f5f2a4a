import type { Signal } from '@penstock/otlp'
import { type Page, type Position, toPage } from '../paging/cursor.ts'
import type { ResponseBudget } from '../paging/response-budget.ts'
import { MAX_SERVICES, type ServiceSummary } from '../queries/service-queries.ts'
import type { ObserveStatus } from '../store/status.ts'
import { LOGS, metricTables, TRACES } from './schema/exporter-schema.ts'
import { nanoseconds, serviceName } from './schema/tables.ts'
import type { Source } from './source.ts'
import type { ViewState } from './views/view-maintenance.ts'
import { SERVICES } from './views/view-tables.ts'

interface SignalTable {
  readonly signal: Signal
  readonly table: string
  readonly time: string
}

/** Returns the tables that the database has, with the signal of each and the column of its times. */
const tablesOf = ({ schema }: Source): readonly SignalTable[] =>
  [
    { signal: 'traces' as const, table: TRACES, time: 'Timestamp' },
    ...Object.values(metricTables).map((table) => ({ signal: 'metrics' as const, table, time: 'TimeUnix' })),
    { signal: 'logs' as const, table: LOGS, time: 'Timestamp' },
  ].filter(({ table }) => schema.has(table))

const MINUTE_MS = 60_000
const NS_PER_MS = 1_000_000n

/** Returns services by name. `last_seen_at` is the time of the last item, because the exporter stores no times of arrival. */
export async function listServices(
  source: Source,
  after: Position | undefined,
  budget: ResponseBudget,
): Promise<Page<ServiceSummary>> {
  const tables = tablesOf(source)
  if (tables.length === 0) return { items: [], next: undefined }
  const parts = tables.map(({ signal, table, time }) => {
    const [from, last] = source.views.servicesOf.has(table)
      ? [`${SERVICES} WHERE Source = '${table}'`, 'LastSeen']
      : [table, time]
    return `SELECT ${serviceName} AS name, '${signal}' AS signal, max(${nanoseconds(last)}) AS last FROM ${from} GROUP BY name`
  })
  const rows = await source.db.rows<{ name: string; signals: string[]; last: string }>(
    `SELECT name, groupUniqArray(signal) AS signals, max(last) AS last FROM (${parts.join(' UNION ALL ')})
     WHERE name > {after:String} GROUP BY name ORDER BY name LIMIT {limit:UInt32}`,
    { after: after?.[0] ?? '', limit: MAX_SERVICES + 1 },
  )
  const found = rows.map(({ name, signals, last }) => ({
    row: name,
    item: {
      name,
      signals: (['traces', 'metrics', 'logs'] as const).filter((signal) => signals.includes(signal)),
      last_seen_at: minuteOf(last),
    },
  }))
  const fitting = found.filter(({ item }) => budget.take(item, [item.name]))
  return toPage(fitting, { limit: MAX_SERVICES, isTruncated: budget.isTruncated }, (name) => [name])
}

function minuteOf(ns: string): string {
  const ms = Number(BigInt(ns) / NS_PER_MS)
  return new Date(ms - (ms % MINUTE_MS)).toISOString()
}

/** Returns a sentence about the tables that queries read. */
function sentenceAbout(state: ViewState, hasPipelines: boolean): string {
  if (hasPipelines) return "Lists of pipelines and insights are read from Penstock's views."
  switch (state.kind) {
    case 'refused':
      return `Penstock has no views there, so queries are slower: ${state.reason}.`
    case 'not_created':
      return 'Penstock has no views there, so queries are slower; observe.createViews lets it create them.'
    case 'failed':
      return "Penstock's views could not be completed yet, so queries are slower; the log says why."
    case 'filling':
    case 'created':
      return "Penstock's views are not complete yet, so queries are slower."
  }
}

const PURPOSE =
  'A ClickHouse database that an OpenTelemetry Collector writes to. Its operator decides how long it keeps data.'

export async function readStatus(source: Source, viewState: ViewState): Promise<ObserveStatus> {
  const kept = { spans: 0, log_records: 0, points: 0 }
  const columns = { traces: 'spans', logs: 'log_records', metrics: 'points' } as const
  let oldest: bigint | undefined
  for (const { signal, table, time } of tablesOf(source)) {
    const { rows, first } = await source.db.row<{ rows: string; first: string }>(
      `SELECT count() AS rows, ${nanoseconds(`min(${time})`)} AS first FROM ${table}`,
    )
    kept[columns[signal]] += Number(rows)
    if (rows !== '0' && (oldest === undefined || BigInt(first) < oldest)) oldest = BigInt(first)
  }
  return {
    purpose: `${PURPOSE} ${sentenceAbout(viewState, source.views.hasPipelines)}`,
    retention_seconds: null,
    max_bytes: null,
    used_bytes: null,
    oldest_received_at: oldest === undefined ? null : new Date(Number(oldest / NS_PER_MS)).toISOString(),
    kept,
  }
}
