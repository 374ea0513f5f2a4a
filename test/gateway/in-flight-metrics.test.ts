import { connect } from 'node:http2'
import { Gate } from '@penstock/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { CountingSink } from './counting-sink.ts'
import { clientKinds, exportOnce, okCode } from './export-client.ts'
import { metricLines } from './metrics-page.ts'
import { numberedBody } from './numbered-body.ts'
import { startGateway } from './running-gateway.ts'
import { until } from './until.ts'

const bytesOf = (text: string | undefined): number => Number(text?.split(' ').at(-1))

test.each(clientKinds.filter((kind) => kind !== 'HTTP JSON'))(
  'O-10: %s: the bytes of a body count while it is in flight, and not afterwards',
  async (kind) => {
    await using sink = await CountingSink.start()
    const answered = new Gate()
    sink.hold = answered.opened
    const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url })
    const { token } = await gateway.token()
    const transport = kind === 'gRPC' ? 'grpc' : 'http'
    const line = async () =>
      (await metricLines(gateway, `otelcol_receiver_in_flight_bytes{transport="${transport}"}`)).at(0)
    expect(bytesOf(await line())).toBe(0)
    const body = numberedBody('n00000001')
    const exporting = exportOnce(gateway.otlpPort, kind, { token, body })
    await until('the request is upstream', () => sink.requests === 1)
    expect(bytesOf(await line())).toBe(body.length)
    answered.open()
    expect((await exporting).code).toBe(okCode[kind])
    expect(bytesOf(await line())).toBe(0)
  },
)

test('O-10, X-5: thousands of concurrently reset streams leave nothing in flight, and send nothing upstream', async () => {
  await using sink = await CountingSink.start()
  const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url })
  const { token } = await gateway.token()
  const paths = {
    'application/json': '/v1/traces',
    'application/grpc': '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  }
  for (const [type, path] of Object.entries(paths)) {
    const session = connect(gateway.otlpUrl)
    // Above a certain rate the gateway closes the connection, which is intended.
    session.on('error', () => {})
    onTestFinished(() => session.destroy())
    for (let count = 0; count < 2_000 && !session.destroyed; count += 1) {
      const stream = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': type,
        authorization: `Bearer ${token}`,
        'content-length': '100',
      })
      stream.on('error', () => {})
      stream.destroy()
      if (count % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    session.destroy()
  }
  await until('nothing is in flight', async () => {
    const inFlight = await metricLines(gateway, 'otelcol_receiver_in_flight_bytes')
    return inFlight.map(bytesOf).join() === '0,0'
  })
  expect(sink.requests).toBe(0)
  expect((await exportOnce(gateway.otlpPort, 'gRPC', { token, body: numberedBody('n00000002') })).code).toBe(0)
})
