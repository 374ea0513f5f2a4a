import { Gate } from '@penstock/testkit'
import { describe, expect, test } from 'vitest'
import { FrameType, RawClient as Http2Client } from '../grpc/grpc-raw-client.harness.ts'
import { onBothPaths } from './both-paths.harness.ts'
import { ask, front, head, open, post, readAll, start } from './http-front.harness.ts'

onBothPaths(() => {
  describe('X-5: the client has gone', () => {
    test('aborts the call once and records no answer', async () => {
      await start()
      const client = await open()
      const answered = new Gate()
      const gone = new Gate()
      let times = 0
      front.ingest.answer = async (call) => {
        call.onClientGone = () => {
          times += 1
          gone.open()
        }
        await answered.opened
        return { kind: 'accepted', partialSuccess: undefined, body: undefined }
      }
      client.send(post('abc'))
      await front.ingest.untilSent(1)
      client.close()
      await gone.opened
      answered.open()
      await ask(post('abc'))
      expect({ times, aborted: front.state.clientsAborted, endings: front.endings.length }).toEqual({
        times: 1,
        aborted: 1,
        endings: 1,
      })
    })

    test('aborts the upstream request if the client goes away within a streamed body', async () => {
      await start()
      const client = await open()
      client.send(`${head({ 'transfer-encoding': 'chunked' })}3\r\nabc\r\n`)
      await front.ingest.untilAdmissionRequested()
      client.close()
      await front.ingest.untilSent(1)
      expect(front.ingest.sent[0]?.broken?.message).toBe('the client closed the connection')
      expect(front.ingest.reservedBytes).toBe(0)
    })

    test('releases the reservation if the client goes away within a buffered body', async () => {
      await start()
      const abandoned = new Gate()
      const { abandon } = front.ingest
      front.ingest.abandon = (call) => {
        abandon.call(front.ingest, call)
        abandoned.open()
      }
      const client = await open()
      client.send(`${head({ 'content-length': '500' })}abc`)
      await front.ingest.untilAdmissionRequested()
      expect(front.ingest.reservedBytes).toBe(3)
      client.close()
      await abandoned.opened
      expect(front.ingest.reservedBytes).toBe(0)
      expect(front.ingest.sent).toEqual([])
    })
  })

  describe('X-5, P-8: a request over HTTP/2 that ends within its body', () => {
    const headers = {
      ':method': 'POST',
      ':scheme': 'http',
      ':authority': 'gateway',
      ':path': '/v1/traces',
      'content-type': 'application/json',
      authorization: 'Bearer good',
    }
    const reset = (code: number) => (client: Http2Client) =>
      client.send(FrameType.RST_STREAM, 0, 1, Uint8Array.of(0, 0, 0, code))

    test.each([
      ['NO_ERROR', reset(0)],
      ['CANCEL', reset(8)],
      ['the connection closes', (client: Http2Client) => client.close()],
    ])('%s: cuts off a stream, and drops a buffered body', async (_, breakOff) => {
      await start()
      const arrived = new Gate()
      front.ingest.readStream = async (body) => {
        arrived.open()
        return readAll(body)
      }
      const streaming = await Http2Client.connect(front.port)
      streaming.headers(1, headers)
      streaming.data(1, Buffer.from('abc'))
      await arrived.opened
      breakOff(streaming)
      await front.ingest.untilSent(1)
      expect(front.ingest.sent[0]?.broken?.message).toBe('the client closed the connection')

      const abandoned = new Gate()
      const { abandon } = front.ingest
      front.ingest.abandon = (call) => {
        abandon.call(front.ingest, call)
        if (call.declaredBytes === 500) abandoned.open()
      }
      const holding = await Http2Client.connect(front.port)
      holding.headers(1, { ...headers, 'content-length': '500' })
      holding.data(1, Buffer.from('abc'))
      while (front.ingest.reservedBytes < 3) await new Promise((resolve) => setImmediate(resolve))
      breakOff(holding)
      await abandoned.opened
      expect([front.ingest.sent.length, front.ingest.reservedBytes, front.state.clientsAborted]).toEqual([1, 0, 2])
      expect(front.endings).toEqual([])
      streaming.close()
      holding.close()
    })
  })
})
