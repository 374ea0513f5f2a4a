import type { Socket } from 'node:net'
import type { ReadingHolds } from '../connections/listener-connection.ts'
import type { BodyReceiver } from '../contract/body-receiver.ts'
import { type FastHead, FastHeadReader } from './fast-head.ts'

/** Serves the requests that the gateway reads from one connection without node:http. */
export interface FastRequests {
  /** Returns whether requests with this path are served. Requests with other paths go to node:http. */
  servesPath(path: string): boolean
  /** Begins a request, and returns the receiver of its body. Must not throw. */
  begin(head: FastHead, output: FastConnection): BodyReceiver
}

/** The parts of a socket that the fast path uses. */
export type FastSocket = Pick<
  Socket,
  | 'destroy'
  | 'destroyed'
  | 'destroySoon'
  | 'end'
  | 'off'
  | 'on'
  | 'once'
  | 'read'
  | 'readableLength'
  | 'writableEnded'
  | 'write'
>

/**
 * One HTTP/1.1 connection; its requests are read directly from its socket, one at a time.
 *
 * The connection goes to node:http for the rest of its life, together with the bytes that are still unread, when
 *
 * - the bytes after an answer do not begin with a complete head that `readFastHead` accepts,
 * - the path of the request is not served here,
 * - more bytes arrive with a request than its own, or
 * - more bytes arrive before the request has been answered.
 *
 *     piece ──► complete head, known path, at most its own body ──► request ──► rest of its body ──► answered ──┐
 *       ▲  │                                                                                                   │
 *       │  └──► anything else ──► node:http ◄── the bytes sent in between, if any ◄────────────────────────┤
 *       └──────────────────────────────────────────────────────────────────────────────────────────────────────┘
 */
export class FastConnection {
  readonly #socket: FastSocket
  readonly #holds: ReadingHolds
  readonly #requests: FastRequests
  readonly #leave: (unread: Buffer) => void
  readonly #heads: Pick<FastHeadReader, 'read'>
  #request: BodyReceiver | undefined
  /** The number of bytes of the body that have not arrived. */
  #missingBytes = 0
  /** The bytes that arrived after the end of a request and before its answer. */
  #early: Buffer[] = []
  /** Whether reading is paused because the reader of the body is full. */
  #isBodyHeld = false
  /** Whether the last answer of the connection has been written. Everything that arrives afterwards is ignored. */
  #isEnding = false

  /**
   * Starts to read from the socket.
   *
   * @param leave passes the connection to node:http, which must read the unread bytes first
   */
  constructor(
    socket: FastSocket,
    holds: ReadingHolds,
    requests: FastRequests,
    leave: (unread: Buffer) => void,
    heads: Pick<FastHeadReader, 'read'> = new FastHeadReader(),
  ) {
    this.#socket = socket
    this.#holds = holds
    this.#requests = requests
    this.#leave = leave
    this.#heads = heads
    socket.on('data', this.#onData)
    socket.on('end', this.#onEnd)
    socket.on('close', this.#onClose)
  }

  get isGone(): boolean {
    return this.#socket.destroyed
  }

  /** Writes a reply in latin1. Pauses reading while the client does not read its replies. */
  write(text: string): void {
    if (this.#socket.writableEnded) {
      this.#socket.destroy()
    } else if (!this.#socket.write(text, 'latin1')) {
      this.#holds.holdReading('unsent')
      this.#socket.once('drain', this.#onDrain)
    }
  }

  /** Ends the request after its answer and its body. `isLast`: the connection is closed when the answer has been sent. */
  requestEnded(isLast: boolean): void {
    this.#request = undefined
    if (isLast) {
      this.#isEnding = true
      this.#socket.destroySoon()
    } else if (this.#early.length > 0) {
      this.#passToNode(Buffer.concat(this.#early))
    }
  }

  resumeBody(): void {
    if (!this.#isBodyHeld) return
    this.#isBodyHeld = false
    this.#holds.releaseReading('body')
  }

  readonly #onData = (piece: Buffer): void => {
    if (this.#isEnding) return
    if (this.#missingBytes > 0) this.#receive(piece)
    else if (this.#request === undefined) this.#begin(piece)
    else {
      this.#early.push(piece)
      this.#holds.holdReading('early')
    }
  }

  readonly #onEnd = (): void => {
    // A body that is incomplete will never be complete. Otherwise written replies are sent first, as node:http does.
    if (this.#missingBytes > 0) this.#socket.destroy()
    else this.#socket.end()
  }

  readonly #onClose = (): void => {
    this.#request?.onAborted()
  }

  readonly #onDrain = (): void => {
    this.#holds.releaseReading('unsent')
  }

  #begin(piece: Buffer): void {
    const head = this.#heads.read(piece)
    if (head === undefined || piece.length > head.headBytes + head.bodyBytes || !this.#requests.servesPath(head.path)) {
      this.#passToNode(piece)
      return
    }
    this.#missingBytes = head.bodyBytes
    this.#request = this.#requests.begin(head, this)
    if (this.#isEnding) return
    if (piece.length > head.headBytes) this.#receive(piece.subarray(head.headBytes))
    else if (head.bodyBytes === 0) this.#request.onBodyEnd()
  }

  #receive(piece: Buffer): void {
    const request = this.#request!
    const ownBytes = Math.min(piece.length, this.#missingBytes)
    const isReadyForMore = request.onBody(ownBytes === piece.length ? piece : piece.subarray(0, ownBytes))
    this.#missingBytes -= ownBytes
    if (this.#missingBytes > 0) {
      if (!isReadyForMore) this.#holdBody()
      return
    }
    request.onBodyEnd()
    this.resumeBody()
    if (ownBytes < piece.length) this.#onData(piece.subarray(ownBytes))
  }

  #holdBody(): void {
    this.#isBodyHeld = true
    this.#holds.holdReading('body')
  }

  /** Passes the connection to node:http for the rest of its life. */
  #passToNode(unread: Buffer): void {
    const socket = this.#socket
    if (socket.destroyed) return
    socket.off('data', this.#onData)
    socket.off('end', this.#onEnd)
    socket.off('close', this.#onClose)
    socket.off('drain', this.#onDrain)
    // The socket may have buffered more bytes while reading was paused.
    const pieces = [unread]
    while (socket.readableLength > 0) pieces.push(socket.read())
    this.#leave(pieces.length === 1 ? unread : Buffer.concat(pieces))
    this.#holds.releaseReading('early')
    this.#holds.releaseReading('unsent')
  }
}
