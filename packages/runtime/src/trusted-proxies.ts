import { BlockList, isIP } from 'node:net'

const MAX_CACHED = 1_000
/** The maximum number of X-Forwarded-For entries that are read; no real chain of proxies is longer. */
const MAX_HOPS = 32

/** The error for an entry that is neither an address nor a network. */
export class ProxyAddressError extends Error {
  override readonly name = 'ProxyAddressError'
}

/** The set of proxies that are trusted to set X-Forwarded-For. */
export class TrustedProxies {
  readonly #list = new BlockList()
  /** Caches results, because few proxies send most requests. */
  readonly #cache = new Map<string, boolean>()

  /**
   * @param entries addresses, or networks such as `10.0.0.0/8`
   * @throws ProxyAddressError
   */
  constructor(entries: readonly string[]) {
    for (const entry of entries) this.#add(entry)
  }

  has(address: string): boolean {
    const cached = this.#cache.get(address)
    if (cached !== undefined) return cached
    const family = isIP(address)
    const isTrusted = family !== 0 && this.#list.check(address, family === 6 ? 'ipv6' : 'ipv4')
    if (this.#cache.size >= MAX_CACHED) this.#cache.clear()
    this.#cache.set(address, isTrusted)
    return isTrusted
  }

  /**
   * Returns the address of the client. Each proxy appends its peer to X-Forwarded-For, so the client is the last address
   * that is not a trusted proxy. Entries before it are the client's own claim, and are ignored.
   *
   * @param peer the address of the connection; X-Forwarded-For is ignored if this is not a trusted proxy
   */
  clientOf(peer: string, forwardedFor: string | undefined): string {
    if (forwardedFor === undefined || !this.has(peer)) return peer
    let client = peer
    for (const entry of forwardedFor.split(',').slice(-MAX_HOPS).reverse()) {
      const address = addressIn(entry)
      if (address === undefined) break
      client = address
      if (!this.has(address)) break
    }
    return client
  }

  #add(entry: string): void {
    const [address = '', prefix, ...rest] = entry.split('/')
    const family = isIP(address)
    const bits = family === 6 ? 128 : 32
    const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN
    if (family === 0 || rest.length > 0 || !(length <= bits)) {
      throw new ProxyAddressError(`the trusted proxy is neither an address nor a network: ${entry}`)
    }
    this.#list.addSubnet(address, length, family === 6 ? 'ipv6' : 'ipv4')
  }
}

/** Returns the address in an entry, without the port that some proxies write: `192.0.2.7:4711`, `[2001:db8::7]:4711`. */
function addressIn(entry: string): string | undefined {
  const text = entry.trim()
  const bare = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
  return isIP(bare) === 0 ? undefined : unmapIpv4(bare)
}

/** Converts an IPv4-mapped IPv6 address, as sockets report it, to IPv4. Other addresses are returned unchanged. */
export const unmapIpv4 = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')
