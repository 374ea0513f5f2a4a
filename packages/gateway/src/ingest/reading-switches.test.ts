import { describe, expect, test, vi } from 'vitest'
import { start as startGrpc } from '../grpc/grpc-front.harness.ts'
import { GrpcFront } from '../grpc/grpc-front.ts'
import { FastExchange } from '../http1/fast-exchange.ts'
import { SharedReadBuffer } from '../node-internals/shared-read-buffer.ts'
import { head, open, post, start } from './http-front.harness.ts'

const names = ['http1FastPath', 'http2Reader', 'sharedReadBuffer'] as const
const combinations = Array.from({ length: 8 }, (_, bits) =>
  Object.fromEntries(names.map((name, index) => [name, (bits & (1 << index)) !== 0])),
)

describe.each(combinations)('%j', (settings) => {
  test('requests are read by the selected parts', async () => {
    const fast = vi.spyOn(FastExchange, 'take')
    const shared = vi.spyOn(SharedReadBuffer.prototype, 'adopt')
    await start({ settings })
    const client = await open()
    expect(await client.send(post('body')).reply()).toMatchObject({ status: 200 })
    expect(await client.send(head({}, '/other', 'GET')).reply()).toMatchObject({ status: 404 })
    expect(fast).toHaveBeenCalledTimes(settings.http1FastPath ? 1 : 0)
    expect(shared).toHaveBeenCalledTimes(settings.sharedReadBuffer ? 1 : 0)
    vi.restoreAllMocks()
  })

  test('calls of gRPC are read by the selected parts', async () => {
    const nodeSessions = vi.spyOn(GrpcFront.prototype, 'onSession')
    const { client, ingest } = await startGrpc({ settings })
    expect(await client.unary(Buffer.from('body'))).toMatchObject({ code: 0 })
    expect(await client.unary(Buffer.alloc(300_000, 'x'))).toMatchObject({ code: 0 })
    expect(ingest.bodies.map(({ length }) => length)).toEqual([4, 300_000])
    expect(nodeSessions).toHaveBeenCalledTimes(settings.http2Reader ? 0 : 1)
    vi.restoreAllMocks()
  })
})

test('gateway.fastPath turns off all of them', async () => {
  const fast = vi.spyOn(FastExchange, 'take')
  const shared = vi.spyOn(SharedReadBuffer.prototype, 'adopt')
  await start({ settings: { fastPath: false } })
  expect(await (await open()).send(post('body')).reply()).toMatchObject({ status: 200 })
  expect([fast.mock.calls, shared.mock.calls]).toEqual([[], []])
  vi.restoreAllMocks()
})
