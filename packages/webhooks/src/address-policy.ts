import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { type Core, settingsOf } from '@penstock/core'
import { type AddressPolicy, AllowedHostError, AllowedHosts, findBlockReason, getHost } from '@penstock/delivery'

/** The time that saving a hook waits for the name of its host. */
const LOOKUP_MS = 5_000
const MAX_HOST = 1_024

/** Returns the rules for URLs of hooks from the application settings. */
export async function readAddressPolicy(core: Core): Promise<AddressPolicy> {
  const settings = await settingsOf(core)
  return {
    allowsLocal: settings.allow_local_requests_from_web_hooks_and_services,
    deniesOthers: settings.deny_all_requests_except_allowed,
    allowed: allowedHosts(settings.outbound_local_requests_whitelist),
    ...(URL.canParse(core.settings.externalUrl) && { ownOrigin: new URL(core.settings.externalUrl).origin }),
  }
}

let latest: { readonly entries: readonly string[]; readonly hosts: AllowedHosts } | undefined

/** Returns the allowed hosts. Parsed again only for another list. */
function allowedHosts(entries: readonly string[]): AllowedHosts {
  if (latest?.entries !== entries) latest = { entries, hosts: new AllowedHosts(entries.filter(isUsable)) }
  return latest.hosts
}

function isUsable(entry: string): boolean {
  try {
    return new AllowedHosts([entry]) !== undefined
  } catch (error) {
    if (error instanceof AllowedHostError) return false
    throw error
  }
}

/** Returns why no request may be sent to a URL. A host that cannot be resolved is accepted: it is judged again when it is called. */
export async function findSavedUrlBlock(core: Core, url: URL): Promise<string | undefined> {
  const host = getHost(url)
  if (host.length > MAX_HOST) return 'URL is blocked: Hostname or IP address invalid'
  const addresses = isIP(host) === 0 ? await addressesOf(host) : [host]
  return findBlockReason(await readAddressPolicy(core), { url, addresses })
}

async function addressesOf(host: string): Promise<string[]> {
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), LOOKUP_MS)
  const isLate = new Promise<[]>((resolve) => timeout.signal.addEventListener('abort', () => resolve([])))
  try {
    const found = await Promise.race([lookup(host, { all: true }), isLate])
    return found.map(({ address }) => address)
  } catch {
    return []
  } finally {
    clearTimeout(timer)
  }
}
