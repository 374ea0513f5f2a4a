import { expect, test } from 'vitest'
import { itemsOf, startSink } from './accepting-sink.ts'
import { exportOnce } from './export-client.ts'
import { startGateway } from './running-gateway.ts'

test('X-6, P-23: a silent upstream times out after 30 s over HTTP, and at the client’s deadline over gRPC', async () => {
  const sink = await startSink(() => ({ play: 'silence' }))
  const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url })
  const { token } = await gateway.token()
  const replies = await Promise.all([
    exportOnce(gateway.otlpPort, 'HTTP protobuf', { token }),
    exportOnce(gateway.otlpPort, 'HTTP protobuf'),
    exportOnce(gateway.otlpPort, 'HTTP JSON', { token }),
    exportOnce(gateway.otlpPort, 'gRPC', { token, headers: { 'grpc-timeout': '500m' } }),
  ])
  expect(replies.map(({ code, statusCode, message }) => [code, statusCode, message])).toEqual([
    [504, 4, 'the upstream did not answer in time'],
    [504, 4, 'the upstream did not answer in time'],
    [504, 4, 'the upstream did not answer in time'],
    [4, undefined, expect.any(String)],
  ])
})

test('X-5: when a client disconnects, its upstream request is aborted', async () => {
  const sink = await startSink(() => ({ play: 'silence' }))
  const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url })
  const { token } = await gateway.token()
  const gone = exportOnce(gateway.otlpPort, 'gRPC', { token, items: ['left'], deadlineMs: 300 })
  await sink.received(1)
  expect((await gone).code).toBe(4)
  await sink.requests[0]!.over
  expect(sink.requests.flatMap(itemsOf)).toEqual(['left'])
})
