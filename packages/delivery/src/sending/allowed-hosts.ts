import ipaddr from 'ipaddr.js'
import { isInRange } from './address-rules.ts'
import { parseAddress, reachedAddresses } from './reached-addresses.ts'

/** The error for an entry that is no host name, address or CIDR range, each with an optional port. */
export class AllowedHostError extends Error {
  override readonly name = 'AllowedHostError'
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** A set of allowed host names, addresses and ranges; an entry without a port allows every port. */
export class AllowedHosts {
  readonly #names = new Set<string>()
  /** The ranges by port; '' is every port. */
  readonly #ranges = new Map<string, Range[]>()

  /** @throws AllowedHostError */
  constructor(entries: readonly string[]) {
    for (const entry of entries) this.#add(entry)
  }

  /** Returns whether the host name of the URL is allowed, or all of its addresses are. */
  has(url: URL, addresses: readonly string[]): boolean {
    const host = getHost(url)
    const port = url.port || (url.protocol === 'https:' ? '443' : '80')
    if (this.#names.has(host) || this.#names.has(`${host}:${port}`)) return true
    const ranges = ['', port].flatMap((of) => this.#ranges.get(of) ?? [])
    return addresses.length > 0 && addresses.every((address) => isAllowed(address, ranges))
  }

  #add(entry: string): void {
    const { host, port } = entryParts(entry)
    const range = rangeOf(host)
    if (range !== undefined) this.#ranges.set(port, [...(this.#ranges.get(port) ?? []), range])
    else if (hostName.test(host)) this.#names.add(port === '' ? host : `${host}:${port}`)
    else throw new AllowedHostError(`not a host name, address or range: ${JSON.stringify(entry)}`)
  }
}

/** Returns whether the address is allowed as written, or all IPv4 addresses that it reaches are allowed. */
function isAllowed(address: string, ranges: readonly Range[]): boolean {
  const isInOne = (each: ipaddr.IPv4 | ipaddr.IPv6) => ranges.some((range) => isInRange(each, range))
  const written = parseAddress(address)
  if (written === undefined) return false
  return isInOne(written) || reachedAddresses(address).every(isInOne)
}

/** Matches host names of at most 253 characters, the limit of DNS; names with non-ASCII letters must be in Punycode. */
const hostName = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,62})(\.[a-z0-9-]{1,63})*$/

function entryParts(entry: string): { host: string; port: string } {
  const bracketed = /^\[([^\]]*)\](?::(\d{1,5}))?$/.exec(entry)
  if (bracketed) return { host: bracketed[1]!.toLowerCase(), port: bracketed[2] ?? '' }
  if (parseAddress(entry.split('/')[0]!) instanceof ipaddr.IPv6) return { host: entry.toLowerCase(), port: '' }
  const [host = '', port = ''] = entry.toLowerCase().split(':')
  return /^\d{0,5}$/.test(port) ? { host, port } : { host: '', port: '' }
}

/**
 * Returns the address or range that a text describes, else `undefined`. An IPv4 address that is written as IPv6 is
 * returned as IPv4.
 */
function rangeOf(text: string): Range | undefined {
  const [start = '', written, more] = text.split('/')
  const address = parseAddress(start)
  if (address === undefined || more !== undefined) return undefined
  const longest = address.kind() === 'ipv4' ? 32 : 128
  if (written !== undefined && !/^\d{1,3}$/.test(written)) return undefined
  const bits = Number(written ?? longest)
  if (bits > longest) return undefined
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96) {
    return [address.toIPv4Address(), bits - 96]
  }
  return [address, bits]
}

/** Returns the host of a URL without the brackets of an IPv6 address. */
export function getHost({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}
