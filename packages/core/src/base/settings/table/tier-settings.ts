import { z } from 'zod'
import { list } from '../../kit/field-table.ts'
import { networkList } from './network-list.ts'
import { inForce, stored, typed, untyped, VALUE } from './setting.ts'
import { from, idOrNull, line, listed, off, on, positive, texts } from './setting-fields.ts'

/** The integrations that the list of allowed integrations can contain. */
const integrations = [
  'apple_app_store asana assembla bamboo beyond_identity bugzilla buildkite campfire clickup confluence',
  'custom_issue_tracker datadog diffblue_cover discord drone_ci emails_on_push ewm external_wiki',
  'git_guardian github gitlab_slack_application google_play hangouts_chat harbor irker jenkins jira',
  'jira_cloud_app linear matrix mattermost mattermost_slash_commands microsoft_teams packagist phorge',
  'pipelines_email pivotaltracker prometheus pumble pushover redmine slack slack_slash_commands',
  'squash_tm teamcity telegram unify_circuit webex_teams youtrack zentao',
].flatMap((line) => line.split(' '))

const knownIntegrations = (names: readonly string[]) => {
  const unknown = names.filter((name) => !integrations.includes(name))
  return unknown.length > 0 && `contains unknown integrations: ${listed(unknown)}`
}

const SCANS = 'Transfers of dependency scans.'

/** The settings that GitLab has on paid tiers only. */
export const tierSettings = {
  allow_all_integrations: untyped(on(), stored('Whether projects may use every integration.')),
  allowed_integrations: typed(
    texts(1_000).check(knownIntegrations),
    stored('The integrations that projects may use while `allow_all_integrations` is false.', {
      allowed: 'names of integrations',
    }),
  ),
  audit_events_api_limit: typed(from(0, 400), stored('Lists of audit events.')),
  group_audit_events_api_limit: untyped(from(0, 400), stored('Lists of audit events of a group.')),
  project_audit_events_api_limit: untyped(from(0, 400), stored('Lists of audit events of a project.')),
  default_project_deletion_protection: typed(
    off(),
    inForce('Whether only administrators delete projects.', '`DELETE /projects/:id`'),
  ),
  delete_unconfirmed_users: untyped(
    off(),
    stored('Whether users without a confirmed address are deleted.', {
      allowed: 'false if `email_confirmation_setting` is `off`',
    }),
  ),
  unconfirmed_users_delete_after_days: untyped(positive(7), stored('Days until they are deleted.')),
  dependency_scanning_sbom_scan_api_download_limit: untyped(from(0, 500), stored(SCANS)),
  dependency_scanning_sbom_scan_api_upload_limit: untyped(from(0, 500), stored(SCANS)),
  disable_personal_access_tokens: typed(
    off(),
    inForce(
      'Whether personal access tokens cannot be created or used. Tokens of projects and groups are not affected.',
      'creating personal access tokens, and every request with one',
    ),
  ),
  ai_agent_platform_enabled: untyped(on(), stored("Whether the assistant's agents are on.")),
  ai_features_enabled: typed(on(), stored("Whether the assistant's features are on.")),
  lock_ai_features_enabled: typed(off(), stored('Whether groups cannot change that.')),
  search_index_settings: typed(
    list(
      VALUE,
      z.object({
        alias_name: z.string().max(255),
        number_of_shards: z.int().min(1).max(1_000),
        number_of_replicas: z.int().min(0).max(1_000),
      }),
    ).check((all) => all.length > 100 && 'is too long (maximum is 100 entries)'),
    stored('The indexes of the search engine.'),
  ),
  file_template_project_id: typed(idOrNull(), stored('The project with templates of files.')),
  geo_node_allowed_ips: untyped(
    line(255, '0.0.0.0/0, ::/0').check((value) => value.trim() === '' && "can't be blank", networkList),
    stored('Addresses from which other sites may send requests.', {
      allowed: 'addresses and networks, separated by commas',
    }),
  ),
  geo_status_timeout: untyped(positive(10), stored("Seconds for the answer of another site's status.")),
  group_owners_can_manage_default_branch_protection: typed(
    on(),
    inForce('Whether the protection that groups set is in force.', 'commits and merges into the default branch'),
  ),
  project_secrets_limit: untyped(from(0, 100), stored('Secrets of a project. 0: none.')),
  group_secrets_limit: untyped(from(0, 500), stored('Secrets of a group. 0: none.')),
  scan_execution_policies_action_limit: untyped(from(0, 0, 20), stored('Actions of a scan execution policy.')),
  scan_execution_policies_schedule_limit: untyped(from(0, 0, 20), stored('Schedules of a scan execution policy.')),
  security_approval_policies_limit: untyped(from(5, 5, 20), stored('Approval policies of a project.')),
  secret_push_protection_available: untyped(off(), stored('Whether projects may block pushes with secrets.')),
  security_policy_global_group_approvers_enabled: typed(on(), stored('Whether approvers come from all groups.')),
  use_columnar_db_for_analytics: untyped(off(), stored('Whether analytics use the columnar database.')),
  virtual_registries_endpoints_api_limit: typed(
    from(0, 1_000),
    stored('Requests to virtual registries in 15 seconds.'),
  ),
  security_mr_report_cache_lifetime_minutes: untyped(
    from(10, 10, 60),
    stored('Minutes that security reports are cached.'),
  ),
  service_access_tokens_expiration_enforced: typed(on(), stored('Whether tokens of service accounts expire.')),
  lock_memberships_to_saml: untyped(off(), stored('Whether only single sign-on changes memberships.')),
}
