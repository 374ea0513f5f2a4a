import { describe, expect, onTestFinished, test } from 'vitest'
import { frame } from '../wire/grpc-wire.ts'
import { type Harness, raw, start } from './grpc-front.harness.ts'
import { END_STREAM, exportHeaders, FrameType, type RawClient } from './grpc-raw-client.harness.ts'

const PRIORITY = 2
const CONTINUATION = 9
const ENHANCE_YOUR_CALM = 11
const none = Buffer.alloc(0)

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Opens a stream with a request that does not end, so that the limits of connections without streams do not apply. */
async function openStream(): Promise<{ harness: Harness; client: RawClient }> {
  const harness = await start()
  const client = await raw(harness)
  onTestFinished(() => client.close())
  client.headers(1, exportHeaders)
  return { harness, client }
}

const sendMany = (client: RawClient, count: number, type: number, stream: number, payload: Uint8Array, flags = 0) => {
  for (let sent = 0; sent < count && !client.isEnded; sent += 1) client.send(type, flags, stream, payload)
}

/** Waits for the end of the connection, and returns the code of its GOAWAY, which is lost if the client still sends then. */
async function endingCode(client: RawClient): Promise<number> {
  await client.until(() => client.isEnded)
  return client.frames.find(({ type }) => type === FrameType.GOAWAY)?.payload.readUInt32BE(4) ?? ENHANCE_YOUR_CALM
}

async function canExport({ harness, client }: { harness: Harness; client: RawClient }): Promise<void> {
  client.data(1, frame(Buffer.from('body'), false), true)
  await client.until(() => client.of(1).length > 0 || client.isEnded)
  expect(client.isEnded).toBe(false)
  await client.until(() => client.of(1).some(({ flags }) => (flags & END_STREAM) !== 0))
  expect(harness.ingest.bodies.map(String)).toEqual(['body'])
}

const floods: [name: string, type: number, stream: number, payload: Uint8Array][] = [
  ['SETTINGS', FrameType.SETTINGS, 0, none],
  ['SETTINGS that change the window', FrameType.SETTINGS, 0, Buffer.from('000400010000', 'hex')],
  ['PRIORITY', PRIORITY, 1, Buffer.from('0000000010', 'hex')],
  ['PRIORITY for streams that never begin', PRIORITY, 201, Buffer.from('0000000010', 'hex')],
  ['WINDOW_UPDATE of the connection', FrameType.WINDOW_UPDATE, 0, uint32(1)],
  ['WINDOW_UPDATE of a stream', FrameType.WINDOW_UPDATE, 1, uint32(1)],
  ['empty DATA', FrameType.DATA, 1, none],
  ['PING', FrameType.PING, 0, Buffer.alloc(8)],
  ['a frame of an unknown type', 0xee, 0, none],
]

describe('P-26: a client may send 10,000 frames that transfer nothing of a request, and then 330 a second', () => {
  test.each(floods)('a flood of %s ends the connection', async (_, type, stream, payload) => {
    const { client } = await openStream()
    sendMany(client, 15_000, type, stream, payload)
    expect(await endingCode(client)).toBe(ENHANCE_YOUR_CALM)
  })

  test.each(floods)('9,000 frames of %s are accepted', async (_, type, stream, payload) => {
    const opened = await openStream()
    sendMany(opened.client, 9_000, type, stream, payload)
    await canExport(opened)
  })

  test('each answer allows three more', async () => {
    const harness = await start()
    const client = await raw(harness)
    onTestFinished(() => client.close())
    for (let call = 0; call < 6_000; call += 1) {
      const id = 2 * call + 1
      client.headers(id, exportHeaders)
      client.data(id, frame(none, false), true)
      client.send(FrameType.WINDOW_UPDATE, 0, 0, uint32(1))
      client.send(FrameType.PING, 0, 0, Buffer.alloc(8))
      if (call % 50 === 49) await client.until(() => client.isEnded || client.of(id).length > 1)
    }
    expect(client.isEnded).toBe(false)
    expect(harness.ingest.bodies).toHaveLength(6_000)
  })
})

test('P-26: SETTINGS with more than 32 values end the connection', async () => {
  const value = Buffer.from('000400010000', 'hex')
  const accepted = await openStream()
  accepted.client.send(FrameType.SETTINGS, 0, 0, Buffer.concat(new Array(32).fill(value)))
  await canExport(accepted)
  const { client } = await openStream()
  client.send(FrameType.SETTINGS, 0, 0, Buffer.concat(new Array(33).fill(value)))
  expect(await endingCode(client)).toBe(ENHANCE_YOUR_CALM)
})

test('P-26: a flood of RST_STREAM ends the connection', async () => {
  const { client } = await openStream()
  for (let id = 3; id < 5_000 && !client.isEnded; id += 2) {
    client.headers(id, exportHeaders)
    client.send(FrameType.RST_STREAM, 0, id, uint32(8))
  }
  expect(await endingCode(client)).toBe(ENHANCE_YOUR_CALM)
})

test('P-26: a flood of requests that the gateway resets ends the connection', async () => {
  const { client } = await openStream()
  for (let id = 3; id < 5_000 && !client.isEnded; id += 2) client.headers(id, { ':method': 'POST' }, true)
  expect(await endingCode(client)).toBe(ENHANCE_YOUR_CALM)
})

test('P-26: a flood of RST_STREAM for a stream that has ended ends the connection', async () => {
  const opened = await openStream()
  await canExport(opened)
  sendMany(opened.client, 15_000, FrameType.RST_STREAM, 1, uint32(8))
  expect(await endingCode(opened.client)).toBe(ENHANCE_YOUR_CALM)
})

test('P-26: a flood of CONTINUATION ends the connection', async () => {
  const client = await raw(await start())
  client.send(FrameType.HEADERS, 0, 1, none)
  sendMany(client, 100, CONTINUATION, 1, none)
  expect(await endingCode(client)).toBe(ENHANCE_YOUR_CALM)
})
