import type { SettingName } from './table/setting-table.ts'

/**
 * GitLab's names of settings that have a name without a product here. Requests may use them with every service name. The record
 * has them only if the service is called `gitlab`, because clients of GitLab then read them.
 */
export const platformNames = {
  gravatar_enabled: 'avatar_service_enabled',
  plantuml_enabled: 'diagram_a_enabled',
  plantuml_url: 'diagram_a_url',
  diagramsnet_enabled: 'diagram_b_enabled',
  diagramsnet_url: 'diagram_b_url',
  kroki_enabled: 'diagram_c_enabled',
  kroki_url: 'diagram_c_url',
  maven_package_requests_forwarding: 'ecosystem_a_package_requests_forwarding',
  npm_package_requests_forwarding: 'ecosystem_b_package_requests_forwarding',
  pypi_package_requests_forwarding: 'ecosystem_c_package_requests_forwarding',
  concurrent_github_import_jobs_limit: 'concurrent_forge_a_import_jobs_limit',
  concurrent_bitbucket_import_jobs_limit: 'concurrent_forge_b_import_jobs_limit',
  concurrent_bitbucket_server_import_jobs_limit: 'concurrent_forge_b_server_import_jobs_limit',
  jira_connect_application_key: 'tracker_connect_application_key',
  jira_connect_proxy_url: 'tracker_connect_proxy_url',
  jira_connect_additional_audience_url: 'tracker_connect_additional_audience_url',
  jira_connect_public_key_storage_enabled: 'tracker_connect_public_key_storage_enabled',
  duo_agent_platform_enabled: 'ai_agent_platform_enabled',
  duo_features_enabled: 'ai_features_enabled',
  lock_duo_features_enabled: 'lock_ai_features_enabled',
  use_clickhouse_for_analytics: 'use_columnar_db_for_analytics',
} as const satisfies Readonly<Record<string, SettingName>>

/** GitLab's name of `ai_availability`, which has no row of its own. */
export const PLATFORM_AVAILABILITY = 'duo_availability'

/** Returns GitLab's names of a setting. */
export const platformNamesFor = (name: string): readonly string[] =>
  Object.entries(platformNames).flatMap(([platformName, own]) => (own === name ? [platformName] : []))
