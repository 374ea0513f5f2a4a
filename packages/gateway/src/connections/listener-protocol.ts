import type { Socket } from 'node:net'

export type HttpVersion = 1 | 2

/** The beginning of the HTTP/2 preface, which no HTTP/1 request can begin with. The HTTP/2 parser checks the rest. */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\n')

/** Returns the HTTP version that a connection begins with; `undefined` if more bytes are needed. */
export function versionOf(beginning: Uint8Array): HttpVersion | undefined {
  const length = Math.min(beginning.length, PREFACE.length)
  for (let at = 0; at < length; at += 1) if (beginning[at] !== PREFACE[at]) return 1
  return length === PREFACE.length ? 2 : undefined
}

/**
 * Reads until the version is known, then hands over the socket and the bytes that were read. Silently closes a connection that
 * ends before that.
 */
export function readVersion(socket: Socket, handOver: (version: HttpVersion, beginning: Buffer) => void): void {
  /** All bytes read; more may arrive between detection and hand-over. */
  const pieces: Buffer[] = []
  let version: HttpVersion | undefined
  const leave = () => {
    socket.destroy()
  }
  const onData = (piece: Buffer) => {
    pieces.push(piece)
    if (version !== undefined) return
    version = versionOf(Buffer.concat(pieces))
    if (version === undefined) return
    // Not within `data`: the stream would resume afterwards, even if its new owner has paused it.
    setImmediate(give)
  }
  const give = () => {
    if (socket.destroyed) return
    socket.off('data', onData)
    socket.off('end', leave)
    handOver(version!, pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))
  }
  socket.on('data', onData)
  socket.on('end', leave)
}
