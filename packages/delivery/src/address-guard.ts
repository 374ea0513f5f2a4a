import { lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'

/** Whom a URL that somebody else has typed may make us talk to. */
export interface AddressPolicy {
  /** Loopback, private and other addresses that only we can reach. */
  readonly allowsLocal: boolean
  /** Nothing but the allowed ones. */
  readonly deniesOthers: boolean
  /** Excepted from both. */
  readonly allowed: AllowedHosts
  /** Ours, which may always be called: `https://svc.example.org:8443`. */
  readonly ownOrigin?: string
}

interface Destination {
  readonly url: URL
  /** Everything its host resolves to. */
  readonly addresses: readonly string[]
}

/** One of `addressRules` forbids it. The message is for the person who typed the URL. */
export class AddressBlocked extends Error {
  override readonly name = 'AddressBlocked'
  readonly code = 'PENSTOCK_BLOCKED'
}

const networks = (...cidrs: readonly string[]) => {
  const list = new BlockList()
  for (const cidr of cidrs) addNetwork(list, cidr)
  return (address: string) => list.check(address, familyOf(address))
}

const unspecified = networks('0.0.0.0/32', '::/128')
const isOfThisHost = (address: string): boolean =>
  unspecified(address) ||
  Object.values(networkInterfaces()).some((all) => all?.some((own) => !own.internal && own.address === address))

/** In this order; the first that holds for any of the addresses gives the reason. */
const addressRules: readonly { readonly holds: (address: string) => boolean; readonly reason: string }[] = [
  { holds: isOfThisHost, reason: 'Requests to localhost are not allowed' },
  { holds: networks('127.0.0.0/8', '::1/128'), reason: 'Requests to loopback addresses are not allowed' },
  {
    holds: networks('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fec0::/10', 'fc00::/7'),
    reason: 'Requests to the local network are not allowed',
  },
  {
    holds: networks('169.254.0.0/16', 'fe80::/10'),
    reason: 'Requests to the link local network are not allowed',
  },
  { holds: networks('100.64.0.0/10'), reason: 'Requests to the shared address space are not allowed' },
  { holds: networks('255.255.255.255/32'), reason: 'Requests to the limited broadcast address are not allowed' },
]

/**
 * Why the policy forbids it, `undefined` when it does not.
 *
 * @see spec/rest-part3-details.md 1.14
 */
export function blockedBecause(policy: AddressPolicy, { url, addresses }: Destination): string | undefined {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'Only allowed schemes are http, https'
  if (url.origin === policy.ownOrigin) return undefined
  const unwrapped = addresses.map(withoutMapping)
  if (policy.allowed.has(url, unwrapped)) return undefined
  if (policy.deniesOthers) return 'Requests to hosts and IP addresses not on the Allow List are denied'
  if (policy.allowsLocal) return undefined
  return addressRules.find(({ holds }) => unwrapped.some(holds))?.reason
}

/**
 * Resolves names for one request, and lets through only what the policy allows. Whoever connects uses these very addresses, so
 * that a name which resolves to something else a moment later gains nothing.
 */
export function guardedLookup(policy: AddressPolicy, url: URL, resolve: typeof lookup = lookup): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) {
        done(error, '')
        return
      }
      const reason = blockedBecause(policy, { url, addresses: found.map(({ address }) => address) })
      if (reason !== undefined) done(new AddressBlocked(`URL is blocked: ${reason}`), '')
      else if (options.all) done(null, found)
      else done(null, found[0]!.address, found[0]!.family)
    })
  }
}

/** An entry that is none of: host name, address, CIDR range, each with an optional port. */
export class AllowedHostError extends Error {
  override readonly name = 'AllowedHostError'
}

/** Hosts, addresses and ranges by name; an entry without a port allows every port. */
export class AllowedHosts {
  readonly #names = new Set<string>()
  readonly #networks = new Map<string, BlockList>()

  /** @throws AllowedHostError */
  constructor(entries: readonly string[]) {
    for (const entry of entries) this.#add(entry)
  }

  /** The name itself, or the first of its addresses. */
  has(url: URL, addresses: readonly string[]): boolean {
    const host = hostOf(url)
    const port = url.port || (url.protocol === 'https:' ? '443' : '80')
    if (this.#names.has(host) || this.#names.has(`${host}:${port}`)) return true
    const [first] = addresses
    if (first === undefined) return false
    return ['', port].some((of) => this.#networks.get(of)?.check(first, familyOf(first)))
  }

  #add(entry: string): void {
    const { host, port } = entryParts(entry)
    const network = isIP(host) === 0 ? host : `${host}/${isIP(host) === 4 ? 32 : 128}`
    if (isCidr(network)) {
      const list = this.#networks.get(port) ?? new BlockList()
      this.#networks.set(port, list)
      addNetwork(list, network)
    } else if (hostName.test(host)) {
      this.#names.add(port === '' ? host : `${host}:${port}`)
    } else {
      throw new AllowedHostError(`not a host name, address or range: ${JSON.stringify(entry)}`)
    }
  }
}

/** Bounded by the length of a name in DNS; what needs IDNA is written in it. */
const hostName = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,62})(\.[a-z0-9-]{1,63})*$/

function entryParts(entry: string): { host: string; port: string } {
  const bracketed = /^\[([^\]]*)\](?::(\d{1,5}))?$/.exec(entry)
  if (bracketed) return { host: bracketed[1]!.toLowerCase(), port: bracketed[2] ?? '' }
  if (isIP(entry.split('/')[0]!) === 6) return { host: entry.toLowerCase(), port: '' }
  const [host = '', port = ''] = entry.toLowerCase().split(':')
  return /^\d{0,5}$/.test(port) ? { host, port } : { host: '', port: '' }
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', more] = text.split('/')
  const longest = isIP(address) === 4 ? 32 : 128
  return more === undefined && isIP(address) !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= longest
}

function addNetwork(list: BlockList, cidr: string): void {
  const [address = '', bits = ''] = cidr.split('/')
  list.addSubnet(address, Number(bits), familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

/** `::ffff:10.0.0.1` is 10.0.0.1. */
function withoutMapping(address: string): string {
  const dotted = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (dotted !== undefined) return dotted
  const hexadecimal = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address)
  if (hexadecimal === null) return address
  const [high, low] = [Number.parseInt(hexadecimal[1]!, 16), Number.parseInt(hexadecimal[2]!, 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** Without the brackets of an IPv6 address. */
export function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}
