import { BlockList, isIP } from 'node:net'
import type { Core } from '../operations/context.ts'
import { isAddressOrNetwork } from './table/network-list.ts'
import type { SettingValues } from './table/setting-table.ts'

interface Rule {
  /** The name in the error; `base` for the whole record. */
  readonly name: string
  readonly message: string
  readonly isBroken: (values: SettingValues) => boolean
}

const BLANK = "can't be blank"
const isBlank = (text: string | undefined) => text === undefined || text.trim() === ''
const needed = (name: keyof SettingValues, while_: keyof SettingValues): Rule => ({
  name,
  message: BLANK,
  isBroken: (values) => values[while_] === true && isBlank(values[name] as string | undefined),
})
const unrestricted = (name: 'default_project_visibility' | 'default_group_visibility'): Rule => ({
  name,
  message: 'cannot be set to a restricted visibility level',
  isBroken: (values) => values.restricted_visibility_levels.includes(values[name]),
})

/** The rules about several settings, in the order in which they are reported. */
const rules: readonly Rule[] = [
  {
    name: 'domain_denylist',
    message: 'Domain denylist cannot be empty if denylist is enabled.',
    isBroken: ({ domain_denylist_enabled, domain_denylist }) => domain_denylist_enabled && domain_denylist.length === 0,
  },
  {
    name: 'base',
    message: 'You need to set terms to be enforced',
    isBroken: ({ enforce_terms, terms }) => enforce_terms && isBlank(terms),
  },
  needed('diagram_a_url', 'diagram_a_enabled'),
  needed('diagram_b_url', 'diagram_b_enabled'),
  needed('diagram_c_url', 'diagram_c_enabled'),
  needed('asset_proxy_url', 'asset_proxy_enabled'),
  needed('asset_proxy_secret_key', 'asset_proxy_enabled'),
  unrestricted('default_project_visibility'),
  unrestricted('default_group_visibility'),
  needed('external_authorization_service_default_label', 'external_authorization_service_enabled'),
  {
    name: 'external_authorization_service_timeout',
    message: 'must be greater than 0',
    isBroken: (values) =>
      values.external_authorization_service_enabled && values.external_authorization_service_timeout <= 0,
  },
  {
    name: 'external_authorization_service_timeout',
    message: 'must be less than or equal to 10',
    isBroken: (values) =>
      values.external_authorization_service_enabled && values.external_authorization_service_timeout > 10,
  },
  {
    name: 'allowed_key_types',
    message: BLANK,
    isBroken: (values) => keyTypes.every((type) => values[`${type}_key_restriction`] === -1),
  },
  {
    name: 'delete_unconfirmed_users',
    message: 'must be false when email confirmation setting is off',
    isBroken: (values) => values.delete_unconfirmed_users && values.email_confirmation_setting === 'off',
  },
]

const keyTypes = ['rsa', 'dsa', 'ecdsa', 'ed25519', 'ecdsa_sk', 'ed25519_sk'] as const

/** The settings with URLs to which the service would send requests. */
const calledUrls = [
  'external_pipeline_validation_service_url',
  'external_authorization_service_url',
  'tracker_connect_proxy_url',
  'tracker_connect_additional_audience_url',
] as const
/** The settings of `calledUrls` that must contain public URLs. */
const publicUrls: readonly string[] = ['tracker_connect_proxy_url', 'tracker_connect_additional_audience_url']

/** Returns the broken rules about several settings, as names with messages. */
export const rulesAcross = (
  values: SettingValues,
  core: Core,
): readonly (readonly [name: string, message: string])[] => [
  ...rules.filter(({ isBroken }) => isBroken(values)).map(({ name, message }) => [name, message] as const),
  ...calledUrls.flatMap((name) => {
    const reason = blockedReason(name, values, core)
    return reason === undefined ? [] : [[name, `is blocked: ${reason}`] as const]
  }),
]

function blockedReason(name: (typeof calledUrls)[number], values: SettingValues, core: Core): string | undefined {
  const text = values[name]
  if (text === undefined || !URL.canParse(text)) return undefined
  const url = new URL(text)
  if (isListed(url, values.outbound_local_requests_whitelist)) return undefined
  if (values.deny_all_requests_except_allowed) {
    return 'Requests to hosts and IP addresses not on the Allow List are denied'
  }
  return publicUrls.includes(name) ? localReason(url, core) : undefined
}

/**
 * Returns why a URL is not public, or `undefined` if it is. Host names are not resolved here, because they may resolve
 * to another address when a request is sent.
 */
function localReason({ hostname }: URL, { localAddressReason }: Core): string | undefined {
  if (/^(?:.+\.)?localhost\.?$/.test(hostname)) return 'Requests to localhost are not allowed'
  const address = bareAddress(hostname)
  return isIP(address) === 0 ? undefined : localAddressReason?.(address)
}

/**
 * Returns whether a list contains the host of a URL. Entries are hosts, addresses and networks, each with or without a
 * port.
 */
function isListed({ hostname, port, protocol }: URL, entries: readonly string[]): boolean {
  const address = bareAddress(hostname)
  const family = isIP(address)
  const ports = ['', `:${port || (protocol === 'https:' ? 443 : 80)}`]
  return entries.some((entry) => {
    if (ports.some((suffix) => entry === hostname + suffix) || entry === address) return true
    if (family === 0 || !isAddressOrNetwork(entry) || !entry.includes('/')) return false
    const [network, bits] = entry.split('/') as [string, string]
    const list = new BlockList()
    list.addSubnet(network, Number(bits), isIP(network) === 6 ? 'ipv6' : 'ipv4')
    return list.check(address, family === 6 ? 'ipv6' : 'ipv4')
  })
}

const bareAddress = (hostname: string) => hostname.replace(/^\[(.*)\]$/, '$1')
