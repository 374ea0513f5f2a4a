import { ManualClock } from '@penstock/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { UNSENT_MS } from '../connections/discard-limits.ts'
import { raw, start as startGrpc } from '../grpc/grpc-front.harness.ts'
import { exportHeaders, FrameType, RawClient } from '../grpc/grpc-raw-client.harness.ts'
import { PREFIX_BYTES } from '../wire/grpc-wire.ts'
import { onBothPaths } from './both-paths.harness.ts'
import { front, start as startHttp } from './http-front.harness.ts'

/** SETTINGS with an initial window of 0, so that the client accepts no answer with a body. */
const noWindow = Buffer.from([0, 4, 0, 0, 0, 0])
const STREAMS = 20

async function overGrpc(): Promise<{ client: RawClient; clock: ManualClock; send: (stream: number) => void }> {
  const clock = new ManualClock(1_000_000)
  const client = await raw(await startGrpc({ clock, listenerClock: clock }))
  const send = (stream: number) => {
    client.headers(stream, exportHeaders)
    client.data(stream, Buffer.alloc(PREFIX_BYTES), true)
  }
  return { client, clock, send }
}

async function overHttp2(): ReturnType<typeof overGrpc> {
  await startHttp()
  const client = await RawClient.connect(front.port)
  onTestFinished(() => client.close())
  const head = { ':method': 'POST', ':scheme': 'http', ':authority': 'gateway', ':path': '/v1/nothing' }
  return { client, clock: front.clock, send: (stream) => client.headers(stream, head, true) }
}

onBothPaths(() => {
  test.each([
    ['gRPC', overGrpc],
    ['HTTP/2', overHttp2],
  ])('X-6: %s: streams are reset if the client does not accept their answers', async (_, connect) => {
    const { client, clock, send } = await connect()
    client.send(FrameType.SETTINGS, 0, 0, noWindow)
    for (let stream = 1; stream < 2 * STREAMS; stream += 2) send(stream)
    const countFrames = (type: number) =>
      client.frames.filter((frame) => frame.type === type && frame.stream > 0).length
    await client.until(() => countFrames(FrameType.HEADERS) === STREAMS)
    expect([countFrames(FrameType.DATA), countFrames(FrameType.RST_STREAM)]).toEqual([0, 0])
    await clock.advance(UNSENT_MS + 2_000)
    await client.until(() => countFrames(FrameType.RST_STREAM) === STREAMS)
  })
})
