export interface ConnectionLimits {
  /** The highest number of connections of all addresses together. */
  readonly maxConnections: number
  /** The highest number of connections of one IPv4 address, or of one IPv6 network of 64 bits. */
  readonly maxPerAddress: number
  /** The number of connections beyond these limits that are kept for health probes. */
  readonly reserve: number
}

/**
 * The progress of a connection: it has not sent the head of a request yet (`waiting`), it has (`active`), or it is
 * being closed after an error answer (`leaving`).
 */
export type ConnectionState = 'leaving' | 'waiting' | 'active'

/** The class of a connection. `general`: any request is served. `reserve`: only health probes are. */
export type ConnectionClass = 'general' | 'reserve'

export type ConnectionAdmission<Connection> =
  | {
      readonly admitted: true
      readonly class: ConnectionClass
      /** The connection to close so that this one fits. */
      readonly evicted: Connection | undefined
    }
  | { readonly admitted: false }

interface Entry {
  /** The address that is counted; `undefined` if it has no limit of its own. */
  readonly address: string | undefined
  state: ConnectionState
  class: ConnectionClass
}

type Queues<Connection> = Readonly<Record<ConnectionState, Set<Connection>>>

/** How many active connections are searched for an idle one, so that a full table costs little. */
const MAX_LOOKS = 64

/**
 * Decides which connections a listener keeps. A new connection takes the place of the oldest one without a request under
 * way, of its own address if that address is at its limit, else of any address. If all are busy, it enters the reserve.
 */
export class ConnectionTable<Connection> {
  readonly #limits: ConnectionLimits
  readonly #isBusy: (connection: Connection) => boolean
  readonly #entries = new Map<Connection, Entry>()
  /** The connections by state, each in the order in which they entered it. */
  readonly #queues: Readonly<Record<ConnectionClass, Queues<Connection>>> = { general: queues(), reserve: queues() }
  readonly #byAddress = new Map<string, Set<Connection>>()
  #generalCount = 0

  /** @param isBusy whether a connection has a request under way; such a connection is never evicted */
  constructor(limits: ConnectionLimits, isBusy: (connection: Connection) => boolean) {
    this.#limits = limits
    this.#isBusy = isBusy
  }

  /** @param address `undefined` if the limit per address does not apply */
  add(connection: Connection, address: string | undefined): ConnectionAdmission<Connection> {
    const evicted = this.#hasRoom(address) ? undefined : this.#evictable(address)
    if (evicted !== undefined) this.remove(evicted)
    if (this.#hasRoom(address)) return this.#enter(connection, address, 'general', evicted)
    const { reserve } = this.#queues
    if (countOf(reserve) < this.#limits.reserve) return this.#enter(connection, address, 'reserve', evicted)
    const replaced = this.#firstOf(reserve)
    if (replaced === undefined) return { admitted: false }
    this.remove(replaced)
    return this.#enter(connection, address, 'reserve', replaced)
  }

  remove(connection: Connection): void {
    const entry = this.#entries.get(connection)
    if (entry === undefined) return
    this.#entries.delete(connection)
    this.#queues[entry.class][entry.state].delete(connection)
    if (entry.class === 'general') this.#leaveGeneral(connection, entry)
  }

  setState(connection: Connection, state: ConnectionState): void {
    const entry = this.#entries.get(connection)
    if (entry === undefined || entry.state === 'leaving' || entry.state === state) return
    const own = this.#queues[entry.class]
    own[entry.state].delete(connection)
    own[state].add(connection)
    entry.state = state
  }

  /** Returns the class of a connection after moving it out of the reserve if there is room by now. */
  classOf(connection: Connection): ConnectionClass {
    const entry = this.#entries.get(connection)
    if (entry === undefined) return 'reserve'
    if (entry.class === 'reserve' && this.#hasRoom(entry.address)) {
      this.remove(connection)
      this.#enter(connection, entry.address, 'general', undefined, entry.state)
      return 'general'
    }
    return entry.class
  }

  #hasRoom(address: string | undefined): boolean {
    if (this.#generalCount >= this.#limits.maxConnections) return false
    return address === undefined || (this.#byAddress.get(address)?.size ?? 0) < this.#limits.maxPerAddress
  }

  #evictable(address: string | undefined): Connection | undefined {
    const own = address === undefined ? undefined : this.#byAddress.get(address)
    if (own === undefined || own.size < this.#limits.maxPerAddress) return this.#firstOf(this.#queues.general)
    let idle: Connection | undefined
    for (const connection of own) {
      if (this.#entries.get(connection)!.state !== 'active') return connection
      if (idle === undefined && !this.#isBusy(connection)) idle = connection
    }
    return idle
  }

  #firstOf({ leaving, waiting, active }: Queues<Connection>): Connection | undefined {
    for (const connection of leaving) return connection
    for (const connection of waiting) return connection
    let looks = Math.min(active.size, MAX_LOOKS)
    for (const connection of active) {
      if (looks === 0) return undefined
      if (!this.#isBusy(connection)) return connection
      // Busy ones go to the end, so that the next search looks at others.
      active.delete(connection)
      active.add(connection)
      looks -= 1
    }
    return undefined
  }

  #enter(
    connection: Connection,
    address: string | undefined,
    connectionClass: ConnectionClass,
    evicted: Connection | undefined,
    state: ConnectionState = 'waiting',
  ): ConnectionAdmission<Connection> {
    this.#entries.set(connection, { address, state, class: connectionClass })
    this.#queues[connectionClass][state].add(connection)
    if (connectionClass === 'general') {
      this.#generalCount += 1
      if (address !== undefined) {
        const own = this.#byAddress.get(address) ?? new Set()
        this.#byAddress.set(address, own.add(connection))
      }
    }
    return { admitted: true, class: connectionClass, evicted }
  }

  #leaveGeneral(connection: Connection, { address }: Entry): void {
    this.#generalCount -= 1
    if (address === undefined) return
    const own = this.#byAddress.get(address)
    own?.delete(connection)
    if (own?.size === 0) this.#byAddress.delete(address)
  }
}

function queues<Connection>(): Queues<Connection> {
  return { leaving: new Set(), waiting: new Set(), active: new Set() }
}

const countOf = ({ leaving, waiting, active }: Queues<unknown>): number => leaving.size + waiting.size + active.size
