import type { Migrations } from '@penstock/db'
import { type DeliveryTables, deliveryMigrations } from '@penstock/delivery'
import type { Generated } from 'kysely'

/** The tables of this package. An application adds them to the database of its own tables. */
export interface ExporterTables extends DeliveryTables {
  export_records: ExportRecordsTable
  export_pipelines: ExportPipelinesTable
  export_job_hooks: ExportJobHooksTable
  export_run_fetches: ExportRunFetchesTable
  export_token_refusals: ExportTokenRefusalsTable
}

/** Records to be sent, in the form in which they arrived; they are converted when they are sent. */
export interface ExportRecordsTable {
  /** The key of its deliveries, without the signal. */
  key: string
  scope: string
  /** The body as JSON. */
  body: string
  /** Ids and nanoseconds are text: they may be above 2^53. */
  received_at_ns: string
  root_id: string
  root_from: string
  upstream_root_id: string | null
  /** The ids of jobs that earlier exports of the pipeline have sent, separated by blanks; null for the first export. */
  previous_job_ids: string | null
  /** The enrichments of its jobs as JSON; null if there are none. */
  job_news: string | null
  /** An `ExportIdentity` as JSON; null if the ids follow from the record alone. */
  identity: string | null
  /** The forge that the body is read as; null if it is recognised. */
  forge: string | null
  /** 1 while the run waits for its job hooks, which are then added to the record; a record that is sent is 0. */
  collects: Generated<number>
  /** 1 if only jobs are sent, because the run itself was sent before. */
  only_jobs: Generated<number>
  enqueued_at_ms: number
}

/** One row per pipeline that a record or hook has mentioned. */
export interface ExportPipelinesTable {
  key: string
  root_id: string
  /**
   * The number of exports. This and the next columns describe the latest export. If there was none, they are 0, null or
   * ''.
   */
  exports: number
  exported_root_id: string | null
  finished_at_ns: string | null
  /** The digest of the exported record; '' if later completions are not exported. */
  digest: string
  /** The job ids of all exports, separated by blanks; '' if later completions are not exported. */
  job_ids: string
  last_seen_at_ms: number
}

/** Enrichments of jobs from job hooks, kept until the pipeline is exported. */
interface ExportJobHooksTable {
  /** The key of the pipeline's row in `export_pipelines`. */
  pipeline: string
  job_id: string
  /** The enrichment as JSON. */
  news: string
  seen_at_ms: number
}

/** Runs that are to be read from the REST API of their forge, until they have been read or given up. */
export interface ExportRunFetchesTable {
  /** The key of the record for a hook with a run, else one that is derived from the hook. */
  key: string
  scope: string
  /** The reference of the run in its forge as JSON. */
  reference: string
  /** The hook as JSON, which is exported if the run cannot be read; null if the hook only names the run. */
  body: string | null
  received_at_ns: string
  /** The answers to the requests of an attempt that was interrupted, as JSON; null if there are none. */
  answers: string | null
  enqueued_at_ms: number
}

/** The sources with an API token that their forge refused at the last attempt. */
interface ExportTokenRefusalsTable {
  scope: string
  /** One line without secrets. */
  reason: string
  since_ms: number
}

export const exporterMigrations: Migrations = {
  ...deliveryMigrations,
  '0002_exports': {
    up: async (db) => {
      await db.schema
        .createTable('export_records')
        .addColumn('key', 'text', (column) => column.primaryKey())
        .addColumn('scope', 'text', (column) => column.notNull())
        .addColumn('body', 'text', (column) => column.notNull())
        .addColumn('received_at_ns', 'text', (column) => column.notNull())
        .addColumn('root_id', 'text', (column) => column.notNull())
        .addColumn('root_from', 'text', (column) => column.notNull())
        .addColumn('upstream_root_id', 'text')
        .addColumn('previous_job_ids', 'text')
        .addColumn('job_news', 'text')
        .addColumn('enqueued_at_ms', 'bigint', (column) => column.notNull())
        .execute()
      await db.schema
        .createIndex('export_records_enqueued')
        .on('export_records')
        .columns(['enqueued_at_ms', 'key'])
        .execute()

      await db.schema
        .createTable('export_pipelines')
        .addColumn('key', 'text', (column) => column.primaryKey())
        .addColumn('root_id', 'text', (column) => column.notNull())
        .addColumn('exports', 'integer', (column) => column.notNull())
        .addColumn('exported_root_id', 'text')
        .addColumn('finished_at_ns', 'text')
        .addColumn('digest', 'text', (column) => column.notNull())
        .addColumn('job_ids', 'text', (column) => column.notNull())
        .addColumn('last_seen_at_ms', 'bigint', (column) => column.notNull())
        .execute()
      await db.schema.createIndex('export_pipelines_seen').on('export_pipelines').columns(['last_seen_at_ms']).execute()

      await db.schema
        .createTable('export_job_hooks')
        .addColumn('pipeline', 'text', (column) => column.notNull())
        .addColumn('job_id', 'text', (column) => column.notNull())
        .addColumn('news', 'text', (column) => column.notNull())
        .addColumn('seen_at_ms', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('export_job_hooks_job', ['pipeline', 'job_id'])
        .execute()
      await db.schema.createIndex('export_job_hooks_seen').on('export_job_hooks').columns(['seen_at_ms']).execute()
    },
  },
  '20261122T1500_export_identity': {
    up: async (db) => {
      await db.schema.alterTable('export_records').addColumn('identity', 'text').execute()
    },
  },
  '20261130T1600_runs_of_every_forge': {
    up: async (db) => {
      await db.schema.alterTable('export_records').addColumn('forge', 'text').execute()
      for (const column of ['collects', 'only_jobs']) {
        await db.schema
          .alterTable('export_records')
          .addColumn(column, 'integer', (added) => added.notNull().defaultTo(0))
          .execute()
      }
    },
  },
  '20261130T2100_run_fetches': {
    up: async (db) => {
      await db.schema
        .createTable('export_run_fetches')
        .addColumn('key', 'text', (column) => column.primaryKey())
        .addColumn('scope', 'text', (column) => column.notNull())
        .addColumn('reference', 'text', (column) => column.notNull())
        .addColumn('body', 'text')
        .addColumn('received_at_ns', 'text', (column) => column.notNull())
        .addColumn('answers', 'text')
        .addColumn('enqueued_at_ms', 'bigint', (column) => column.notNull())
        .execute()
      await db.schema
        .createTable('export_token_refusals')
        .addColumn('scope', 'text', (column) => column.primaryKey())
        .addColumn('reason', 'text', (column) => column.notNull())
        .addColumn('since_ms', 'bigint', (column) => column.notNull())
        .execute()
    },
  },
}
