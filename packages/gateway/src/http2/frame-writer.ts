import type { Socket } from 'node:net'

/** Pauses and resumes reading from the connection while the client does not read. */
export interface UnsentHold {
  holdReading(reason: 'unsent'): void
  releaseReading(reason: 'unsent'): void
}

/** Shorter bodies are written together with the frames around them. */
const MAX_JOINED_BYTES = 1_024

/** Writes frames to a socket. The short ones of one turn of the event loop are written together, with one system call. */
export class FrameWriter {
  readonly #socket: Pick<Socket, 'destroyed' | 'once' | 'writableEnded' | 'write'>
  readonly #hold: UnsentHold
  #unwritten = ''
  #isFlushDue = false
  /** Whether the client does not read what was written. */
  #isFull = false

  constructor(socket: Pick<Socket, 'destroyed' | 'once' | 'writableEnded' | 'write'>, hold: UnsentHold) {
    this.#socket = socket
    this.#hold = hold
  }

  /** Writes a text in latin1 at the end of the turn. */
  send(text: string): void {
    this.#unwritten += text
    if (this.#isFlushDue) return
    this.#isFlushDue = true
    process.nextTick(this.#flushDue)
  }

  sendBytes(bytes: Uint8Array): void {
    if (bytes.length <= MAX_JOINED_BYTES) {
      this.send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1'))
    } else {
      this.flush()
      this.#write(bytes)
    }
  }

  /** Writes what is due at the end of the turn at once. */
  flush(): void {
    const text = this.#unwritten
    if (text === '') return
    this.#unwritten = ''
    this.#write(text)
  }

  readonly #flushDue = (): void => {
    this.#isFlushDue = false
    this.flush()
  }

  #write(part: string | Uint8Array): void {
    const socket = this.#socket
    if (socket.destroyed || socket.writableEnded) return
    const isTaken = typeof part === 'string' ? socket.write(part, 'latin1') : socket.write(part)
    if (isTaken || this.#isFull) return
    this.#isFull = true
    this.#hold.holdReading('unsent')
    socket.once('drain', this.#onDrain)
  }

  readonly #onDrain = (): void => {
    this.#isFull = false
    this.#hold.releaseReading('unsent')
  }
}
