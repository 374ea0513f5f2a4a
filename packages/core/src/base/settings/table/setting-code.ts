import { z } from 'zod'
import { isRefName } from '../../git/repository-path.ts'
import { list, matches, object } from '../../kit/field-table.ts'
import { type Visibility, visibilities } from '../../model/access-level.ts'
import { branchProtectionMembers } from '../../model/branch-protection.ts'
import { networkList } from './network-list.ts'
import type { SettingCode } from './setting.ts'

/** The table column that stores the values; each setting has its own row there. */
export const VALUE = 'value'

const NOT_IN_SCHEMA = 'must be a valid json schema'

/** The roles that a protection can name: none, Developers, Maintainers, administrators. */
const protectingLevels = [0, 30, 40, 60] as const
const levels = z.array(z.object({ access_level: z.literal(protectingLevels) })).max(100)

const protection = z.looseObject(branchProtectionMembers(levels.optional(), z.boolean().optional()))

const signInRestrictions = [
  'disable_password_authentication_for_users_with_sso_identities',
  'root_moved_permanently_redirection',
  'session_expire_from_init',
  'require_minimum_email_based_otp_for_users_with_passwords',
]

/** The names of the storages for repositories. */
const storages = ['default']

/** The integrations that the list of allowed integrations can contain. */
const integrations = [
  'apple_app_store asana assembla bamboo beyond_identity bugzilla buildkite campfire clickup confluence',
  'custom_issue_tracker datadog diffblue_cover discord drone_ci emails_on_push ewm external_wiki',
  'git_guardian github gitlab_slack_application google_play hangouts_chat harbor irker jenkins jira',
  'jira_cloud_app linear matrix mattermost mattermost_slash_commands microsoft_teams packagist phorge',
  'pipelines_email pivotaltracker prometheus pumble pushover redmine slack slack_slash_commands',
  'squash_tm teamcity telegram unify_circuit webex_teams youtrack zentao',
].flatMap((line) => line.split(' '))

/** Joins names for a message, which is limited because a request may contain thousands of them. */
const listed = (names: readonly string[]): string => names.slice(0, 10).join(', ').slice(0, 1_000)

const onlyKeys = (keys: readonly string[]) => (value: object) =>
  !Object.keys(value).every((key) => keys.includes(key)) && NOT_IN_SCHEMA
const allBoolean = (value: object) => !Object.values(value).every((each) => typeof each === 'boolean') && NOT_IN_SCHEMA

const knownStorages = (weights: object) => {
  const unknown = Object.keys(weights).filter((name) => !storages.includes(name))
  return unknown.length > 0 && `can't include: ${listed(unknown)}`
}
const inRange = (weights: object) => {
  const wrong = Object.entries(weights).find(([, weight]) => !Number.isInteger(weight) || weight < 0 || weight > 100)
  return wrong !== undefined && `value for '${wrong[0]}' must be between 0 and 100`
}
const knownIntegrations = (names: readonly string[]) => {
  const unknown = names.filter((name) => !integrations.includes(name))
  return unknown.length > 0 && `contains unknown integrations: ${listed(unknown)}`
}

const ciConfigPath = (path: string) =>
  /^\/|(?:^|\/)\.\.(?:\/|$)/.test(path) && 'cannot include leading slash or directory traversal.'
const isAscii = (entries: readonly string[]) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII
  entries.some((entry) => !/^[\x00-\x7f]*$/.test(entry)) && 'unicode domains should use IDNA encoding'
const noTags = (entries: readonly string[]) =>
  entries.some((entry) => /<[^>]*>/.test(entry)) && 'entries cannot contain HTML tags'

/** Returns the host of the service, or nothing for commands that run without an external URL. */
const ownHost = (url: string): string[] => (URL.canParse(url) ? [new URL(url).hostname] : [])

/** The fields of settings that are lists or objects with members. */
export const structures = {
  default_branch_protection_defaults: object(VALUE, protection, {
    allowed_to_push: [{ access_level: 40 }],
    allow_force_push: false,
    allowed_to_merge: [{ access_level: 40 }],
  }).check(onlyKeys(Object.keys(protection.shape))),
  sign_in_restrictions: object(VALUE, z.record(z.string(), z.unknown()), {}).check(
    onlyKeys(signInRestrictions),
    allBoolean,
  ),
  repository_storages_weighted: object(VALUE, z.record(z.string(), z.unknown()), { default: 100 }).check(
    knownStorages,
    inRange,
  ),
  search_index_settings: list(
    VALUE,
    z.object({
      alias_name: z.string().max(255),
      number_of_shards: z.int().min(1).max(1_000),
      number_of_replicas: z.int().min(0).max(1_000),
    }),
  ).check((all) => all.length > 100 && 'is too long (maximum is 100 entries)'),
}

/** The rules of settings that need code. They return the message for a value that breaks the rule. */
export const codedRules: Readonly<Record<string, readonly ((value: never) => string | false)[]>> = {
  abuse_notification_email: [matches(/^[^\s@<>]+@[^\s@<>]+$/)],
  allowed_integrations: [knownIntegrations],
  default_branch_name: [(name: string) => !isRefName(name) && 'is not a valid branch name'],
  default_ci_config_path: [ciConfigPath],
  geo_node_allowed_ips: [(value: string) => value.trim() === '' && "can't be blank", networkList],
  globally_allowed_ips: [networkList],
  outbound_local_requests_whitelist: [isAscii, noTags],
  personal_access_token_prefix: [
    matches(
      /^[a-zA-Z0-9_+=/@:.-]+$/,
      "can contain only letters of the Base64 alphabet (RFC4648) with the addition of '@', ':' and '.'",
    ),
  ],
}

/** The settings with a default that depends on the instance, or with values that are stored in another form. */
export const codedValues = {
  asset_proxy_allowlist: {
    defaultOf: ({ externalUrl }) => ownHost(externalUrl),
    normalize: (hosts: readonly string[], { instance }) => [...new Set([...hosts, ...ownHost(instance.externalUrl)])],
  },
  default_branch_protection_defaults: {
    normalize: (value: object, { before }) => Object.assign({}, before, value),
  },
  personal_access_token_prefix: { defaultOf: ({ serviceName }) => `${serviceName}pat-` },
  repository_storages_weighted: {
    normalize: (weights: object) => ({ ...Object.fromEntries(storages.map((name) => [name, 0])), ...weights }),
  },
  restricted_visibility_levels: {
    // GitLab reads every other text as the lowest level.
    normalize: (names: readonly string[]) => [
      ...new Set(names.map((name) => (visibilities.includes(name as Visibility) ? name : 'private'))),
    ],
  },
} satisfies Readonly<Record<string, SettingCode>>
