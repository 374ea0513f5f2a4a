import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '@penstock/runtime'
import { expect, test } from 'vitest'
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
