import { once } from 'node:events'
import { Agent, type RequestListener, request } from 'node:http'
import { connect } from 'node:net'
import { Gate } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { listen } from './listen.ts'

const anywhere = { host: '127.0.0.1', port: 0 }

test('returns the bound port and its URL', async () => {
  const server = await listen((_request, response) => response.end('here'), anywhere)
  expect(server.port).toBeGreaterThan(0)
  expect(server.url).toBe(`http://127.0.0.1:${server.port}`)
  expect(await (await fetch(server.url)).text()).toBe('here')
  await server.close()
})

test('rejects with EADDRINUSE if the address is in use', async () => {
  const server = await listen((_request, response) => response.end(), anywhere)
  await expect(listen((_request, response) => response.end(), server)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await server.close()
})

test('tells clients that it keeps idle connections for longer than proxies do', async () => {
  const server = await listen((_request, response) => response.end('here'), anywhere)
  const agent = new Agent({ keepAlive: true })
  const [response] = await once(request(server.url, { agent }).end(), 'response')
  expect(response.headers['keep-alive']).toBe('timeout=75')
  await response.toArray()
  agent.destroy()
  await server.close()
})

test('closes a connection beyond the limit, and accepts new ones after another has ended', async () => {
  const arrived = new Gate()
  const limits = { maxConnections: 1, reserve: 0 }
  const handler: RequestListener = (request, response) => {
    if (request.url === '/held') arrived.open()
    else response.end('here')
  }
  const server = await listen(handler, anywhere, { limits })
  const first = request(`${server.url}/held`)
    .on('error', () => {})
    .end()
  await arrived.opened
  const second = connect(server.port, '127.0.0.1').resume()
  await once(second, 'close')
  first.destroy()
  await expect.poll(async () => (await fetch(server.url)).status).toBe(200)
  await server.close()
})

test('close waits for the request in progress, ends its connection, and closes idle connections immediately', async () => {
  const arrived = new Gate()
  const answer = new Gate()
  const server = await listen(async (_request, response) => {
    arrived.open()
    await answer.opened
    response.end('done')
  }, anywhere)

  const idle = connect(server.port, '127.0.0.1')
  await once(idle, 'connect')
  const idleEnded = once(idle.resume(), 'close')

  const agent = new Agent({ keepAlive: true })
  const call = request(server.url, { agent }).end()
  const answered = once(call, 'response')
  await arrived.opened

  let closed = false
  const closing = server.close().then(() => {
    closed = true
  })
  await idleEnded
  expect(closed).toBe(false)
  await expect(fetch(server.url)).rejects.toThrow()

  answer.open()
  const [response] = await answered
  expect(response.headers.connection).toBe('close')
  expect((await response.toArray()).join('')).toBe('done')
  await closing
  agent.destroy()
})

test('close destroys the remaining connections when its signal aborts', async () => {
  const arrived = new Gate()
  const server = await listen(() => arrived.open(), anywhere)
  const failed = expect(fetch(server.url)).rejects.toThrow()
  await arrived.opened
  const abort = new AbortController()
  const closing = server.close(abort.signal)
  abort.abort()
  await closing
  await failed
})

test('a second call of close waits as long as the first', async () => {
  const arrived = new Gate()
  const answer = new Gate()
  const server = await listen(async (_request, response) => {
    arrived.open()
    await answer.opened
    response.end('done')
  }, anywhere)
  const reply = fetch(server.url).then((response) => response.text())
  await arrived.opened
  let answered = false
  const closings = [server.close(), server.close()].map((closing) => closing.then(() => answered))
  await new Promise<void>((resolve) => setImmediate(resolve))
  answered = true
  answer.open()
  expect([await reply, ...(await Promise.all(closings))]).toEqual(['done', true, true])
  await server.close()
})

test('close waits for a handler after its client has gone, until its signal aborts and a little longer', async () => {
  const arrived = new Gate()
  const go = new Gate()
  const gone = new Gate()
  let isDone = false
  const server = await listen(async (_request, response) => {
    response.once('close', () => gone.open())
    arrived.open()
    await go.opened
    isDone = true
  }, anywhere)
  const call = request(server.url)
    .on('error', () => {})
    .end()
  await arrived.opened
  call.destroy()
  await gone.opened
  const closing = server.close(AbortSignal.abort()).then(() => isDone)
  await new Promise<void>((resolve) => setImmediate(resolve))
  go.open()
  expect(await closing).toBe(true)
})

test('close does not wait for ever for a handler that does not end', async () => {
  const arrived = new Gate()
  const server = await listen(() => {
    arrived.open()
    return new Promise(() => {})
  }, anywhere)
  const failed = expect(fetch(server.url)).rejects.toThrow()
  await arrived.opened
  await server.close(AbortSignal.abort())
  await failed
})
