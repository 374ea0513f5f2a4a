import type { Socket } from 'node:net'
import { buildConnector, DecoratorHandler, type Dispatcher } from 'undici'
import { AddressBlocked, type AddressPolicy, blockedBecause, guardedLookup } from './address-guard.ts'

/**
 * Judges connections by the addresses that they really have: when they are made, and again before each request that uses them,
 * because the policy may have changed since. A connection that the policy forbids is cut.
 */
export class GuardedConnections {
  readonly #policy: () => AddressPolicy
  /** By origin. */
  readonly #open = new Map<string, Set<Socket>>()

  /** @param policy the one of the moment */
  constructor(policy: () => AddressPolicy) {
    this.#policy = policy
  }

  /** Returns the connector for the pool of one origin. */
  connector(origin: URL, options: buildConnector.BuildOptions): buildConnector.connector {
    const connect = buildConnector({
      ...options,
      lookup: (hostname, lookupOptions, done) => guardedLookup(this.#policy(), origin)(hostname, lookupOptions, done),
    })
    return (target, callback) => {
      connect(target, (error, socket) => {
        if (error !== null) return callback(error, null)
        const reason = this.#reasonAgainst(origin, socket)
        if (reason === undefined) {
          this.#keep(origin.origin, socket)
          return callback(null, socket)
        }
        socket.destroy()
        callback(new AddressBlocked(reason), null)
      })
    }
  }

  /** Judges the connections of an origin once more when a request is about to be written to one of them. */
  readonly interceptor: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
    const { origin } = options
    return origin === undefined
      ? dispatch(options, handler)
      : dispatch(options, new JudgingHandler(handler, () => this.cutForbidden(new URL(origin))))
  }

  /** Cuts the connections of an origin that the policy of the moment forbids. Returns the reason, if there was one. */
  cutForbidden(origin: URL): string | undefined {
    let cutBecause: string | undefined
    for (const socket of this.#open.get(origin.origin) ?? []) {
      const reason = this.#reasonAgainst(origin, socket)
      if (reason === undefined) continue
      cutBecause = reason
      socket.destroy(new AddressBlocked(reason))
    }
    return cutBecause
  }

  #keep(origin: string, socket: Socket): void {
    const sockets = this.#open.get(origin) ?? new Set()
    this.#open.set(origin, sockets.add(socket))
    socket.once('close', () => {
      sockets.delete(socket)
      if (sockets.size === 0 && this.#open.get(origin) === sockets) this.#open.delete(origin)
    })
  }

  #reasonAgainst(origin: URL, { destroyed, remoteAddress }: Socket): string | undefined {
    // A connection that has ended has no address, and carries no request any more.
    if (destroyed || remoteAddress === undefined) return undefined
    return blockedBecause(this.#policy(), { url: origin, addresses: [remoteAddress] })
  }
}

/** Its types leave out what it inherits from the interface. */
const decorated = DecoratorHandler.prototype as Dispatcher.DispatchHandler

class JudgingHandler extends DecoratorHandler {
  readonly #judge: () => string | undefined

  constructor(handler: Dispatcher.DispatchHandler, judge: () => string | undefined) {
    super(handler)
    this.#judge = judge
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    decorated.onRequestStart?.call(this, controller, context)
    const reason = this.#judge()
    if (reason !== undefined) controller.abort(new AddressBlocked(reason))
  }
}
