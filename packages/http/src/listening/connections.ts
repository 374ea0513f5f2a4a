import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { subscriberOf, unmapIpv4 } from '@penstock/runtime'
import { type ConnectionClass, type ConnectionLimits, ConnectionTable } from './connection-table.ts'

interface OpenConnection {
  /** The unfinished responses, in the order of their requests. */
  readonly responses: Set<ServerResponse>
  /** The response to the latest request, until it is finished. */
  lastResponse: ServerResponse | undefined
  timer: NodeJS.Timeout | undefined
}

interface ConnectionsOptions {
  readonly limits: ConnectionLimits
  /** Returns whether the limit per address does not apply to this address. */
  readonly isExempt: (address: string) => boolean
  /** Called when a limit is reached: with the address of a connection that evicts another, is refused, or enters the reserve. */
  readonly onLimit: (address: string) => void
}

/** The time in which a connection in the reserve has to send the head of its request. */
const RESERVE_HEAD_MS = 1_000
/** The time that a client has to read an error response before its connection is destroyed. */
const CLOSE_GRACE_MS = 1_000

/** The open sockets of a listener: admits, evicts and destroys them as a `ConnectionTable` decides. */
export class Connections {
  readonly #table: ConnectionTable<Socket>
  readonly #options: ConnectionsOptions
  readonly #open = new Map<Socket, OpenConnection>()

  constructor(options: ConnectionsOptions) {
    this.#options = options
    this.#table = new ConnectionTable(options.limits, (socket) => this.responsesOf(socket).size > 0)
  }

  add(socket: Socket): void {
    const address = unmapIpv4(socket.remoteAddress ?? '')
    const admission = this.#table.add(socket, this.#options.isExempt(address) ? undefined : subscriberOf(address))
    if (!admission.admitted || admission.evicted !== undefined || admission.class === 'reserve') {
      this.#options.onLimit(address)
    }
    if (!admission.admitted) {
      socket.destroy()
      return
    }
    const connection: OpenConnection = { responses: new Set(), lastResponse: undefined, timer: undefined }
    this.#open.set(socket, connection)
    socket.on('close', () => {
      clearTimeout(connection.timer)
      this.#table.remove(socket)
      this.#open.delete(socket)
    })
    if (admission.class === 'reserve') this.#destroyAfter(socket, RESERVE_HEAD_MS)
    admission.evicted?.destroy()
  }

  /** Registers a request as in progress, until `onEnd` is called, and returns the class of its connection. */
  requestBegan({ socket }: IncomingMessage, response: ServerResponse, onEnd: () => void): ConnectionClass {
    const connection = this.#open.get(socket)
    if (connection === undefined) return 'reserve'
    const { responses } = connection
    responses.add(response)
    connection.lastResponse = response
    this.#table.setState(socket, 'active')
    response.on('close', () => {
      responses.delete(response)
      if (connection.lastResponse === response) connection.lastResponse = undefined
      onEnd()
    })
    const connectionClass = this.#table.classOf(socket)
    clearTimeout(connection.timer)
    connection.timer = undefined
    return connectionClass
  }

  responsesOf(socket: Socket): ReadonlySet<ServerResponse> {
    return this.#open.get(socket)?.responses ?? new Set()
  }

  /** Returns the response to the latest request of the connection, unless it is finished. */
  unfinishedResponseOf(socket: Socket): ServerResponse | undefined {
    return this.#open.get(socket)?.lastResponse
  }

  /** Sends a final response and destroys the socket soon after, even if the client does not close it. */
  end(socket: Socket, answer: string): void {
    this.#table.setState(socket, 'leaving')
    this.#destroyAfter(socket, CLOSE_GRACE_MS)
    socket.end(answer)
  }

  isLeaving(socket: Socket): boolean {
    return socket.writableEnded
  }

  destroyWithoutRequest(): void {
    for (const [socket, { responses }] of this.#open) if (responses.size === 0) socket.destroy()
  }

  *unfinished(): Iterable<ServerResponse> {
    for (const { responses } of this.#open.values()) yield* responses
  }

  #destroyAfter(socket: Socket, ms: number): void {
    const connection = this.#open.get(socket)
    if (connection === undefined) return
    clearTimeout(connection.timer)
    const timer = setTimeout(() => {
      // If the process was paused, this first reads the data that has arrived in the meantime.
      setImmediate(() => {
        if (connection.timer === timer) socket.destroy()
      })
    }, ms)
    connection.timer = timer
    timer.unref()
  }
}
