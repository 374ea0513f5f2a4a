import type { PipelineSource } from './pipeline-source.ts'
import type { KnownSpans } from './pipeline-spans.ts'
import type { ClickHouse } from './schema/clickhouse-client.ts'
import type { ExporterSchema } from './schema/exporter-schema.ts'
import type { ReadyViews } from './views/ready-views.ts'

/** The database and tables that the queries read. */
export interface Source {
  readonly db: ClickHouse
  readonly schema: ExporterSchema
  readonly views: ReadyViews
  readonly pipelines: PipelineSource
  readonly knownSpans: KnownSpans
  nowMs(): number
  /** Returns a function that shows whether a search that starts now has taken its time. */
  deadline(): () => boolean
}
