import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

/** How long a name's addresses count. */
const KNOWN_FOR_MS = 30_000
/** So many failures to connect in a row, and an address is left alone for a while. */
const FAILURES_TO_REST = 3
const REST_MS = 10_000

interface Address {
  readonly ip: string
  failures: number
  restsUntilMs: number
}

export type Resolve = (host: string) => Promise<readonly string[]>

export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address)

/** The addresses behind one host name, taken in turn. When all of them rest, they are tried nevertheless. */
export class GrpcAddresses {
  readonly #host: string
  readonly #nowMs: () => number
  readonly #resolve: Resolve
  #known: Address[] = []
  #knownUntilMs = Number.NEGATIVE_INFINITY
  #turn = 0

  constructor(host: string, nowMs: () => number, resolve: Resolve = systemResolve) {
    this.#host = host
    this.#nowMs = nowMs
    this.#resolve = resolve
    if (isIP(host) !== 0) {
      this.#known = [{ ip: host, failures: 0, restsUntilMs: 0 }]
      this.#knownUntilMs = Number.POSITIVE_INFINITY
    }
  }

  /** Rejects with the resolver's error when the name is not known and never was. */
  async next(): Promise<string> {
    if (this.#nowMs() >= this.#knownUntilMs) await this.#refresh()
    const awake = this.#known.filter(({ restsUntilMs }) => restsUntilMs <= this.#nowMs())
    const candidates = awake.length > 0 ? awake : this.#known
    this.#turn += 1
    return candidates[this.#turn % candidates.length]!.ip
  }

  connected(ip: string): void {
    const address = this.#find(ip)
    if (address !== undefined) address.failures = 0
  }

  failed(ip: string): void {
    const address = this.#find(ip)
    if (address === undefined) return
    address.failures += 1
    if (address.failures < FAILURES_TO_REST) return
    address.failures = 0
    address.restsUntilMs = this.#nowMs() + REST_MS
  }

  /** When the resolver fails, what was known goes on to count. */
  async #refresh(): Promise<void> {
    try {
      const ips = await this.#resolve(this.#host)
      this.#known = ips.map((ip) => this.#find(ip) ?? { ip, failures: 0, restsUntilMs: 0 })
    } catch (error) {
      if (this.#known.length === 0) throw error
    }
    this.#knownUntilMs = this.#nowMs() + KNOWN_FOR_MS
  }

  #find(ip: string): Address | undefined {
    return this.#known.find((address) => address.ip === ip)
  }
}
