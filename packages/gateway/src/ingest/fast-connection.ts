import type { Socket } from 'node:net'
import { type FastHead, FastHeadReader } from './fast-head.ts'
import type { BodySink } from './http-request.ts'
import type { ReadingHolds } from './listener-connection.ts'

/** Serves the requests of one connection that the gateway reads itself. */
export interface FastRequests {
  /** Returns whether requests with this path are served. All others go to node:http. */
  servesPath(path: string): boolean
  /** Begins a request. Its body and its end follow. Must not throw. */
  begin(head: FastHead, output: FastConnection): BodySink
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
 * One connection over HTTP/1.1, with requests that are read directly from its socket.
 *
 * A piece of data that is not the beginning of a request as in `readFastHead` goes to node:http, and with it the connection
 * for the rest of its life. So does a request that is followed by more bytes than its own, and what a client sends before
 * it has been answered: here a connection has one request at a time.
 *
 *     piece ──► complete head, known path, at most its own body ──► request ──► rest of its body ──► answered ──┐
 *       ▲  │                                                                                                   │
 *       │  └──► anything else ──► node:http ◄── the bytes sent meanwhile, if there are any ◄───────────────────┤
 *       └──────────────────────────────────────────────────────────────────────────────────────────────────────┘
 */
export class FastConnection {
  readonly #socket: FastSocket
  readonly #holds: ReadingHolds
  readonly #requests: FastRequests
  readonly #leave: (unread: Buffer) => void
  readonly #heads: Pick<FastHeadReader, 'read'>
  #request: BodySink | undefined
  /** The number of bytes of the body that have not arrived. */
  #missingBytes = 0
  /** The bytes that arrived after a request and before its answer. */
  #early: Buffer[] = []
  /** Whether reading is paused because the reader of the body is full. */
  #isBodyHeld = false
  /** Whether the connection ends with the answer that was written last. */
  #isEnding = false

  /** @param leave passes the connection to node:http, with the bytes that it has to read first */
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

  /** Writes a reply, or a part of one. */
  write(text: string): void {
    if (this.#socket.writableEnded) {
      this.#socket.destroy()
    } else if (!this.#socket.write(text, 'latin1')) {
      // The client does not read its answers, so its requests are not read either.
      this.#holds.holdReading('unsent')
      this.#socket.once('drain', this.#onDrain)
    }
  }

  /** Ends the request: it is answered, and its body has arrived. `isLast`: the connection ends with this answer. */
  requestEnded(isLast: boolean): void {
    this.#request = undefined
    if (isLast) {
      this.#isEnding = true
      this.#socket.destroySoon()
    } else if (this.#early.length > 0) {
      this.#passOn(Buffer.concat(this.#early))
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
    // The client has gone within a body. Otherwise what has been written is sent first, as node:http does.
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
      this.#passOn(piece)
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
  #passOn(unread: Buffer): void {
    const socket = this.#socket
    if (socket.destroyed) return
    socket.off('data', this.#onData)
    socket.off('end', this.#onEnd)
    socket.off('close', this.#onClose)
    socket.off('drain', this.#onDrain)
    // While reading was paused, the socket may have buffered more.
    const pieces = [unread]
    while (socket.readableLength > 0) pieces.push(socket.read())
    this.#leave(pieces.length === 1 ? unread : Buffer.concat(pieces))
    this.#holds.releaseReading('early')
    this.#holds.releaseReading('unsent')
  }
}
