import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { connect, type Socket } from 'node:net'
import { jsonLog, silentLog } from '@penstock/runtime'
import { Gate } from '@penstock/testkit'
import { afterEach, describe, expect, test } from 'vitest'
import { type Listening, type ListenOptions, listen } from './listen.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const echo: RequestListener = (request, response) => response.end(`${request.method} ${request.url}`)

async function serve(options: ListenOptions = {}, handler = echo): Promise<Listening> {
  const server = await listen(handler, { host: '127.0.0.1', port: 0 }, options)
  closing.push(() => server.close(AbortSignal.abort()))
  return server
}

async function open({ port }: Listening, text = ''): Promise<Socket> {
  // Half-open: this client never closes its side by itself.
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {})
  closing.push(() => socket.destroy())
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

/** Returns what the server sends until it closes its side. */
async function exchange(server: Listening, text: string): Promise<string> {
  return received(await open(server, text))
}

async function received(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (data) => {
    text += data
  })
  await new Promise<void>((resolve) => socket.once('end', () => resolve()).once('close', () => resolve()))
  return text
}

/** Resolves when the server has destroyed the connection: only then does it answer further bytes with a reset. */
async function destroyed(socket: Socket): Promise<void> {
  const sending = setInterval(() => socket.write('x'), 20)
  closing.push(() => clearInterval(sending))
  await new Promise<void>((resolve) => socket.resume().once('close', () => resolve()))
  clearInterval(sending)
}

const get = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: h', 'Connection: close', ...headers, '', ''].join('\r\n')
const statusOf = (answer: string) => Number(answer.split(' ', 2)[1])
const times = (count: number) => Array.from({ length: count }, (_, index) => index)

describe('connections without a request', () => {
  test.each([
    ['from one address', {}],
    ['from a proxy', { isExempt: () => true }],
  ])('1,000 silent sockets %s do not lock out other clients', async (_, options) => {
    const server = await serve(options)
    await Promise.all(times(1_000).map(() => open(server)))
    const answers = await Promise.all(times(20).map(() => exchange(server, get('/livez'))))
    expect(new Set(answers.map(statusOf))).toEqual(new Set([200]))
  })

  test.each([
    ['an incomplete head', 'GET / HTTP/1.1\r\nHo'],
    ['bytes that are not HTTP', '\x16\x03\x01\r\n\r\n'],
    ['an endless first line', `GET /${'a'.repeat(20_000)}`],
  ])('1,000 sockets with %s do not lock out other clients', async (_, text) => {
    const server = await serve()
    const sockets = await Promise.all(times(1_000).map(() => open(server, text)))
    for (const socket of sockets) socket.resume()
    expect(statusOf(await exchange(server, get('/livez')))).toBe(200)
  })

  test('closes the socket after a broken request even if the client keeps its side open', async () => {
    const server = await serve()
    const socket = await open(server, 'nonsense\r\n\r\n')
    expect(await received(socket)).toMatch(/^HTTP\/1.1 400 [\s\S]*Connection: close/)
    await destroyed(socket)
  })

  test.each([
    ['a silent connection', '', ''],
    ['a connection with an incomplete head', 'GET / HTTP/1.1\r\nHost: h\r\n', 'HTTP/1.1 408'],
  ])('closes %s after the time limit for the head', async (_, sent, answer) => {
    const server = await serve({ times: { headMs: 100 } })
    const socket = await open(server, sent)
    expect((await received(socket)).slice(0, 12)).toBe(answer)
    await destroyed(socket)
  })

  test('closes the connection of a client that does not read its response', async () => {
    const server = await serve({ times: { stallMs: 200 } }, (_request, response) => {
      response.end(Buffer.alloc(64 * 1024 * 1024))
    })
    const socket = await open(server, get('/'))
    await once(socket, 'readable')
    // The rest of the response waits in the server, and `close` resolves only when the connection is gone.
    await server.close()
  })

  test('a handler may take longer than the stall limit for clients', async () => {
    const server = await serve({ times: { stallMs: 500 } }, (_request, response) => {
      setTimeout(() => response.end('late'), 1_200)
    })
    expect(await exchange(server, get('/'))).toMatch(/late$/)
  })
})

describe('connections with a request', () => {
  /** Starts a server that answers `/slow` when the gate opens, and other paths immediately. */
  async function withBusy(limits: NonNullable<ListenOptions['limits']>, busy: number, log = silentLog) {
    const gate = new Gate()
    const arrived = new Gate()
    let waiting = 0
    const server = await serve({ limits, probePaths: ['/livez'], log }, async (request, response) => {
      if (request.url === '/slow') {
        waiting += 1
        if (waiting === busy) arrived.open()
        await gate.opened
      }
      response.end('served')
    })
    const slow = times(busy).map(() => exchange(server, get('/slow')))
    await arrived.opened
    return { server, slow, gate }
  }

  test('when connections with requests fill the connection table, probes are served from the reserve, and other requests get 503', async () => {
    const { server, slow, gate } = await withBusy({ maxConnections: 3 }, 3)
    expect(await exchange(server, get('/livez'))).toMatch(/^HTTP\/1.1 200 [\s\S]*served$/)
    expect(await exchange(server, get('/else'))).toMatch(/^HTTP\/1.1 503 [\s\S]*Retry-After: 1/)
    gate.open()
    expect((await Promise.all(slow)).map(statusOf)).toEqual([200, 200, 200])
    expect(statusOf(await exchange(server, get('/else')))).toBe(200)
  })

  test('are logged with listener, limits and source when another connection enters the reserve', async () => {
    const lines: Record<string, unknown>[] = []
    const log = jsonLog({ write: (line) => lines.push(JSON.parse(line)) }, () => 0)
    const { server } = await withBusy({ maxConnections: 1, maxPerAddress: 5 }, 1, log)
    expect(statusOf(await exchange(server, get('/else')))).toBe(503)
    expect(lines).toMatchObject([
      {
        event: 'listener.full',
        listen: `127.0.0.1:${server.port}`,
        max_connections: 1,
        max_connections_per_address: 5,
        source: '127.0.0.1',
        msg: expect.stringContaining('requests on further connections get 503'),
      },
    ])
  })

  test('when connections with requests reach the limit per address, further requests get 503, and probes are served', async () => {
    const { server } = await withBusy({ maxPerAddress: 2 }, 2)
    expect(statusOf(await exchange(server, get('/else')))).toBe(503)
    expect(statusOf(await exchange(server, get('/livez')))).toBe(200)
  })

  test('silent connections in the reserve are closed and do not block probes', async () => {
    const { server } = await withBusy({ maxConnections: 1, reserve: 2 }, 1)
    const silent = await Promise.all(times(10).map(() => open(server)))
    expect(statusOf(await exchange(server, get('/livez')))).toBe(200)
    await Promise.all(silent.map(destroyed))
  })

  test('runs pipelined requests one after another, and accepts only 32', async () => {
    const gate = new Gate()
    let started = 0
    let underWay = 0
    let most = 0
    const server = await serve({}, async (_request, response) => {
      started += 1
      underWay += 1
      most = Math.max(most, underWay)
      await gate.opened
      underWay -= 1
      response.end()
    })
    const answer = exchange(server, 'GET / HTTP/1.1\r\nHost: h\r\n\r\n'.repeat(100))
    await expect.poll(() => started).toBeGreaterThan(0)
    gate.open()
    expect((await answer).match(/HTTP\/1.1 \d+/g)).toEqual([...times(32).map(() => 'HTTP/1.1 200'), 'HTTP/1.1 503'])
    expect({ started, most }).toEqual({ started: 32, most: 1 })
  })

  test('sends no error for a broken request while an earlier request is unanswered', async () => {
    const gate = new Gate()
    const server = await serve({}, async (_request, response) => {
      await gate.opened
      response.end('first')
    })
    expect(await exchange(server, 'GET / HTTP/1.1\r\nHost: h\r\n\r\nnonsense\r\n\r\n')).toBe('')
    gate.open()
  })
})
