import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'

/** The shortest allowed time between pings on a connection without streams (P-26). */
const MIN_INTERVAL_MS = 10_000
/** The number of early pings that are tolerated, as in gRPC's own servers. */
const MAX_STRIKES = 2

const reason = Buffer.from('too_many_pings')

/**
 * Closes a connection that sends too many pings while it has no streams: GOAWAY ENHANCE_YOUR_CALM, then the socket.
 * Node has already answered a ping when it is reported, so this only prevents further ones.
 */
export function limitPings(session: ServerHttp2Session, nowMs: () => number): void {
  let streams = 0
  let strikes = 0
  let lastPingMs = Number.NEGATIVE_INFINITY
  const streamClosed = () => {
    streams -= 1
  }
  session.on('stream', (stream: ServerHttp2Stream) => {
    streams += 1
    strikes = 0
    stream.once('close', streamClosed)
  })
  const checkInterval = (sinceMs: number) => {
    if (streams > 0 || sinceMs >= MIN_INTERVAL_MS) return
    strikes += 1
    if (strikes <= MAX_STRIKES || session.destroyed) return
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 0, reason)
    session.destroy()
  }
  session.on('ping', () => {
    const pingMs = nowMs()
    // Node reports a stream that arrived before the ping only after the ping.
    process.nextTick(checkInterval, pingMs - lastPingMs)
    lastPingMs = pingMs
  })
}
