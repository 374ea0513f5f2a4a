import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { decodeRpcStatus } from '@penstock/otlp'
import { type Clock, systemClock } from '@penstock/runtime'
import { describe, expect, onTestFinished, test } from 'vitest'
import { CountingSink } from './counting-sink.ts'
import { EXPORT_TRACES, grpcFrame } from './grpc-call.ts'
import { metricLines } from './metrics-page.ts'
import { startGateway } from './running-gateway.ts'
import { until } from './until.ts'

const KiB = 1024
const MiB = 1024 * KiB
const SENDERS = 100
/** Time limits do not pass, so that what is refused depends on progress alone. */
const stillClock: Clock = { ...systemClock, monotonicMs: () => 0 }

interface SentBody {
  /** Sends some more of the body, or its rest. */
  send(bytes?: number): void
  readonly answer: Promise<{ readonly isAccepted: boolean; readonly code: number; readonly retryAfter: number }>
}
type Sender = (port: number, bytes: number, token: string | undefined) => SentBody

const credential = (token: string | undefined) => (token === undefined ? {} : { authorization: `Bearer ${token}` })

/** Sends over a connection of HTTP/1.1 of its own. */
const overHttp1: Sender = (port, bytes, token) => {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.on('error', () => {})
  onTestFinished(() => {
    socket.destroy()
  })
  const lines = Object.entries({
    host: 'gateway',
    'content-type': 'application/x-protobuf',
    'content-length': String(bytes),
    ...credential(token),
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST /v1/traces HTTP/1.1\r\n${lines.join('')}\r\n`)
  let left = bytes
  return {
    send(part = left) {
      left -= part
      socket.write(Buffer.alloc(part))
    },
    answer: once(socket, 'data').then(([reply]) => {
      const code = Number(String(reply).split(' ')[1])
      return { isAccepted: code === 200, code, retryAfter: Number(/retry-after: (\d+)/i.exec(String(reply))?.[1]) }
    }),
  }
}

/** Sends over streams of two connections. The second one is for the senders after the first `SENDERS`. */
function overHttp2(isGrpc: boolean): Sender {
  const sessions = new Map<number, ClientHttp2Session[]>()
  let streams = 0
  return (port, bytes, token) => {
    const open = sessions.get(port) ?? [0, 1].map(() => connectHttp2(`http://127.0.0.1:${port}`))
    if (!sessions.has(port)) {
      sessions.set(port, open)
      streams = 0
      onTestFinished(() => {
        for (const session of open) session.destroy()
      })
    }
    const session = open[streams < SENDERS ? 0 : 1]!
    streams += 1
    const headers: OutgoingHttpHeaders = isGrpc
      ? { ':path': EXPORT_TRACES, 'content-type': 'application/grpc', te: 'trailers' }
      : { ':path': '/v1/traces', 'content-type': 'application/x-protobuf', 'content-length': String(bytes) }
    const stream = session.request({ ':method': 'POST', ...headers, ...credential(token) })
    stream.on('error', () => {})
    if (isGrpc) stream.write(grpcFrame(Buffer.alloc(bytes)).subarray(0, 5))
    let left = bytes
    const read = async () => {
      const [reply] = await once(stream, 'response')
      if (!isGrpc) {
        const code = Number(reply[':status'])
        return { isAccepted: code === 200, code, retryAfter: Number(reply['retry-after']) }
      }
      const trailers = reply['grpc-status'] === undefined ? once(stream, 'trailers') : [reply]
      void text(stream)
      const [last] = await trailers
      const code = Number(last['grpc-status'])
      const details = last['grpc-status-details-bin']
      const { retryDelayMs } =
        details === undefined
          ? { retryDelayMs: undefined }
          : decodeRpcStatus(Buffer.from(details as string, 'base64'), 'protobuf')
      return { isAccepted: code === 0, code, retryAfter: (retryDelayMs ?? Number.NaN) / 1_000 }
    }
    return {
      send(part = left) {
        left -= part
        if (left === 0) stream.end(Buffer.alloc(part))
        else stream.write(Buffer.alloc(part))
      },
      answer: read(),
    }
  }
}

const paths: readonly (readonly [string, 'true' | 'false', () => Sender, number])[] = [
  ['HTTP/1.1 on the fast path', 'true', () => overHttp1, 503],
  ['HTTP/1.1 through node:http', 'false', () => overHttp1, 503],
  ['HTTP/2', 'true', () => overHttp2(false), 503],
  ['gRPC', 'true', () => overHttp2(true), 14],
  ['gRPC through node:http2', 'false', () => overHttp2(true), 14],
]

describe.each(paths)('X-3: %s', (_, fastPath, newSender, refused) => {
  describe.each([
    ['without a token', false],
    ['with one token', true],
  ])('%s', (_name, hasToken) => {
    test('announced bytes keep no other sender waiting, and of half-sent bodies the oldest can finish', async () => {
      const sink = await CountingSink.start()
      onTestFinished(() => sink[Symbol.asyncDispose]())
      const gateway = await startGateway(
        {
          PENSTOCK_UPSTREAM: sink.url,
          PENSTOCK_IN_FLIGHT_BYTES: String(MiB),
          PENSTOCK_COALESCE: 'false',
          PENSTOCK_FAST_PATH: fastPath,
        },
        { clock: stillClock },
      )
      const token = hasToken ? (await gateway.token()).token : undefined
      const inFlight = async () => {
        const lines = await metricLines(gateway, 'otelcol_receiver_in_flight_bytes')
        return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
      }
      const sendAll = (bytes: number, sentBytes: number) => {
        const sender = newSender()
        const bodies = Array.from({ length: SENDERS }, () => sender(gateway.otlpPort, bytes, token))
        for (const body of bodies) body.send(sentBytes)
        return { bodies, next: () => sender(gateway.otlpPort, 2 * KiB, token) }
      }

      const announced = sendAll(MiB, 1)
      await until('bytes are in flight', async () => (await inFlight()) > 0)
      const small = announced.next()
      small.send()
      expect(await small.answer).toMatchObject({ isAccepted: true })

      const { bodies, next } = sendAll(64 * KiB, 32 * KiB)
      const fitting = (hasToken ? MiB / 4 : MiB) / (32 * KiB)
      const ends: { code: number; retryAfter: number }[] = []
      for (const { answer } of bodies) void answer.then((end) => ends.push(end))
      await until('the others are refused', () => ends.length >= SENDERS - fitting)
      expect(ends.filter(({ code, retryAfter }) => code !== refused || !(retryAfter >= 1))).toEqual([])

      const another = next()
      another.send()
      expect(await another.answer).toMatchObject({ isAccepted: true })
      bodies[0]!.send()
      expect(await bodies[0]!.answer).toMatchObject({ isAccepted: true })
      expect(await inFlight()).toBeLessThanOrEqual(MiB)
    })
  })
})
