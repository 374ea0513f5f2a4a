import type { Migrations } from '@penstock/db'
import { type DeliveryTables, deliveryMigrations } from '@penstock/delivery'

/** The tables of this package; an application puts them into the database that its own tables are in. */
export interface ExporterTables extends DeliveryTables {
  export_records: ExportRecordsTable
  export_pipelines: ExportPipelinesTable
  export_job_hooks: ExportJobHooksTable
}

/** What is to be sent, as it came: conversion happens when it is. */
export interface ExportRecordsTable {
  /** Of its deliveries, without the signal. */
  key: string
  scope: string
  /** JSON of the body. */
  body: string
  /** Ids and nanoseconds are text: they may be above 2^53. */
  received_at_ns: string
  root_id: string
  root_from: string
  upstream_root_id: string | null
  /** Jobs that earlier exports of the pipeline have sent, with blanks between; null for the first export. */
  previous_job_ids: string | null
  /** JSON of what job hooks have told of its jobs; null when nothing. */
  job_news: string | null
  /** JSON of an `ExportIdentity`; null if the ids follow from the record alone. */
  identity: string | null
  enqueued_at_ms: number
}

/** One row per pipeline that has been heard of. */
export interface ExportPipelinesTable {
  key: string
  root_id: string
  /** Of the latest export, with what follows; 0 and null or '' without one. */
  exports: number
  exported_root_id: string | null
  finished_at_ns: string | null
  /** Of what was exported; '' where news does not count. */
  digest: string
  /** Of all exports, with blanks between; '' where news does not count. */
  job_ids: string
  last_seen_at_ms: number
}

/** What job hooks have told of a job whose pipeline has not been exported yet. */
export interface ExportJobHooksTable {
  /** Key of its row in `export_pipelines`. */
  pipeline: string
  job_id: string
  /** JSON. */
  news: string
  seen_at_ms: number
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
}
