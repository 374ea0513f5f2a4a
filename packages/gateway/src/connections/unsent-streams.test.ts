import { EventEmitter, once } from 'node:events'
import { connect, createServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { UNSENT_MS } from './discard-limits.ts'
import { UnsentStreams } from './unsent-streams.ts'

/** A stream of which the client accepts nothing. */
function streamWith(writableLength: number, writableEnded = true) {
  const stream = Object.assign(new EventEmitter(), {
    writableLength,
    writableEnded,
    isClosed: false,
    close() {
      stream.isClosed = true
      stream.emit('close')
    },
  })
  return stream
}

test('X-6: resets the newest streams beyond the limit of bytes', () => {
  const streams = [400, 500, 200, 50].map((bytes) => streamWith(bytes))
  const unsent = new UnsentStreams(1_000)
  for (const stream of streams) unsent.add(stream)
  unsent.sweep(0)
  expect(streams.map(({ isClosed }) => isClosed)).toEqual([false, false, true, false])
})

test('X-6: resets a stream with a complete answer that waits for too long, and no other', () => {
  const [waiting, incomplete, sent] = [streamWith(5), streamWith(5, false), streamWith(5)]
  const unsent = new UnsentStreams()
  for (const stream of [waiting, incomplete, sent]) unsent.add(stream)
  unsent.sweep(1_000)
  sent.emit('close')
  unsent.sweep(1_000 + UNSENT_MS - 1)
  expect([waiting.isClosed, incomplete.isClosed]).toEqual([false, false])
  unsent.sweep(1_000 + UNSENT_MS)
  expect([waiting.isClosed, incomplete.isClosed, sent.isClosed]).toEqual([true, false, false])
})

test('X-6: node:http2 counts the bytes of an answer for which its client grants no window', async () => {
  const unsent = new UnsentStreams(150_000)
  const server = createServer()
  const answered = new Promise<readonly ServerHttp2Stream[]>((resolve) => {
    const streams: ServerHttp2Stream[] = []
    server.on('stream', (stream) => {
      unsent.add(stream)
      stream.on('error', () => {})
      stream.respond({ ':status': 200 })
      stream.end(Buffer.alloc(100_000))
      if (streams.push(stream) === 2) setImmediate(resolve, streams)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.close()
  })
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    settings: { initialWindowSize: 0 },
  })
  onTestFinished(() => client.destroy())
  const requests = [client.request({ ':path': '/' }), client.request({ ':path': '/' })]
  for (const request of requests) request.on('error', () => {})
  const [first, second] = await answered
  unsent.sweep(0)
  expect([first!.closed, second!.closed]).toEqual([false, true])
})
