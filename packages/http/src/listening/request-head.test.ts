import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Listening, listen } from './listen.ts'
import { MAX_HEADERS } from './request-head.ts'

let server: Listening
beforeEach(async () => {
  const refusalForm = { contentType: 'application/json', body: (problem: object) => JSON.stringify(problem) }
  server = await listen(
    ({ url, headersDistinct }, response) => {
      response.end(`${url} ${headersDistinct['x-forwarded-for']?.join()}`)
    },
    { host: '127.0.0.1', port: 0 },
    { refusalForm },
  )
})
afterEach(() => server.close(AbortSignal.abort()))

/** Sends raw lines, and returns status and body. */
async function send(...lines: string[]): Promise<[status: number, body: string]> {
  const socket = connect(server.port, '127.0.0.1')
  let text = ''
  socket.on('data', (data) => {
    text += data
  })
  socket.write([...lines, '', ''].join('\r\n'))
  await once(socket, 'close')
  const [head = '', body = ''] = text.split('\r\n\r\n', 2)
  return [Number(head.split(' ', 2)[1]), body]
}
const fillers = (count: number) => Array.from({ length: count }, (_, index) => `a${index}: b`)
const own = ['Host: h', 'Connection: close']

describe('number of headers', () => {
  test.each([MAX_HEADERS + 1, 1_001, 2_100])('rejects %i headers, and does not drop any silently', async (count) => {
    const lines = fillers(count - own.length - 1)
    expect((await send('GET / HTTP/1.1', ...own, ...lines, 'X-Forwarded-For: 192.0.2.7'))[0]).toBe(431)
  })

  test('passes on all headers up to the limit', async () => {
    const lines = fillers(MAX_HEADERS - own.length - 1)
    expect(await send('GET /a HTTP/1.1', ...own, ...lines, 'X-Forwarded-For: 192.0.2.7')).toEqual([200, '/a 192.0.2.7'])
  })
})

describe('headers with a single value', () => {
  test.each([
    ['Host', 'h', 'h'],
    ['Host', 'h', 'other'],
    ['authorization', 'Bearer a', 'Bearer b'],
    ['Content-Type', 'application/json', 'text/plain'],
    ['Content-Length', '0', '0'],
  ])('rejects a repeated %s', async (name, first, second) => {
    const host = name === 'Host' ? [] : ['Host: h']
    const lines = [...host, `${name}: ${first}`, `${name.toUpperCase()}: ${second}`]
    expect((await send('POST / HTTP/1.1', 'Connection: close', ...lines))[0]).toBe(400)
  })

  test('sends the error in the format of the API', async () => {
    const [, body] = await send('GET / HTTP/1.1', ...own, 'host: h')
    expect(JSON.parse(body)).toEqual({ status: 400, message: 'The header host may be sent only once.' })
  })

  test('rejects two Host headers over HTTP/1.0, which requires none', async () => {
    expect((await send('GET / HTTP/1.0', 'Host: h', 'Host: i'))[0]).toBe(400)
    expect((await send('GET / HTTP/1.0'))[0]).toBe(200)
    expect((await send('GET / HTTP/1.1', 'Connection: close'))[0]).toBe(400)
  })
})

describe('unusual requests', () => {
  test.each([
    ['http://other.example/a/b?c=d', '/a/b?c=d'],
    ['HTTPS://other.example', '/'],
    ['http://other.example?c', '/?c'],
    ['//other.example/a', '//other.example/a'],
  ])('reads the target %s as %s', async (target, url) => {
    expect(await send(`GET ${target} HTTP/1.1`, ...own)).toEqual([200, `${url} undefined`])
  })

  test.each([
    ['a tunnel', 405, ['CONNECT db.internal:5432 HTTP/1.1', 'Host: h']],
    ['a folded header', 400, ['GET / HTTP/1.1', 'Host: h', 'X-A: b', ' c']],
    ['a blank before the colon', 400, ['GET / HTTP/1.1', 'Host : h']],
    ['both lengths', 400, ['POST / HTTP/1.1', ...own, 'Content-Length: 3', 'Transfer-Encoding: chunked']],
    ['chunked twice', 400, ['POST / HTTP/1.1', ...own, 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']],
    ['another coding last', 400, ['POST / HTTP/1.1', ...own, 'Transfer-Encoding: chunked, gzip']],
    ['a length with a sign', 400, ['POST / HTTP/1.1', ...own, 'Content-Length: +3']],
    ['an unknown expectation', 417, ['POST / HTTP/1.1', ...own, 'Expect: magic']],
    ['gzip before chunked', 400, ['POST / HTTP/1.1', ...own, 'Transfer-Encoding: gzip, chunked']],
    ['a fragment', 400, ['GET /a#b HTTP/1.1', ...own]],
    ['an endless target', 414, [`GET /${'a'.repeat(40_000)} HTTP/1.1`, ...own]],
    ['an endless header', 431, ['GET / HTTP/1.1', ...own, `X-A: ${'a'.repeat(40_000)}`]],
    ['NUL in a header', 400, ['GET / HTTP/1.1', ...own, 'X-A: a\0b']],
  ])('%s: %i', async (_, status, lines) => {
    expect((await send(...lines))[0]).toBe(status)
  })

  test.each([
    ['an upgrade', ['GET / HTTP/1.1', 'Host: h', 'Connection: Upgrade, close', 'Upgrade: websocket']],
    ['OPTIONS *', ['OPTIONS * HTTP/1.1', ...own]],
    ['a chunk extension', ['POST / HTTP/1.1', ...own, 'Transfer-Encoding: chunked', '', '1;a=b', 'x', '0', 'X-T: t']],
  ])('serves %s like an ordinary request', async (_, lines) => {
    expect((await send(...lines))[0]).toBe(200)
  })
})
