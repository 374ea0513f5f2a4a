import { BlockList, isIP } from 'node:net'

const MAX_REMEMBERED = 1_000
/** Of one request; nobody has as many proxies. */
const MAX_HOPS = 32

/** An entry that is neither an address nor a network. */
export class ProxyAddressError extends Error {
  override readonly name = 'ProxyAddressError'
}

/** Which addresses are those of our proxies. Entries are addresses or networks, `10.0.0.0/8`; throws `ProxyAddressError`. */
export class TrustedProxies {
  readonly #list = new BlockList()
  /** Proxies are few and ask often. */
  readonly #known = new Map<string, boolean>()

  constructor(entries: readonly string[]) {
    for (const entry of entries) this.#add(entry)
  }

  has(address: string): boolean {
    const known = this.#known.get(address)
    if (known !== undefined) return known
    const family = isIP(address)
    const isTrusted = family !== 0 && this.#list.check(address, family === 6 ? 'ipv6' : 'ipv4')
    if (this.#known.size >= MAX_REMEMBERED) this.#known.clear()
    this.#known.set(address, isTrusted)
    return isTrusted
  }

  /**
   * Whose request it is: of the addresses in X-Forwarded-For, which each proxy adds its peer to, the last that is none of
   * ours; what stands before it is what that one claims.
   *
   * @param peer whoever is connected; believed only when it is one of ours
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
      throw new ProxyAddressError(`not an address or a network of proxies: ${entry}`)
    }
    this.#list.addSubnet(address, length, family === 6 ? 'ipv6' : 'ipv4')
  }
}

/** Some proxies write ports as well: `192.0.2.7:4711`, `[2001:db8::7]:4711`. */
function addressIn(entry: string): string | undefined {
  const text = entry.trim()
  const bare = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
  return isIP(bare) === 0 ? undefined : unmapped(bare)
}

/** An IPv4 address in its own form, where the system writes it into IPv6. */
export const unmapped = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')
