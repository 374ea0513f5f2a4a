import { inForce, stored, typed, untyped } from './setting.ts'
import { from, idOrNull, positive, positiveOrNull } from './setting-fields.ts'

const NO_LIMIT = '0: no limit.'

/** Integer settings about accounts, sizes, times and imports. */
export const amountSettings = {
  default_projects_limit: typed(
    from(0, 100_000),
    inForce('Projects that a new user may create in their own namespace.', '`POST /users`, `penstock user create`'),
  ),
  deletion_adjourned_period: untyped(from(1, 30, 90), stored('Days until a deleted group or project is removed.')),
  failed_login_attempts_unlock_period_in_minutes: untyped(
    positiveOrNull(),
    inForce('Minutes in which failed sign-ins are counted. Null: 10.', 'the sign-in page and the password grant'),
  ),
  max_attachment_size: typed(
    positive(100),
    inForce('Megabytes of an attachment of a wiki.', '`POST …/wikis/attachments`'),
  ),
  max_decompressed_archive_size: typed(from(0, 25_600), stored(`Megabytes of an unpacked archive. ${NO_LIMIT}`)),
  max_export_size: typed(from(0, 0), stored(`Megabytes of an export. ${NO_LIMIT}`)),
  max_import_size: typed(from(0, 0), stored(`Megabytes of an import. ${NO_LIMIT}`)),
  max_import_remote_file_size: typed(from(0, 10_240), stored(`Megabytes of an imported remote file. ${NO_LIMIT}`)),
  max_login_attempts: untyped(
    positiveOrNull(),
    inForce(
      'Failed sign-ins of a login or an address before further ones are rejected. Null: 10.',
      'the sign-in page and the password grant',
    ),
  ),
  session_expire_delay: typed(
    positive(10_080),
    inForce(
      'Minutes without a request after which a browser session ends. A session ends after 30 days in any case.',
      'every request with a browser session',
    ),
  ),
  container_registry_cleanup_tags_service_max_list_size: untyped(
    from(0, 200),
    stored('Tags that one cleanup removes.'),
  ),
  container_registry_delete_tags_service_timeout: untyped(from(0, 250), stored('Seconds for one cleanup of tags.')),
  container_registry_expiration_policies_worker_capacity: untyped(from(0, 4), stored('Workers of cleanup policies.')),
  container_registry_token_expire_delay: typed(positive(5), stored('Minutes until a token of the registry expires.')),
  oauth_access_token_expires_in: typed(
    from(300, 7_200).optional().default(7_200),
    inForce(
      'Seconds until a new OAuth access token expires. Null: 7200. Existing tokens keep theirs.',
      '`POST /oauth/token`',
    ),
  ),
  decompress_archive_file_timeout: typed(from(0, 210), stored(`Seconds to unpack an archive. ${NO_LIMIT}`)),
  package_registry_cleanup_policies_worker_capacity: untyped(from(0, 2), stored('Workers of package cleanup.')),
  terminal_max_session_time: typed(from(0, 0), stored(`Seconds of a web terminal's connection. ${NO_LIMIT}`)),
  inactive_resource_access_tokens_delete_after_days: untyped(
    positive(30),
    stored('Days until the bot of an inactive access token is removed.'),
  ),
  performance_bar_allowed_group_id: untyped(
    idOrNull(),
    stored('The group of the users who may see the performance bar.', { allowed: 'the id or path of a group' }),
  ),
  local_markdown_version: typed(
    from(0, 0, 65_535).optional().default(0),
    stored('The version of rendered Markdown; a higher one drops cached renderings.'),
  ),
  snippet_size_limit: untyped(
    positive(52_428_800),
    inForce('Bytes of a snippet.', 'creating and changing snippets, by REST and GraphQL'),
  ),
  wiki_page_max_content_bytes: typed(
    from(1_024, 5_242_880),
    inForce('Bytes of a wiki page.', 'creating and changing wiki pages'),
  ),
  external_pipeline_validation_service_timeout: untyped(
    positiveOrNull(),
    stored('Seconds for the answer of the pipeline validation service.'),
  ),
  security_scan_stale_after_days: typed(from(7, 90, 90), stored('Days until a security scan is stale.')),
  bulk_import_max_download_file_size: untyped(from(0, 5_120), stored('Megabytes of a file in a direct transfer.')),
  bulk_import_concurrent_pipeline_batch_limit: typed(positive(25), stored('Concurrent batches of direct transfers.')),
  concurrent_relation_batch_export_limit: typed(positive(25), stored('Concurrent batch exports of relations.')),
  concurrent_relation_export_limit: untyped(positive(25), stored('Concurrent exports of relations.')),
  relation_export_batch_size: untyped(positive(50), stored('Objects in one batch of a relation export.')),
  concurrent_forge_a_import_jobs_limit: typed(positive(1_000), stored('Concurrent jobs of an importer.')),
  concurrent_forge_b_import_jobs_limit: typed(positive(100), stored('Concurrent jobs of an importer.')),
  concurrent_forge_b_server_import_jobs_limit: typed(positive(100), stored('Concurrent jobs of an importer.')),
  concurrent_pull_request_import_jobs_limit: typed(positive(200), stored('Concurrent jobs that import pull requests.')),
  import_jobs_concurrency_limit: untyped(positive(100), stored('Concurrent import jobs of each kind.')),
  max_http_response_size_limit: untyped(
    from(0, 104_857_600),
    stored(`Bytes of a response to a request that the service sends. ${NO_LIMIT}`),
  ),
  push_event_hooks_limit: untyped(
    from(0, 3),
    inForce('Changed refs in one push above which no push hooks are sent.', 'webhooks'),
  ),
}
