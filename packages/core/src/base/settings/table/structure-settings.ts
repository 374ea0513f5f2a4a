import { z } from 'zod'
import { list, object } from '../../kit/field-table.ts'
import { type Visibility, visibilities } from '../../model/access-level.ts'
import { branchProtectionMembers } from '../../model/branch-protection.ts'
import { inForce, stored, typed, untyped, VALUE } from './setting.ts'
import { listed, texts } from './setting-fields.ts'

const MAX_DOMAINS = 1_000
const MAX_ALLOWED_HOSTS = 1_000
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

const isAscii = (entries: readonly string[]) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII
  entries.some((entry) => !/^[\x00-\x7f]*$/.test(entry)) && 'unicode domains should use IDNA encoding'
const noTags = (entries: readonly string[]) =>
  entries.some((entry) => /<[^>]*>/.test(entry)) && 'entries cannot contain HTML tags'

/** Returns the host of the service, or nothing for commands that run without an external URL. */
const ownHost = (url: string): string[] => (URL.canParse(url) ? [new URL(url).hostname] : [])
const domains = () => texts(MAX_DOMAINS)

/** The settings that are lists and objects. */
export const structureSettings = {
  restricted_visibility_levels: typed(
    list(VALUE, z.string()),
    inForce<readonly string[]>(
      'The visibilities that only administrators may give to groups and projects.',
      'creating and changing groups, projects and snippets',
      {
        allowed: visibilities.map((name) => `\`${name}\``).join(', '),
        // GitLab reads every other text as the lowest level.
        normalize: (names) => {
          const known = names.map((name) => (visibilities.includes(name as Visibility) ? name : 'private'))
          return [...new Set(known)]
        },
      },
    ),
  ),
  outbound_local_requests_whitelist: typed(
    texts(MAX_ALLOWED_HOSTS).check(isAscii, noTags),
    inForce(
      'Hosts of the local network to which hooks may send requests.',
      'saving and calling webhooks, and URLs in these settings',
      { allowed: 'not null' },
    ),
  ),
  domain_allowlist: typed(domains(), stored('Domains of addresses that may register; `*` matches any part.')),
  domain_denylist: typed(domains(), stored('Domains of addresses that may not register; `*` matches any part.')),
  asset_proxy_allowlist: typed(
    domains(),
    stored<readonly string[]>(
      "Hosts with images that do not load through the proxy. The instance's own host is added.",
      {
        oldNames: ['asset_proxy_whitelist'],
        defaultOf: ({ externalUrl }) => ownHost(externalUrl),
        normalize: (hosts, { instance: { externalUrl } }) => [...new Set([...hosts, ...ownHost(externalUrl)])],
      },
    ),
  ),
  default_branch_protection_defaults: typed(
    object(VALUE, protection, {
      allowed_to_push: [{ access_level: 40 }],
      allow_force_push: false,
      allowed_to_merge: [{ access_level: 40 }],
    }).check(onlyKeys(Object.keys(protection.shape))),
    stored('The protection of new default branches. Members that are not sent keep their values.', {
      allowed: `access levels ${protectingLevels.join(', ')}`,
      normalize: (value, { before }) => ({ ...before, ...value }),
    }),
  ),
  sign_in_restrictions: untyped(
    object(VALUE, z.record(z.string(), z.unknown()), {}).check(onlyKeys(signInRestrictions), allBoolean),
    stored('Further rules for signing in.', { allowed: `booleans: ${signInRestrictions.join(', ')}` }),
  ),
  repository_storages_weighted: untyped(
    object(VALUE, z.record(z.string(), z.unknown()), { default: 100 }).check(knownStorages, inRange),
    stored('How likely each storage is for a new repository.', {
      allowed: '0 to 100 for each storage',
      normalize: (weights) => ({ ...Object.fromEntries(storages.map((name) => [name, 0])), ...weights }),
    }),
  ),
}
