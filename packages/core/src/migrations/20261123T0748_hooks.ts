import { tableWithId } from '@penstock/db'
import type { Migration } from 'kysely'

const switches = [
  'push_events',
  'tag_push_events',
  'merge_requests_events',
  'repository_update_events',
  'issues_events',
  'confidential_issues_events',
  'note_events',
  'confidential_note_events',
  'pipeline_events',
  'wiki_page_events',
  'deployment_events',
  'feature_flag_events',
  'job_events',
  'releases_events',
  'milestone_events',
  'emoji_events',
  'resource_access_token_events',
  'resource_deploy_token_events',
  'vulnerability_events',
  'enable_ssl_verification',
]

/** Hooks of projects, the events on their way to them, and the log of calls. */
export const migration: Migration = {
  async up(db) {
    let hooks = tableWithId(db, 'hooks')
      .addColumn('project_id', 'integer', (column) => column.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('url', 'text', (column) => column.notNull())
      .addColumn('name', 'text')
      .addColumn('description', 'text')
      .addColumn('push_events_branch_filter', 'text')
      .addColumn('branch_filter_strategy', 'text', (column) => column.notNull())
      .addColumn('custom_webhook_template', 'text')
      .addColumn('secrets', 'text', (column) => column.notNull())
      .addColumn('recent_failures', 'integer', (column) => column.notNull())
      .addColumn('disabled_until_ms', 'bigint')
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
    for (const name of switches) hooks = hooks.addColumn(name, 'integer', (column) => column.notNull())
    await hooks.execute()
    await db.schema.createIndex('hooks_project').on('hooks').columns(['project_id', 'id']).execute()

    await tableWithId(db, 'hook_payloads')
      .addColumn('project_id', 'integer', (column) => column.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('event', 'text', (column) => column.notNull())
      .addColumn('event_uuid', 'text', (column) => column.notNull())
      .addColumn('data', 'text', (column) => column.notNull())
      .addColumn('pending', 'integer', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('hook_payloads_project').on('hook_payloads').column('project_id').execute()
    await db.schema.createIndex('hook_payloads_age').on('hook_payloads').column('created_at_ms').execute()

    // Calls do not refer to their hook, so that removing a hook does not have to delete a long log at once.
    await tableWithId(db, 'hook_calls')
      .addColumn('hook_id', 'integer', (column) => column.notNull())
      .addColumn('payload_id', 'integer')
      .addColumn('trigger', 'text', (column) => column.notNull())
      .addColumn('url', 'text', (column) => column.notNull())
      .addColumn('url_digest', 'text', (column) => column.notNull())
      .addColumn('idempotency_key', 'text', (column) => column.notNull())
      .addColumn('request_headers', 'text', (column) => column.notNull())
      .addColumn('request_data', 'text', (column) => column.notNull())
      .addColumn('response_status', 'integer')
      .addColumn('internal_error', 'text')
      .addColumn('response_headers', 'text', (column) => column.notNull())
      .addColumn('response_body', 'text', (column) => column.notNull())
      .addColumn('duration_ms', 'integer', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('ended_at_ms', 'bigint')
      .execute()
    await db.schema
      .createIndex('hook_calls_hook')
      .on('hook_calls')
      .columns(['hook_id', 'created_at_ms', 'id'])
      .execute()
    await db.schema.createIndex('hook_calls_payload').on('hook_calls').columns(['payload_id', 'hook_id']).execute()
    await db.schema.createIndex('hook_calls_age').on('hook_calls').column('created_at_ms').execute()

    await db.schema
      .createTable('hook_chains')
      .addColumn('event_uuid', 'text', (column) => column.notNull())
      .addColumn('hook_id', 'integer', (column) => column.notNull())
      .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('hook_chains_key', ['event_uuid', 'hook_id'])
      .execute()
    await db.schema.createIndex('hook_chains_end').on('hook_chains').column('expires_at_ms').execute()
  },
}
