import { Gate, ManualClock } from '@penstock/testkit'
import { describe, expect, test } from 'vitest'
import { onBothPaths } from '../ingest/both-paths.harness.ts'
import { frame } from '../wire/grpc-wire.ts'
import { accepted, raw, start } from './grpc-front.harness.ts'
import { exportHeaders, FrameType } from './grpc-raw-client.harness.ts'

onBothPaths(() => {
  describe('X-5, X-6: clients that go away or are too slow', () => {
    test('cancels the upstream request when the client has gone', async () => {
      const harness = await start()
      const { ingest } = harness
      const gate = new Gate()
      let gone = 0
      ingest.answer = async (call) => {
        call.onClientGone = () => {
          gone += 1
        }
        await gate.opened
        return accepted
      }
      const client = await raw(harness)
      client.headers(1, exportHeaders)
      client.data(1, frame(Buffer.from('a'), false), true)
      await ingest.until(() => ingest.bodies.length === 1)
      client.close()
      await ingest.until(() => harness.aborted.count === 1)
      gate.open()
      await ingest.until(() => ingest.reservedBytes === 0)
      expect([gone, harness.endings]).toEqual([1, []])
    })

    test.each([true, false])(
      'ends the call when the client goes away within a message (buffered: %s)',
      async (buffersBodies) => {
        const harness = await start()
        const { ingest } = harness
        ingest.buffersBodies = buffersBodies
        const client = await raw(harness)
        client.headers(1, exportHeaders)
        client.data(1, frame(Buffer.alloc(100), false).subarray(0, 50))
        await harness.ingest.until(() => true)
        if (!buffersBodies) await ingest.until(() => ingest.calls.length === 1)
        client.send(FrameType.RST_STREAM, 0, 1, Uint8Array.of(0, 0, 0, 8))
        await ingest.until(() => harness.aborted.count === 1)
        if (!buffersBodies) await ingest.until(() => ingest.problems.length === 1)
        expect([ingest.bodies, ingest.reservedBytes, harness.endings]).toEqual([[], 0, []])
      },
    )

    test.each([
      ['ends the call if no data arrives for 15 s', {}, 15_000, 14],
      ['ends the call at the client’s deadline', { 'grpc-timeout': '2S' }, 2_000, 4],
    ])('%s', async (_, headers, waitMs, code) => {
      const clock = new ManualClock(1_000_000)
      const harness = await start({ clock })
      const client = await raw(harness)
      client.headers(1, { ...exportHeaders, ...headers })
      await clock.untilSleeping()
      await clock.advance(waitMs - 1_000)
      expect(harness.endings).toEqual([])
      await clock.advance(1_000)
      await client.until(() => client.of(1).length === 2)
      expect(harness.endings).toMatchObject([{ status: code }])
    })
  })

  describe('P-26: connections', () => {
    test('advertises 100 concurrent streams', async () => {
      const client = await raw(await start())
      await client.until(() => client.frames.length > 0)
      const { payload } = client.frames.find(({ type, flags }) => type === FrameType.SETTINGS && flags === 0)!
      const settings = Array.from({ length: payload.length / 6 }, (_, i) => [
        payload.readUInt16BE(i * 6),
        payload.readUInt32BE(i * 6 + 2),
      ])
      expect(settings).toContainEqual([3, 100])
    })

    test('answers pings, but closes a connection that sends too many without streams', async () => {
      const client = await raw(await start())
      const answered = () => client.frames.filter(({ type, flags }) => type === FrameType.PING && flags === 1)
      for (let i = 0; i < 3; i++) {
        client.send(FrameType.PING, 0, 0, Buffer.alloc(8, i))
        await client.until(() => answered().length === i + 1)
      }
      client.send(FrameType.PING, 0, 0, Buffer.alloc(8, 3))
      await client.until(() => client.isEnded)
      const goaway = client.frames.find(({ type }) => type === FrameType.GOAWAY)
      expect(goaway!.payload.readUInt32BE(4)).toBe(11)
      expect(goaway!.payload.subarray(8).toString()).toBe('too_many_pings')
    })

    test('does not limit pings while a stream is open', async () => {
      const harness = await start()
      const client = await raw(harness)
      client.headers(1, exportHeaders)
      for (let i = 0; i < 20; i++) client.send(FrameType.PING, 0, 0, Buffer.alloc(8, i))
      await client.until(() => client.frames.filter(({ type }) => type === FrameType.PING).length === 20)
      client.data(1, frame(Buffer.alloc(0), false), true)
      await client.until(() => client.of(1).length > 0)
      expect(client.isEnded).toBe(false)
    })
  })
})
