import type { Socket } from 'node:net'

export type HttpVersion = 1 | 2

/** As much of HTTP/2's preface as no request of HTTP/1 can begin with; the rest is for its own parser to check. */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\n')

/** `undefined`: too little to tell. */
export function versionOf(beginning: Uint8Array): HttpVersion | undefined {
  const length = Math.min(beginning.length, PREFACE.length)
  for (let at = 0; at < length; at += 1) if (beginning[at] !== PREFACE[at]) return 1
  return length === PREFACE.length ? 2 : undefined
}

/**
 * Reads until the version is clear, then hands the socket over with what has been read. A client that leaves before that
 * is not reported.
 */
export function readVersion(socket: Socket, handOver: (version: HttpVersion) => void): void {
  /** Whoever sends much at once sends on until its turn comes. */
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
    // A stream that has just given data is about to ask for more, and would undo a pause that its new owner asks for.
    setImmediate(give)
  }
  const give = () => {
    if (socket.destroyed) return
    socket.off('data', onData)
    socket.off('end', leave)
    const beginning = Buffer.concat(pieces)
    if (version === 1) {
      handOver(1)
      socket.emit('data', beginning)
    } else {
      socket.pause()
      socket.unshift(beginning)
      handOver(2)
    }
  }
  socket.on('data', onData)
  socket.on('end', leave)
}
