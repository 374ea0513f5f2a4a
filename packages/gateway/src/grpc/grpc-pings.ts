import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { PingLimit } from '../http2/limits/ping-limit.ts'

const reason = Buffer.from('too_many_pings')

/**
 * Closes a connection that sends too many pings while it has no streams: GOAWAY ENHANCE_YOUR_CALM, then the socket.
 * Node has already answered a ping when it is reported, so this only prevents further ones.
 */
export function limitPings(session: ServerHttp2Session, monotonicMs: () => number): void {
  let streams = 0
  const limit = new PingLimit()
  const streamClosed = () => {
    streams -= 1
  }
  session.on('stream', (stream: ServerHttp2Stream) => {
    streams += 1
    limit.streamBegan()
    stream.once('close', streamClosed)
  })
  const check = (pingMs: number) => {
    if (!limit.isExceededAt(pingMs, streams > 0) || session.destroyed) return
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 0, reason)
    session.destroy()
  }
  session.on('ping', () => {
    // Node reports a stream that arrived before the ping only after the ping.
    process.nextTick(check, monotonicMs())
  })
}
