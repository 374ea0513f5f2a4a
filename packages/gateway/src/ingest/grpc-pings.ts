import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'

/** Pings of a connection without streams may come this often (P-26). */
const MIN_INTERVAL_MS = 10_000
/** As in gRPC's own servers: a little too often happens to the best. */
const MAX_STRIKES = 2

const reason = Buffer.from('too_many_pings')

/**
 * Ends a connection that sends pings without having anything to keep alive: GOAWAY ENHANCE_YOUR_CALM, then the socket.
 * Node answers every ping by itself before anybody is asked, so what this saves is the next ones.
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
  const judge = (sinceMs: number) => {
    if (streams > 0 || sinceMs >= MIN_INTERVAL_MS) return
    strikes += 1
    if (strikes <= MAX_STRIKES || session.destroyed) return
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 0, reason)
    session.destroy()
  }
  session.on('ping', () => {
    const pingMs = nowMs()
    // A stream that came in before the ping is told of only after it.
    process.nextTick(judge, pingMs - lastPingMs)
    lastPingMs = pingMs
  })
}
