import { type BodyReceiver, FastConnection, type FastHead, type FastRequests, type FastSocket } from '@penstock/gateway'
import type { ReadRequest } from './llhttp.ts'

/** Reads the head of a request; `undefined` leaves it to node:http. */
export type ReadHead = (bytes: Buffer) => FastHead | undefined

export const servedPath = '/v1/traces'

export interface FastReading {
  readonly requests: readonly ReadRequest[]
  /** The bytes that node:http has to read; `undefined` if there were none. */
  readonly rest: Buffer | undefined
}

/** When the requests are answered, and when their bodies are read. */
export interface Pace {
  /** Whether a request is answered when the next piece has arrived, instead of at once. */
  readonly answersLate: boolean
  /** Whether the reader of a body is full after each piece, until the next one is sent. */
  readonly isFull: boolean
}

/** Sends pieces of a stream through a `FastConnection`, and returns what it has read and what it has left to node:http. */
export function readWithFastPath(
  pieces: readonly Buffer[],
  { answersLate, isFull }: Pace,
  read: ReadHead,
): FastReading {
  const requests: ReadRequest[] = []
  const socket = new PieceSocket()
  let rest: Buffer | undefined
  let answer: (() => void) | undefined
  const served: FastRequests = {
    servesPath: (path) => path === servedPath,
    begin(head: FastHead, output: FastConnection): BodyReceiver {
      const { path, rawHeaders, bodyBytes, keepsAlive } = head
      const headers = [...rawHeaders, 'content-length', String(bodyBytes)]
      const request = { method: 'POST HTTP/1.1', target: path, headers, body: '', isComplete: false, keepsAlive }
      requests.push(request)
      return {
        isPaused: false,
        onBody(piece) {
          request.body += Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString('latin1')
          return !isFull
        },
        onBodyEnd() {
          request.isComplete = true
          answer = () => {
            answer = undefined
            output.requestEnded(!keepsAlive)
          }
          if (!answersLate) answer()
        },
        onAborted() {},
        onStalled() {},
        onBroken() {},
      }
    },
  }
  const connection = new FastConnection(
    socket.asSocket(),
    socket,
    served,
    (unread) => {
      rest = unread
    },
    { read },
  )
  for (const piece of pieces) {
    if (isFull) connection.resumeBody()
    socket.arrive(piece)
    answer?.()
    socket.flow()
  }
  // Each answer may let the next request in.
  while (answer !== undefined) {
    answer()
    socket.flow()
  }
  return { requests, rest: rest && Buffer.concat([rest, socket.read()]) }
}

/** A socket that receives pieces, and keeps them while it is paused or has no reader. */
class PieceSocket {
  destroyed = false
  writableEnded = false
  #held: Buffer[] = []
  #reader: ((piece: Buffer) => void) | undefined
  readonly #holds = new Set<string>()

  get readableLength(): number {
    return this.#held.reduce((sum, { length }) => sum + length, 0)
  }

  asSocket(): FastSocket {
    return this as unknown as FastSocket
  }

  arrive(piece: Buffer): void {
    this.#held.push(piece)
    this.flow()
  }

  flow(): void {
    while (this.#holds.size === 0 && this.#reader !== undefined && this.#held.length > 0) {
      this.#reader(this.#held.shift()!)
    }
  }

  read(): Buffer {
    const all = Buffer.concat(this.#held)
    this.#held = []
    return all
  }

  on(event: string, listener: (piece: Buffer) => void): void {
    if (event === 'data') this.#reader = listener
  }

  off(event: string): void {
    if (event === 'data') this.#reader = undefined
  }

  destroySoon(): void {
    this.destroyed = true
  }

  holdReading(reason: string): void {
    this.#holds.add(reason)
  }

  /** Like `resume` of a socket, this delivers nothing before the caller has returned. */
  releaseReading(reason: string): void {
    this.#holds.delete(reason)
  }
}
