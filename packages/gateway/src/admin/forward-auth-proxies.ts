import { BlockList, isIP } from 'node:net'
import { ConfigError } from '../config-error.ts'

const MAX_REMEMBERED = 1_000

/** The proxies that may ask when nothing is configured. */
export const loopbackProxies: readonly string[] = ['127.0.0.0/8', '::1']

/** An entry that is neither an address nor a network. */
export class ProxyAddressError extends ConfigError {
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
