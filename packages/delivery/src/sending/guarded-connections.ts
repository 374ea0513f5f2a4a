import type { Socket } from 'node:net'
import { buildConnector, DecoratorHandler, type Dispatcher } from 'undici'
import { AddressBlocked, type AddressPolicy, findBlockReason, guardedLookup } from './address-guard.ts'

/**
 * Checks connections by their real addresses: when they are made, and again before each request that uses them, because
 * the policy may have changed since. A connection that the policy forbids is cut.
 */
export class GuardedConnections {
  readonly #policy: () => AddressPolicy
  /** The open connections by origin. */
  readonly #open = new Map<string, Set<Socket>>()

  /** @param policy returns the current policy */
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
        const reason = this.#findBlockReason(origin, socket)
        if (reason === undefined) {
          this.#keep(origin.origin, socket)
          return callback(null, socket)
        }
        socket.destroy()
        callback(new AddressBlocked(reason), null)
      })
    }
  }

  /** Checks the open connections of an origin again when a request is about to be written to one of them. */
  readonly interceptor: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
    const { origin } = options
    return origin === undefined
      ? dispatch(options, handler)
      : dispatch(options, new PolicyHandler(handler, () => this.cutForbidden(new URL(origin))))
  }

  /** Cuts the connections of an origin that the current policy forbids. Returns the reason, if there was one. */
  cutForbidden(origin: URL): string | undefined {
    let cutReason: string | undefined
    for (const socket of this.#open.get(origin.origin) ?? []) {
      const reason = this.#findBlockReason(origin, socket)
      if (reason === undefined) continue
      cutReason = reason
      socket.destroy(new AddressBlocked(reason))
    }
    return cutReason
  }

  #keep(origin: string, socket: Socket): void {
    const sockets = this.#open.get(origin) ?? new Set()
    this.#open.set(origin, sockets.add(socket))
    socket.once('close', () => {
      sockets.delete(socket)
      if (sockets.size === 0 && this.#open.get(origin) === sockets) this.#open.delete(origin)
    })
  }

  #findBlockReason(origin: URL, { destroyed, remoteAddress }: Socket): string | undefined {
    // A closed connection has no address, and carries no requests any more.
    if (destroyed || remoteAddress === undefined) return undefined
    return findBlockReason(this.#policy(), { url: origin, addresses: [remoteAddress] })
  }
}

/**
 * The methods of `DecoratorHandler`, with the type of the interface that declares them. The type of the class leaves
 * them out.
 */
const decorated = DecoratorHandler.prototype as Dispatcher.DispatchHandler

class PolicyHandler extends DecoratorHandler {
  readonly #cutForbidden: () => string | undefined

  constructor(handler: Dispatcher.DispatchHandler, cutForbidden: () => string | undefined) {
    super(handler)
    this.#cutForbidden = cutForbidden
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    decorated.onRequestStart?.call(this, controller, context)
    const reason = this.#cutForbidden()
    if (reason !== undefined) controller.abort(new AddressBlocked(reason))
  }
}
