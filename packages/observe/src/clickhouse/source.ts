import type { ClickHouse } from './clickhouse-client.ts'
import type { ExporterSchema } from './exporter-schema.ts'

/** The database and tables that the queries read. */
export interface Source {
  readonly db: ClickHouse
  readonly schema: ExporterSchema
  /** The table with at least the spans of pipelines, jobs and stages. */
  readonly pipelineTable: string
  nowMs(): number
  /** Returns a function that tells whether a search that starts now has taken its time. */
  deadline(): () => boolean
}
