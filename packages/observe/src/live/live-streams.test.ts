import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { listen, type Route, serveRoutes, unguarded } from '@penstock/http'
import { silentLog, systemClock } from '@penstock/runtime'
import { ManualClock } from '@penstock/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { LiveStreams } from './live-streams.ts'

const text = new Uint8Array(1024 * 1024)

test('reads nothing from the store while a client takes nothing', async () => {
  const streams = new LiveStreams(systemClock, { pauseMs: 0 })
  let reads = 0
  const source = {
    async read() {
      reads += 1
      return { text, position: String(reads), hasMore: true }
    },
    readmit: async () => {},
  }
  const stream = streams.open('key', source, '0')
  stream.read(0)
  await delay(50)
  expect(reads).toBe(1)
  let taken = 0
  while (taken < 3 * text.length) taken += (stream.read()?.length ?? 0) + Number(await delay(1, 0))
  expect(reads).toBeLessThan(6)
  stream.destroy()
  await delay(5)
  expect(streams.size).toBe(0)
})

test('ends if the store cannot answer, so that the client resumes', async () => {
  const streams = new LiveStreams(systemClock)
  const source = { read: () => Promise.reject(new Error('unavailable')), readmit: async () => {} }
  const parts: string[] = []
  for await (const part of streams.open('key', source, '7')) parts.push(String(part))
  expect(parts.join('')).toBe('retry: 3000\n\n')
  expect(streams.size).toBe(0)
})

test('asks the store only when something has arrived, or at a heartbeat', async () => {
  const streams = new LiveStreams(systemClock, { heartbeatMs: 60_000, pauseMs: 0 })
  let reads = 0
  const source = {
    async read() {
      reads += 1
      return { text: new Uint8Array(), position: '1', hasMore: false }
    },
    readmit: async () => {},
  }
  const stream = streams.open('key', source, '1')
  stream.resume()
  await delay(20)
  expect(reads).toBe(1)
  streams.notify()
  await delay(20)
  expect(reads).toBe(2)
  streams.close()
  await delay(20)
  expect(stream.closed).toBe(true)
})

/** Serves a stream to a client that stops reading, with batches of a size, and returns the server's end of the connection. */
async function serveToPausedClient(streams: LiveStreams, batchBytes: number, readmit: () => Promise<void>) {
  const served: Socket[] = []
  let reads = 0
  const read = async () => {
    reads += 1
    return { text: new Uint8Array(batchBytes), position: String(reads), hasMore: true }
  }
  const route: Route<undefined, undefined> = {
    method: 'GET',
    path: '/live',
    access: undefined,
    handle({ raw }) {
      served.push(raw.socket)
      return { status: 200, content: streams.open('key', { read, readmit }, '0'), contentType: 'text/event-stream' }
    },
  }
  const renderError = () => ({ status: 500 })
  const listener = serveRoutes(unguarded([route]), { renderError, headers: {}, log: silentLog })
  const server = await listen(listener, { host: '127.0.0.1', port: 0 })
  const client = connect(server.port, '127.0.0.1').on('error', () => {})
  onTestFinished(async () => {
    client.destroy()
    await server.close()
  })
  client.pause()
  client.write('GET /live HTTP/1.1\r\nhost: x\r\n\r\n')
  let before = -1
  while (reads === 0 || before !== reads) {
    before = reads
    await delay(50)
  }
  return served[0]!
}

test.each([2 * 1024, text.length])(
  'ends the connection of a client that reads nothing, and frees its place, when its access ends (batches of %i bytes)',
  async (batchBytes) => {
    const clock = new ManualClock(0)
    const streams = new LiveStreams(clock, { pauseMs: 0, heartbeatMs: 5_000 })
    let isRevoked = false
    const socket = await serveToPausedClient(streams, batchBytes, async () => {
      if (isRevoked) throw new Error('revoked')
    })
    await clock.advance(5_000)
    await delay(10)
    expect([streams.size, socket.destroyed, socket.writableLength > 0]).toEqual([1, false, true])
    isRevoked = true
    await clock.advance(5_000)
    await expect.poll(() => [streams.size, socket.destroyed]).toEqual([0, true])
  },
)
