export interface ConnectionLimits {
  /** The maximum number of connections from all addresses together. */
  readonly maxConnections: number
  /** The maximum number of connections from one IPv4 address, or from one IPv6 /64 network. */
  readonly maxPerAddress: number
  /** The number of connections beyond these limits that are reserved for health probes. */
  readonly reserve: number
}

/**
 * The progress of a connection: `waiting` until it has sent the head of a first request, `active` afterwards, and
 * `leaving` while it is closed after an error response.
 */
type ConnectionState = 'leaving' | 'waiting' | 'active'

/** The class of a connection: `general` connections may send any request, `reserve` connections only health probes. */
export type ConnectionClass = 'general' | 'reserve'

type ConnectionAdmission<Connection> =
  | {
      readonly admitted: true
      readonly class: ConnectionClass
      /** The connection that the caller must close to make room for this one. */
      readonly evicted: Connection | undefined
    }
  | { readonly admitted: false }

interface Entry {
  /** The address that the limit per address counts; `undefined` if the address is exempt. */
  readonly address: string | undefined
  state: ConnectionState
  class: ConnectionClass
}

type Queues<Connection> = Readonly<Record<ConnectionState, Set<Connection>>>

/** How many active connections one search for an idle connection examines, so that `add` stays cheap in a full table. */
const MAX_EXAMINED = 64

/**
 * Decides which connections a listener keeps. If there is no room, a new connection replaces the oldest connection that
 * has no request in progress: one from the same address if that address is at its limit, otherwise one from any address.
 * If all are busy, the new connection enters the reserve.
 */
export class ConnectionTable<Connection> {
  readonly #limits: ConnectionLimits
  readonly #isBusy: (connection: Connection) => boolean
  readonly #entries = new Map<Connection, Entry>()
  /** The connections by class and state, in the order in which they entered the state. */
  readonly #queues: Readonly<Record<ConnectionClass, Queues<Connection>>> = { general: queues(), reserve: queues() }
  readonly #byAddress = new Map<string, Set<Connection>>()
  #generalCount = 0

  /** @param isBusy shows whether a connection has a request in progress; such a connection is never evicted */
  constructor(limits: ConnectionLimits, isBusy: (connection: Connection) => boolean) {
    this.#limits = limits
    this.#isBusy = isBusy
  }

  /**
   * Adds a connection, or refuses it if there is no room and nothing can be evicted.
   *
   * @param address `undefined` if the limit per address does not apply
   */
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

  /** Moves the connection out of the reserve if there is room now, and returns its class. */
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
    let examinable = Math.min(active.size, MAX_EXAMINED)
    for (const connection of active) {
      if (examinable === 0) return undefined
      if (!this.#isBusy(connection)) return connection
      // Busy connections move to the end, so that the next search examines other ones.
      active.delete(connection)
      active.add(connection)
      examinable -= 1
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
