import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Clock } from '@penstock/runtime'
import { within } from './deadline.ts'

/** How long the resolved addresses of a name are used before they are resolved again. */
const RESOLUTION_TTL_MS = 30_000
/** The number of consecutive connection failures after which an address is avoided for `AVOID_MS`. */
const FAILURES_BEFORE_AVOIDING = 3
const AVOID_MS = 10_000
/** The longest wait for the resolver of the system, which has no limit of its own. */
const RESOLVE_TIMEOUT_MS = 5_000
/** The highest number of addresses of one name; further ones are ignored. */
const MAX_ADDRESSES = 32

export type Resolve = (host: string) => Promise<readonly string[]>

export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address)

/** One address of a name, and the resource that was opened for it. */
export interface Address<Resource> {
  readonly ip: string
  readonly resource: Resource
  failures: number
  avoidedUntilMs: number
}

interface AddressesOptions<Resource> {
  /** The host name of a URL: an IPv6 address is in brackets. */
  readonly hostname: string
  readonly clock: Clock
  readonly resolve: Resolve
  /** Opens the resource of a new address. It is closed when the name no longer has the address. */
  readonly open: (ip: string) => Resource
  readonly close: (resource: Resource) => void
}

/** The addresses of one name, used in turn to spread the load. */
export class Addresses<Resource> {
  readonly #options: AddressesOptions<Resource>
  readonly #host: string
  #addresses: readonly Address<Resource>[] = []
  #freshUntilMs = Number.NEGATIVE_INFINITY
  #resolving: Promise<void> | undefined
  #position = 0

  constructor(options: AddressesOptions<Resource>) {
    this.#options = options
    this.#host = options.hostname.replace(/^\[(.*)\]$/, '$1')
    if (isIP(this.#host) !== 0) {
      this.#setAddresses([this.#host])
      this.#freshUntilMs = Number.POSITIVE_INFINITY
    }
  }

  get all(): readonly Address<Resource>[] {
    return this.#addresses
  }

  /**
   * Resolves the name if the known addresses are too old. Returns `undefined` if they are fresh; otherwise a promise,
   * which rejects with the resolver's error if no address is known.
   */
  refresh(): Promise<void> | undefined {
    if (this.#options.clock.monotonicMs() >= this.#freshUntilMs) this.#resolving ??= this.#resolve()
    return this.#resolving
  }

  /**
   * Like `refresh`, but returns `undefined` if any address is known, even an old one; the name is then resolved in
   * parallel.
   */
  refreshInBackground(): Promise<void> | undefined {
    const resolving = this.refresh()
    return this.#addresses.length > 0 ? undefined : resolving
  }

  /**
   * Returns the next address other than `except` that is not avoided. Returns an avoided one, or `except`, if there is
   * no other.
   */
  pick(except?: Address<Resource>): Address<Resource> {
    const nowMs = this.#options.clock.monotonicMs()
    const known = this.#addresses
    this.#position = (this.#position + 1) % known.length
    let fallback: Address<Resource> | undefined
    for (let step = 0; step < known.length; step += 1) {
      const address = known[(this.#position + step) % known.length]!
      if (address === except) continue
      if (address.avoidedUntilMs <= nowMs) return address
      fallback ??= address
    }
    return fallback ?? known[this.#position]!
  }

  markFailed(address: Address<Resource>): void {
    address.failures += 1
    if (address.failures < FAILURES_BEFORE_AVOIDING) return
    address.failures = 0
    address.avoidedUntilMs = this.#options.clock.monotonicMs() + AVOID_MS
  }

  /** Resolves the name. If that fails, keeps the known addresses, if there are any. */
  async #resolve(): Promise<void> {
    try {
      const { resolve, clock } = this.#options
      const ips = (await within(RESOLVE_TIMEOUT_MS, clock, resolve(this.#host))).slice(0, MAX_ADDRESSES)
      if (ips.length === 0) throw Object.assign(new Error('the name has no address'), { code: 'ENODATA' })
      this.#setAddresses(ips)
      this.#freshUntilMs = this.#options.clock.monotonicMs() + RESOLUTION_TTL_MS
    } catch (error) {
      if (this.#addresses.length === 0) throw error
      this.#freshUntilMs = this.#options.clock.monotonicMs() + RESOLUTION_TTL_MS
    } finally {
      this.#resolving = undefined
    }
  }

  #setAddresses(ips: readonly string[]): void {
    const { open, close } = this.#options
    const before = this.#addresses
    this.#addresses = ips.map(
      (ip) => before.find((known) => known.ip === ip) ?? { ip, resource: open(ip), failures: 0, avoidedUntilMs: 0 },
    )
    for (const address of before) if (!this.#addresses.includes(address)) close(address.resource)
  }
}
