import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

/** How long a name's addresses count. */
const KNOWN_FOR_MS = 30_000
/** So many failures to connect in a row, and an address is left alone for a while. */
const FAILURES_TO_REST = 3
const REST_MS = 10_000
/** Of one name; further ones are not used. */
const MAX_ADDRESSES = 32

export type Resolve = (host: string) => Promise<readonly string[]>

export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address)

/** One address of a name, with what is kept for it. */
export interface Address<Kept> {
  readonly ip: string
  readonly kept: Kept
  failures: number
  restsUntilMs: number
}

export interface AddressesOptions<Kept> {
  /** A URL's: an IPv6 address stands in brackets. */
  readonly hostname: string
  readonly nowMs: () => number
  readonly resolve: Resolve
  /** Called when an address is new; what it returns is kept as long as the name has the address. */
  readonly keep: (ip: string) => Kept
  readonly release: (kept: Kept) => void
}

/** The addresses behind one name, taken in turn, so that each of them gets its part of the load. */
export class Addresses<Kept> {
  readonly #options: AddressesOptions<Kept>
  readonly #host: string
  #known: readonly Address<Kept>[] = []
  #knownUntilMs = Number.NEGATIVE_INFINITY
  #resolving: Promise<void> | undefined
  #turn = 0

  constructor(options: AddressesOptions<Kept>) {
    this.#options = options
    this.#host = options.hostname.replace(/^\[(.*)\]$/, '$1')
    if (isIP(this.#host) !== 0) {
      this.#use([this.#host])
      this.#knownUntilMs = Number.POSITIVE_INFINITY
    }
  }

  get all(): readonly Address<Kept>[] {
    return this.#known
  }

  /** `undefined` when what is known is young enough; else a promise, which rejects with the resolver's error at first. */
  current(): Promise<void> | undefined {
    if (this.#options.nowMs() >= this.#knownUntilMs) this.#resolving ??= this.#resolve()
    return this.#resolving
  }

  /** The same for whoever cannot wait: `undefined` also when what is known is old, and is asked for anew beside. */
  refreshed(): Promise<void> | undefined {
    const resolving = this.current()
    return this.#known.length > 0 ? undefined : resolving
  }

  /** When all of them rest, they are tried nevertheless. Another one than `not`, if there is another. */
  pick(not?: Address<Kept>): Address<Kept> {
    const nowMs = this.#options.nowMs()
    const known = this.#known
    this.#turn = (this.#turn + 1) % known.length
    let fallback: Address<Kept> | undefined
    for (let step = 0; step < known.length; step += 1) {
      const address = known[(this.#turn + step) % known.length]!
      if (address === not) continue
      if (address.restsUntilMs <= nowMs) return address
      fallback ??= address
    }
    return fallback ?? known[this.#turn]!
  }

  failed(address: Address<Kept>): void {
    address.failures += 1
    if (address.failures < FAILURES_TO_REST) return
    address.failures = 0
    address.restsUntilMs = this.#options.nowMs() + REST_MS
  }

  /** When the resolver fails, what was known goes on to count. */
  async #resolve(): Promise<void> {
    try {
      const ips = (await this.#options.resolve(this.#host)).slice(0, MAX_ADDRESSES)
      if (ips.length === 0) throw Object.assign(new Error('the name has no address'), { code: 'ENODATA' })
      this.#use(ips)
      this.#knownUntilMs = this.#options.nowMs() + KNOWN_FOR_MS
    } catch (error) {
      if (this.#known.length === 0) throw error
      this.#knownUntilMs = this.#options.nowMs() + KNOWN_FOR_MS
    } finally {
      this.#resolving = undefined
    }
  }

  #use(ips: readonly string[]): void {
    const { keep, release } = this.#options
    const before = this.#known
    this.#known = ips.map(
      (ip) => before.find((known) => known.ip === ip) ?? { ip, kept: keep(ip), failures: 0, restsUntilMs: 0 },
    )
    for (const address of before) if (!this.#known.includes(address)) release(address.kept)
  }
}
