import type { Socket } from 'node:net'
import { ConnectionTable, listenerFull } from '@penstock/http'
import { type Clock, type Log, subscriberOf, unmapIpv4 } from '@penstock/runtime'
import type { ListenAddress } from '../contract/gateway-config.ts'
import type { Connection, ConnectionPlace } from './listener-connection.ts'

/** The entry of a connection in the table, from its TLS handshake on. */
export interface Slot {
  socket: Socket
  connection: Connection | undefined
}

export interface SlotLimits {
  /**
   * The highest number of connections. A further connection replaces the oldest connection without a request. If all
   * have requests, only health probes are answered on the further connection.
   */
  readonly maxConnections: number
  /** The same limit for each IPv4 address, or IPv6 network of 64 bits. */
  readonly maxConnectionsPerAddress: number
}

/** The number of connections beyond the limits, for health probes. */
const RESERVE = 64
const LOG_EVERY_MS = 60_000

/** Enforces the connection limits of a listener: admits sockets, and destroys some to make room for others. */
export class ListenerSlots {
  readonly #table: ConnectionTable<Slot>
  readonly #clock: Clock
  readonly #log: Log
  readonly #limits: SlotLimits
  readonly #addressOf: () => ListenAddress
  #loggedAtMs = Number.NEGATIVE_INFINITY

  /** @param addressOf returns the address that the listener is bound to, for the log */
  constructor(limits: SlotLimits, clock: Clock, log: Log, addressOf: () => ListenAddress) {
    const { maxConnections, maxConnectionsPerAddress } = limits
    this.#limits = limits
    this.#addressOf = addressOf
    this.#clock = clock
    this.#log = log
    this.#table = new ConnectionTable(
      { maxConnections, maxPerAddress: maxConnectionsPerAddress, reserve: RESERVE },
      ({ connection }) => connection?.isBusy === true,
    )
  }

  /** Returns the slot of a socket. If there is no room, destroys the socket and returns `undefined`. */
  admit(socket: Socket): Slot | undefined {
    const slot: Slot = { socket, connection: undefined }
    const admission = this.#table.add(slot, subscriberOf(socket.remoteAddress ?? ''))
    if (!admission.admitted || admission.evicted !== undefined || admission.class === 'reserve') {
      this.#noteLimit(socket.remoteAddress ?? '')
    }
    if (!admission.admitted) {
      socket.destroy()
      return undefined
    }
    socket.once('close', () => this.#table.remove(slot))
    admission.evicted?.socket.destroy()
    return slot
  }

  placeOf(slot: Slot): ConnectionPlace {
    return {
      isReserved: () => this.#table.classOf(slot) === 'reserve',
      requestBegan: () => this.#table.setState(slot, 'active'),
    }
  }

  #noteLimit(source: string): void {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#loggedAtMs < LOG_EVERY_MS) return
    this.#loggedAtMs = nowMs
    const { maxConnections, maxConnectionsPerAddress: maxPerAddress } = this.#limits
    const { fields, message } = listenerFull(this.#addressOf(), { maxConnections, maxPerAddress }, unmapIpv4(source))
    this.#log.warn(fields, message)
  }
}
