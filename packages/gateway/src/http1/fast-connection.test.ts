import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { Gate } from '@penstock/testkit'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { accepted, front, head, json, open, post, type RawReply, start } from '../ingest/http-front.harness.ts'
import { FastExchange } from './fast-exchange.ts'

/** Delays all answers until the returned gate is opened. */
const delayAnswers = (): Gate => {
  const answered = new Gate()
  front.ingest.answer = async () => {
    await answered.opened
    return accepted
  }
  return answered
}

/** Returns an array that gets an element for each request that begins on the fast path. */
function recordFastRequests() {
  const spy = vi.spyOn(FastExchange, 'take')
  onTestFinished(() => spy.mockRestore())
  return spy.mock.calls
}

describe('the fast path', () => {
  test('reads the requests of exporters until another request arrives on the connection', async () => {
    await start()
    const fast = recordFastRequests()
    const client = await open()
    for (const body of ['a', 'b']) await client.send(post(body)).reply()
    expect(fast.length).toBe(2)
    await client.send(head({}, '/v1/traces', 'GET')).reply()
    await client.send(post('c')).reply()
    expect(fast.length).toBe(2)
    expect(front.ingest.sent.map(({ body }) => body.toString())).toEqual(['a', 'b', 'c'])
  })

  test('is not used if it is switched off', async () => {
    await start({ settings: { fastPath: false } })
    const fast = recordFastRequests()
    const client = await open()
    expect(await client.send(post('a')).reply()).toMatchObject({ status: 200 })
    expect(fast.length).toBe(0)
  })

  test.each<[string, Buffer]>([
    ['a success', post('abc')],
    ['a success in JSON', post('{}', json)],
    ['a refusal', post('abc', { authorization: 'Bearer bad' })],
    ['a wrong media type', post('abc', { 'content-type': 'text/plain' })],
    ['a last request', post('abc', { connection: 'close' })],
    ['a last request that is refused', post('abc', { connection: 'close', authorization: '' })],
  ])('answers %s as node:http does', async (_, bytes) => {
    const replyTo = async (fastPath: boolean): Promise<RawReply> => {
      await start({ settings: { fastPath }, config: { allowedOrigins: ['*'] } })
      const reply = await (await open()).send(bytes).reply()
      expect(Date.parse(reply.headers.date!)).toBeGreaterThan(0)
      return { ...reply, headers: { ...reply.headers, date: '' } }
    }
    expect(await replyTo(true)).toEqual(await replyTo(false))
  })

  test('leaves a request that arrives before an answer to node:http, after that answer', async () => {
    await start()
    const answered = delayAnswers()
    const fast = recordFastRequests()
    const client = await open()
    client.send(post('first'))
    await front.ingest.untilSent(1)
    client.send(post('second')).send(post('third', json))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(front.ingest.sent.length).toBe(1)
    answered.open()
    for (const type of ['application/x-protobuf', 'application/x-protobuf', 'application/json']) {
      expect(await client.reply()).toMatchObject({ status: 200, headers: { 'content-type': type } })
    }
    expect(front.ingest.sent.map(({ body }) => body.toString())).toEqual(['first', 'second', 'third'])
    expect(fast.length).toBe(1)
  })

  test('ignores bytes after a request with Connection: close', async () => {
    await start()
    const client = await open()
    client.send(post('a', { connection: 'close' }).subarray(0, -1))
    await front.ingest.untilAdmissionRequested()
    client.send(Buffer.concat([Buffer.from('a'), post('b')]))
    expect(await client.reply()).toMatchObject({ status: 200, headers: { connection: 'close' } })
    await client.closed
    expect(front.ingest.sent.map(({ body }) => body.toString())).toEqual(['a'])
  })

  test('stops reading from a client that does not read its answers', async () => {
    await start()
    front.ingest.answer = () => ({
      kind: 'accepted',
      partialSuccess: { rejected: 1n, message: 'x' },
      body: { encoding: 'protobuf', bytes: Buffer.alloc(64 * 1024) },
    })
    const client = await open()
    client.socket.pause()
    const request = post('abc')
    let sent = 0
    // Each request is sent after the previous one has been forwarded, so that none goes to node:http.
    for (; sent < 1_000; sent += 1) {
      client.send(request)
      const isAnswered = await Promise.race([
        front.ingest.untilSent(sent + 1).then(() => true),
        new Promise((resolve) => setTimeout(() => resolve(false), 200)),
      ])
      if (isAnswered !== true) break
    }
    expect(sent).toBeLessThan(1_000)
    client.socket.resume()
    await front.ingest.untilSent(sent + 1)
  })

  test('X-5: aborts a request if its client closes its side before the answer, as node:http does', async () => {
    const aborted = async (fastPath: boolean): Promise<number> => {
      await start({ settings: { fastPath } })
      delayAnswers()
      const client = await open()
      client.send(post('abc'))
      await front.ingest.untilSent(1)
      client.socket.end()
      await client.closed
      await vi.waitUntil(() => front.state.clientsAborted > 0)
      return front.state.clientsAborted
    }
    expect([await aborted(true), await aborted(false)]).toEqual([1, 1])
  })
})

test('a socket that was read and paused gives its unread bytes to its next owner', async () => {
  // The fast path relies on this when it passes a connection to node:http.
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const client = connect(port, '127.0.0.1')
  onTestFinished(() => void client.destroy())
  const [socket] = (await once(server, 'connection')) as [Socket]
  client.write('one')
  await once(socket, 'data')
  socket.pause()
  client.write('two')
  await vi.waitUntil(() => socket.readableLength > 0)
  expect((socket.read() as Buffer).toString()).toBe('two')
})
