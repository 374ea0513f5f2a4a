import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { jsonLog, silentLog } from '@penstock/runtime'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { UnreadAnswers } from '../answers/unread-answers.ts'
import { type RequestErrorKind, RequestProblem } from '../bodies/request-problem.ts'
import { type Listening, listen } from '../listening/listen.ts'
import { guarded, type Incoming, type Reply, type Route, unguarded } from './route.ts'
import { apiHeaders, serveRoutes } from './serve-routes.ts'

const statusOf = {
  not_found: 404,
  method_not_allowed: 405,
  unsupported_media_type: 415,
  body_too_large: 413,
  invalid_json: 400,
  json_beyond_limit: 422,
  answer_too_large: 413,
} satisfies Record<RequestErrorKind['kind'], number>

class Refused extends Error {}

class Overload extends Error {}

function renderError(error: unknown, { requestId }: Incoming): Reply {
  if (error instanceof Overload) return { status: 503, json: 'overload' }
  if (error instanceof Refused) return { status: 401, json: { wrong: 'unauthenticated', requestId } }
  if (!(error instanceof RequestProblem)) return { status: 500, json: { wrong: 'internal', requestId } }
  const { problem, headers } = error
  return { status: statusOf[problem.kind], headers, json: { wrong: problem.kind, requestId } }
}

const echo = (method: 'GET' | 'POST' | '*', path: string, body?: z.ZodType): Route<string, string> => ({
  method,
  path,
  access: 'any',
  ...(body && { body }),
  handle: ({ params, query, body }, caller) => ({ status: 200, json: { caller, params, query, body } }),
})

const routes: Route<string, string>[] = [
  echo('GET', '/things'),
  echo('POST', '/things', z.object({})),
  echo('POST', '/things/:id/turn', z.object({}).optional()),
  echo('GET', '/things/:id'),
  echo('*', '/any'),
  { method: 'GET', path: '/bug', access: 'any', handle: () => Promise.reject(new Error('internal detail')) },
  { method: 'GET', path: '/overload', access: 'any', handle: () => Promise.reject(new Overload('too many texts')) },
  { method: 'GET', path: '/nothing', access: 'any', handle: () => ({ status: 204 }) },
  {
    method: 'GET',
    path: '/text',
    access: 'any',
    handle: () => ({
      status: 200,
      content: 'up 1\n',
      contentType: 'text/plain; version=0.0.4',
      headers: { Vary: 'X' },
    }),
  },
]

let server: Listening | undefined
const lines: string[] = []

async function start(): Promise<Listening> {
  lines.length = 0
  const enter = (incoming: Incoming): string => {
    if (incoming.raw.headers['x-caller'] === undefined) throw new Refused()
    return String(incoming.raw.headers['x-caller'])
  }
  const log = jsonLog({ write: (line) => lines.push(line) }, () => 0)
  server = await listen(serveRoutes(guarded(routes, enter), { renderError, headers: apiHeaders, log }), {
    host: '127.0.0.1',
    port: 0,
  })
  return server
}

afterEach(async () => {
  await server?.close()
  server = undefined
})

async function call(path: string, init: RequestInit & { duplex?: 'half' } = {}) {
  const { url } = server ?? (await start())
  const response = await fetch(url + path, {
    ...init,
    headers: { 'x-caller': 'ann', connection: 'close', ...init.headers },
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) }
}

const json = (body: string | Uint8Array, type = 'application/json') => ({
  method: 'POST',
  body,
  headers: { 'content-type': type },
})

describe('parsing a request', () => {
  test('decodes path parameters, and keeps every value of query parameters', async () => {
    const answer = await call('/things/a%2Fb%20c?x=1&x=2&__proto__=y&z=')
    expect(answer.text).toBe('{"caller":"ann","params":{"id":"a/b c"},"query":{"x":["1","2"],"__proto__":"y","z":""}}')
  })

  test('keeps a path that cannot be decoded', async () => {
    expect((await call('/things/%ff')).json().params).toEqual({ id: '%ff' })
  })

  test.each(['application/json', 'Application/JSON; Charset=UTF-8', 'application/json;charset="utf-8"; x=y'])(
    'parses a body of type %s',
    async (type) => {
      expect((await call('/things', json('\ufeff{"ü":[1]}', type))).json().body).toEqual({ ü: [1] })
    },
  )

  test('accepts a missing body if it is optional', async () => {
    expect((await call('/things/7/turn', { method: 'POST' })).text).toBe(
      '{"caller":"ann","params":{"id":"7"},"query":{}}',
    )
  })

  test('ignores the body on a route without a body schema, for any method', async () => {
    for (const method of ['GET', 'POST', 'PROPFIND']) {
      expect((await call('/any', { method })).status).toBe(200)
    }
    expect((await call('/any', json('no json', 'text/plain'))).json()).toEqual({ caller: 'ann', params: {}, query: {} })
  })
})

describe('errors', () => {
  test.each([
    ['an unknown path', '/no', {}, 404],
    ['a path with a trailing slash', '/things/', {}, 404],
    ['a path in another case', '/Things', {}, 404],
    ['another method', '/things', { method: 'DELETE' }, 405],
    ['a form', '/things', json('a=1', 'application/x-www-form-urlencoded'), 415],
    ['a media type similar to JSON', '/things', json('{}', 'application/jsonp'), 415],
    ['another charset', '/things', json('{}', 'application/json; charset=iso-8859-1'), 415],
    ['a body without type', '/things', json(new Uint8Array([0x7b, 0x7d]), ''), 415],
    ['a missing body that is required', '/things', { method: 'POST' }, 415],
    ['an empty body that is required', '/things', json(''), 400],
    ['an incomplete value', '/things', json('{"a":'), 400],
    ['two values', '/things', json('{} {}'), 400],
    ['bytes that are not UTF-8', '/things', json(new Uint8Array([0x22, 0xff, 0x22])), 400],
    ['an optional body that is not JSON', '/things/7/turn', json('x'), 400],
    ['65 537 bytes', '/things', json(`"${'a'.repeat(65_535)}"`), 413],
  ])('%s', async (_case, path, init, status) => {
    const answer = await call(path, init)
    expect(answer.status).toBe(status)
    expect(answer.json().requestId).toBe(answer.headers.get('x-request-id'))
  })

  test.each<[string, string, number]>([
    ['nested to the limit', `${'['.repeat(64)}${']'.repeat(64)}`, 200],
    ['nested deeper', `${'['.repeat(65)}${']'.repeat(65)}`, 422],
    ['as many empty objects as the limit on containers', `[${'{},'.repeat(9_998)}{}]`, 200],
    ['more empty objects', `[${'{},'.repeat(9_999)}{}]`, 422],
    ['beyond a limit, and also malformed', '['.repeat(1_000), 422],
    ['too large, and beyond the limits on JSON', `[${'{},'.repeat(30_000)}{}]`, 413],
  ])('JSON that is %s', async (_case, body, status) => {
    expect((await call('/things', json(body))).status).toBe(status)
  })

  test('rejects JSON beyond a limit before the body has arrived', async () => {
    const socket = connect(Number(new URL((await start()).url).port), '127.0.0.1')
    const head = 'POST /things HTTP/1.1\r\nhost: x\r\nx-caller: ann\r\ncontent-type: application/json\r\n'
    socket.write(`${head}content-length: 1000\r\n\r\n${'['.repeat(100)}`)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1.1 422 /)
    socket.destroy()
  })

  test('accepts a body of 65 536 bytes', async () => {
    expect((await call('/things', json(`"${'a'.repeat(65_534)}"`))).status).toBe(200)
  })

  test('rejects a compressed body and names the accepted encoding', async () => {
    const answer = await call('/things', {
      ...json('{}'),
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    })
    expect([answer.status, answer.headers.get('accept-encoding')]).toEqual([415, 'identity'])
  })

  test('limits the size of a body without Content-Length', async () => {
    const chunk = new TextEncoder().encode('a'.repeat(16_384))
    let sent = 0
    const body = new ReadableStream({
      pull(controller) {
        if (sent++ < 8) controller.enqueue(chunk)
        else controller.close()
      },
    })
    const answer = await call('/things', { ...json(''), body, duplex: 'half' })
    expect(answer.json().wrong).toBe('body_too_large')
  })

  test('405 lists every method of the path', async () => {
    expect((await call('/things', { method: 'DELETE' })).headers.get('allow')).toBe('GET, HEAD, POST')
  })

  test('calls the guard after checking the method and before reading the body', async () => {
    const { url } = await start()
    const status = async (method: string) => {
      const response = await fetch(`${url}/things`, { method, body: 'no json', headers: { connection: 'close' } })
      return response.status
    }
    expect([await status('POST'), await status('DELETE')]).toEqual([401, 405])
  })
})

describe('responses', () => {
  test('every response has the common headers besides those of its reply', async () => {
    for (const path of ['/things', '/no', '/text', '/nothing']) {
      const { headers } = await call(path)
      expect(Object.fromEntries(headers)).toMatchObject({
        'cache-control': 'no-store',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      })
    }
  })

  test('sends text with its content type, and an empty reply without a body and type', async () => {
    const text = await call('/text')
    expect([text.text, text.headers.get('content-type'), text.headers.get('vary')]).toEqual([
      'up 1\n',
      'text/plain; version=0.0.4',
      'X',
    ])
    const nothing = await call('/nothing')
    expect([nothing.status, nothing.text, nothing.headers.get('content-type')]).toEqual([204, '', null])
  })

  test('answers HEAD like GET, without a body', async () => {
    const head = await call('/things', { method: 'HEAD' })
    expect([head.status, head.text]).toEqual([200, ''])
  })

  test('keeps a valid request id and replaces any other', async () => {
    const idFor = async (sent: string) =>
      (await call('/things', { headers: { 'x-request-id': sent } })).headers.get('x-request-id')
    expect(await idFor('build-17.3')).toBe('build-17.3')
    expect(await idFor(`psin_7Hq2mK9sT4bZ_${'a'.repeat(49)}`)).toMatch(/^[0-9a-f-]{36}$/)
    expect(await idFor('a b')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('logs an unexpected error with the path of the route, and does not send it to the client', async () => {
    const answer = await call('/bug?token=psin_x')
    expect(answer.status).toBe(500)
    expect(answer.text).not.toContain('internal detail')
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0]!)).toMatchObject({
      event: 'http.request_failed',
      route: '/bug',
      status: 500,
      error: 'internal detail',
    })
    expect(lines[0]).not.toContain('psin_x')
  })

  test('logs overload as a warning without a stack', async () => {
    expect((await call('/overload')).status).toBe(503)
    const [line, ...others] = lines.map((each) => JSON.parse(each))
    expect(line).toMatchObject({ level: 'warn', event: 'http.request_failed', status: 503, error: 'too many texts' })
    expect([line.stack, others]).toEqual([undefined, []])
  })

  test('logs nothing if a client disconnects while sending its body', async () => {
    const { port } = await start()
    const socket = connect(port, '127.0.0.1')
    socket.write(
      'POST /things HTTP/1.1\r\nhost: x\r\nx-caller: ann\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"a"',
    )
    await new Promise<void>((resolve) => socket.once('connect', () => setImmediate(resolve)))
    socket.destroy()
    expect((await call('/things')).status).toBe(200)
    expect(lines).toEqual([])
  })

  test('ends the connection when a stream of content is destroyed, although the client reads nothing', async () => {
    const content = Readable.from([Buffer.alloc(32 * 1024 * 1024), Buffer.alloc(1)], { objectMode: false })
    const served: Incoming['raw']['socket'][] = []
    const route: Route<undefined, undefined> = {
      method: 'GET',
      path: '/stream',
      access: undefined,
      handle({ raw }) {
        served.push(raw.socket)
        return { status: 200, content, contentType: 'text/plain' }
      },
    }
    server = await listen(serveRoutes(unguarded([route]), { renderError, headers: {}, log: silentLog }), {
      host: '127.0.0.1',
      port: 0,
    })
    const client = connect(server.port, '127.0.0.1').pause()
    client.write('GET /stream HTTP/1.1\r\nhost: x\r\n\r\n')
    await expect.poll(() => served[0]?.writableLength).toBeGreaterThan(0)
    content.destroy()
    await expect.poll(() => served[0]!.destroyed).toBe(true)
    client.destroy()
  })

  test('serves routes with different guards together', async () => {
    const open: Route<undefined, undefined>[] = [
      {
        method: 'GET',
        path: '/livez',
        access: undefined,
        handle: () => ({ status: 200, content: 'ok', contentType: 'text/plain' }),
      },
    ]
    const closed = guarded(routes, () => {
      throw new Refused()
    })
    server = await listen(serveRoutes([...unguarded(open), ...closed], { renderError, headers: {}, log: silentLog }), {
      host: '127.0.0.1',
      port: 0,
    })
    expect((await call('/livez')).text).toBe('ok')
    expect((await call('/things')).status).toBe(401)
  })
})

describe('answers that are not read', () => {
  // More than the buffers of two sockets take.
  const BYTES = 24 * 1024 * 1024
  const long: Route<string, string> = {
    method: 'GET',
    path: '/long',
    access: 'any',
    handle: () => ({ status: 200, content: 'x'.repeat(BYTES), contentType: 'text/plain' }),
  }

  async function ask(port: number) {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.pause()
    socket.write('GET /long HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    return socket
  }

  async function bytesOf(socket: ReturnType<typeof connect>): Promise<number> {
    let bytes = 0
    socket.on('data', ({ length }) => {
      bytes += length
    })
    socket.on('error', () => {})
    socket.resume()
    await once(socket, 'close')
    return bytes
  }

  test('give way to later ones of their address, and a reader gets the whole answer', async () => {
    const admitted: string[] = []
    const handler = serveRoutes(
      guarded([long], ({ requestId }) => {
        admitted.push(requestId)
        return 'mira'
      }),
      {
        renderError,
        headers: {},
        log: silentLog,
        unread: new UnreadAnswers({ maxBytes: 2 * BYTES, maxBytesPerAddress: 2 * BYTES, stalledMs: 0 }),
      },
    )
    const served = await listen(handler, { host: '127.0.0.1', port: 0 })
    try {
      const sockets = []
      for (let index = 1; index <= 4; index += 1) {
        sockets.push(await ask(served.port))
        await expect.poll(() => admitted.length).toBe(index)
      }
      const whole = await fetch(`${served.url}/long`)
      expect([whole.headers.get('content-length'), (await whole.text()).length]).toEqual([String(BYTES), BYTES])
      const received = await Promise.all(sockets.map(bytesOf))
      expect(received.map((bytes) => bytes > BYTES)).toEqual([false, false, false, true])
    } finally {
      await served.close(AbortSignal.abort())
    }
  })
})
