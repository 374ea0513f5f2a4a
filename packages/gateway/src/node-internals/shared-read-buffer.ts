import { type OnReadOpts, type Server, Socket, type SocketConstructorOpts } from 'node:net'

/** The most that is read at once, as much as Node itself reads. */
const BUFFER_BYTES = 64 * 1024

/**
 * Pieces of these lengths share slabs of memory, because an allocation for each would cost as much as the rest of a read.
 * A slab is freed when none of its pieces is used any more. So a piece holds at most 64 times its length, which is less
 * than in the pool of `Buffer.allocUnsafe`, from which shorter pieces come.
 */
const SLAB_BYTES = 32 * 1024
const MIN_SHARED_BYTES = 512
const MAX_SHARED_BYTES = 8 * 1024

/** The handle of a TCP socket. Node does not document it, but its own modules pass handles from socket to socket. */
interface Handle {
  useUserBuffer?(buffer: Uint8Array): void
}

type HandleOwner = { _handle?: Handle | null }

/** Returns whether the handle of a socket, or of a listening server, which is of the same kind, can read into a given buffer. */
export const canReadIntoBuffer = (owner: Socket | Server): boolean =>
  typeof (owner as HandleOwner)._handle?.useUserBuffer === 'function'

/** The options of the constructor of a socket, with two that its types lack. */
type AdoptionOptions = SocketConstructorOpts & { readonly handle: Handle; readonly onread: OnReadOpts }

/**
 * Reads accepted sockets into one buffer. Node allocates 64 KiB for each read of a socket and copies what has arrived to a
 * buffer of its size, which takes about a microsecond. The option `onread` avoids it, but applies only to sockets that a
 * program creates. So the handle of an accepted socket is given to a new one.
 */
export class SharedReadBuffer {
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  #slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
  #slabUsed = 0

  /**
   * Returns a socket with the connection of `accepted`, which must come from a server with `pauseOnConnect` and
   * `allowHalfOpen`. It emits a copy of the received bytes as `data`. `accepted` must not be used any more, unless it is
   * itself returned, which happens if its handle cannot read into a given buffer.
   */
  adopt(accepted: Socket): Socket {
    if (!canReadIntoBuffer(accepted)) return accepted.resume()
    const owner = accepted as HandleOwner
    const handle = owner._handle!
    const options: AdoptionOptions = {
      handle,
      allowHalfOpen: true,
      onread: { buffer: this.#buffer, callback: (bytes) => this.#pass(socket, bytes) },
    }
    const socket = new Socket(options)
    owner._handle = null
    // The server counts the accepted socket as open until it is destroyed.
    socket.once('close', () => accepted.destroy())
    return socket
  }

  #pass(socket: Socket, bytes: number): boolean {
    const piece = this.#pieceOf(bytes)
    this.#buffer.copy(piece, 0, 0, bytes)
    socket.emit('data', piece)
    return true
  }

  #pieceOf(bytes: number): Buffer {
    if (bytes < MIN_SHARED_BYTES || bytes > MAX_SHARED_BYTES) return Buffer.allocUnsafe(bytes)
    if (this.#slabUsed + bytes > SLAB_BYTES) {
      this.#slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
      this.#slabUsed = 0
    }
    const start = this.#slabUsed
    this.#slabUsed += bytes
    return this.#slab.subarray(start, start + bytes)
  }
}
