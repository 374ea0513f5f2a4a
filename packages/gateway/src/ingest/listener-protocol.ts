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

/** Reads until the version is clear, and puts back what it has read. A client that leaves before that is not reported. */
export function readVersion(socket: Socket, told: (version: HttpVersion) => void): void {
  let beginning: Buffer | undefined
  const leave = () => {
    socket.destroy()
  }
  const onData = (piece: Buffer) => {
    beginning = beginning === undefined ? piece : Buffer.concat([beginning, piece])
    const version = versionOf(beginning)
    if (version === undefined) return
    socket.off('data', onData)
    socket.off('end', leave)
    socket.pause()
    socket.unshift(beginning)
    told(version)
    // An HTTP/1 parser waits for the socket to flow; HTTP/2 takes over what lies beneath it.
    if (version === 1) socket.resume()
  }
  socket.on('data', onData)
  socket.on('end', leave)
}
