import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { Gate } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { CountingSink } from './counting-sink.ts'
import { EXPORT_TRACES, grpcStatusOf, openGrpcCall, WATCH_HEALTH } from './grpc-call.ts'
import { idOf, numberedBody } from './numbered-body.ts'
import { ProcessGateway } from './process-gateway.ts'

const protobuf = { 'content-type': 'application/x-protobuf' }

function post(gateway: ProcessGateway, id: string, { token, agent }: { token?: string; agent?: Agent } = {}) {
  const headers = { ...protobuf, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  const sent = request(`${gateway.otlpUrl}/v1/traces`, { method: 'POST', headers, agent: agent ?? false })
  sent.end(numberedBody(id))
  return once(sent, 'response').then(([response]) => {
    const { statusCode, headers } = (response as IncomingMessage).resume()
    return { status: statusCode, connection: headers.connection }
  })
}

function isRefused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'))
  })
}

test('X-15, X-14: during the drain delay it is not ready, updates gRPC health, and still serves new connections', async () => {
  await using sink = await CountingSink.start()
  await using gateway = await ProcessGateway.start({ upstream: sink.url, env: { PENSTOCK_DRAIN_DELAY_MS: '5000' } })
  const session = connectHttp2(`http://127.0.0.1:${gateway.ports.grpc}`)
  session.on('error', () => {})
  const watch = openGrpcCall(session, WATCH_HEALTH, new Uint8Array())
  const healthStatuses: number[] = []
  watch.on('data', (frame: Buffer) => healthStatuses.push(frame[6]!))
  await expect.poll(() => healthStatuses).toEqual([1])
  expect(await gateway.page('/readyz')).toEqual({ status: 200, text: 'ready\n' })

  gateway.kill('SIGTERM')
  await expect.poll(() => healthStatuses).toEqual([1, 2])
  expect(await gateway.page('/readyz')).toEqual({ status: 503, text: 'not ready: draining\n' })
  expect((await gateway.page('/livez')).status).toBe(200)
  expect((await post(gateway, idOf(1))).status).toBe(200)
  expect(await gateway.exited()).toBe(0)
  session.destroy()
  const events = gateway.stderr.split('\n').filter((line) => line.includes('"drain.'))
  expect(events.map((line) => JSON.parse(line).event)).toEqual(['drain.started', 'drain.ended'])
})

test('X-15: requests in flight are answered: HTTP/1.1 with Connection: close, HTTP/2 after GOAWAY', async () => {
  await using sink = await CountingSink.start()
  await using gateway = await ProcessGateway.start({ upstream: sink.url })
  const upstream = new Gate()
  sink.hold = upstream.opened
  const agent = new Agent({ keepAlive: true })
  const http1 = post(gateway, idOf(1), { agent })
  const session = connectHttp2(gateway.otlpUrl)
  const goaway = once(session, 'goaway')
  const http2 = session.request({ ':method': 'POST', ':path': '/v1/traces', ...protobuf })
  const http2Answered = once(http2, 'response')
  http2.resume().end(numberedBody(idOf(2)))
  const grpc = grpcStatusOf(openGrpcCall(session, EXPORT_TRACES, numberedBody(idOf(3))))
  await Promise.all([1, 2, 3].map((number) => sink.arrived(idOf(number))))

  gateway.kill('SIGTERM')
  const [code] = await goaway
  expect(code).toBe(0)
  await expect.poll(() => isRefused(gateway.ports.http)).toBe(true)
  expect(await isRefused(gateway.ports.grpc)).toBe(true)
  upstream.open()
  expect(await http1).toEqual({ status: 200, connection: 'close' })
  expect((await http2Answered)[0][':status']).toBe(200)
  expect(await grpc).toBe(0)
  expect(await gateway.exited()).toBe(0)
  expect(sink.aborted).toBe(0)
  agent.destroy()
})

test('X-15, C-7: every request that was coalesced gets its answer', async () => {
  await using sink = await CountingSink.start()
  await using gateway = await ProcessGateway.start({ upstream: sink.url })
  const { token } = await gateway.token()
  const upstream = new Gate()
  sink.hold = upstream.opened
  const first = post(gateway, idOf(0), { token })
  await sink.arrived(idOf(0))
  const numbers = Array.from({ length: 40 }, (_, index) => index + 1)
  const others = numbers.map((number) => post(gateway, idOf(number), { token }))
  await Promise.all(numbers.map((number) => sink.arrived(idOf(number))))
  gateway.kill('SIGTERM')
  await expect.poll(() => isRefused(gateway.ports.http)).toBe(true)
  upstream.open()
  const answers = await Promise.all([first, ...others])
  expect(answers.map(({ status }) => status)).toEqual(Array(41).fill(200))
  expect(await gateway.exited()).toBe(0)
  expect(sink.arrivals.size).toBe(41)
  expect(sink.duplicates).toBe(0)
  expect(sink.requests).toBeLessThan(41)
})

test('X-15: an upstream that never answers delays the end by at most the drain timeout', async () => {
  await using sink = await CountingSink.start()
  await using gateway = await ProcessGateway.start({ upstream: sink.url, env: { PENSTOCK_DRAIN_TIMEOUT_MS: '500' } })
  const { token } = await gateway.token()
  const never = new Gate()
  sink.hold = never.opened
  const silent = [post(gateway, idOf(1)), post(gateway, idOf(2), { token })].map((each) =>
    each.then(({ status }) => status).catch((error: NodeJS.ErrnoException) => error.code),
  )
  await Promise.all([1, 2].map((number) => sink.arrived(idOf(number))))
  expect(await gateway.stop()).toBe(0)
  // The connection is closed, which clients treat as a network error and retry. The answer is never a final refusal, and
  // never 504, for which the gateway would have waited as long as the upstream may take.
  for (const outcome of await Promise.all(silent)) expect(['ECONNRESET', 502, 503]).toContain(outcome)
  never.open()
})

test('SIGINT skips the drain delay, and a second signal ends the process immediately', async () => {
  await using sink = await CountingSink.start()
  const env = { PENSTOCK_DRAIN_DELAY_MS: '600000', PENSTOCK_DRAIN_TIMEOUT_MS: '600000' }
  await using gateway = await ProcessGateway.start({ upstream: sink.url, env })
  expect(await gateway.stop('SIGINT')).toBe(0)

  await using stuck = await ProcessGateway.start({ upstream: sink.url, env })
  stuck.kill('SIGTERM')
  await expect.poll(async () => (await stuck.page('/readyz')).status).toBe(503)
  stuck.kill('SIGTERM')
  expect(await stuck.exited()).toBeNull()
})
