import type { ClickHouse } from './clickhouse-client.ts'

/** The types of metrics, each with the table that the collector's exporter writes it to. */
export const metricTables = {
  gauge: 'otel_metrics_gauge',
  sum: 'otel_metrics_sum',
  histogram: 'otel_metrics_histogram',
  exponentialHistogram: 'otel_metrics_exponential_histogram',
  summary: 'otel_metrics_summary',
} as const
export type MetricType = keyof typeof metricTables

export const TRACES = 'otel_traces'
/** The time range of each trace, which a materialised view of the exporter fills. */
export const TRACE_RANGES = 'otel_traces_trace_id_ts'
export const LOGS = 'otel_logs'

/** The error for tables that the queries cannot read. */
export class UnknownSchema extends Error {
  override readonly name = 'UnknownSchema'
}

/** Which tables of the exporter the database has, with their columns. The exporter creates each when it has data of that kind. */
export class ExporterSchema {
  readonly #columns: ReadonlyMap<string, ReadonlyMap<string, string>>

  constructor(columns: readonly ColumnRow[]) {
    const byTable = new Map<string, Map<string, string>>()
    for (const { table, name, type } of columns) {
      const known = byTable.get(table) ?? new Map<string, string>()
      byTable.set(table, known.set(name, type))
    }
    this.#columns = byTable
    for (const [table, types] of byTable) {
      const attributes = types.get('ResourceAttributes') ?? 'Map'
      if (!attributes.startsWith('Map')) {
        throw new UnknownSchema(
          `${table} has attributes of type ${attributes}; only maps are read (the exporter's json: false)`,
        )
      }
    }
  }

  has(table: string): boolean {
    return this.#columns.has(table)
  }

  hasColumn(table: string, column: string): boolean {
    return this.#columns.get(table)?.has(column) ?? false
  }

  /** Returns the types of metrics that have a table. */
  get metricTypes(): readonly MetricType[] {
    return (Object.keys(metricTables) as MetricType[]).filter((type) => this.has(metricTables[type]))
  }
}

interface ColumnRow {
  readonly table: string
  readonly name: string
  readonly type: string
}

const readTables = [TRACES, TRACE_RANGES, LOGS, ...Object.values(metricTables)]

export async function readSchema(db: ClickHouse): Promise<ExporterSchema> {
  return new ExporterSchema(
    await db.rows<ColumnRow>(
      `SELECT table, name, type FROM system.columns
       WHERE database = currentDatabase() AND table IN {tables:Array(String)}`,
      { tables: readTables },
    ),
  )
}
