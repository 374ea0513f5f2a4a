import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import type { BodyReceiver } from '../contract/body-receiver.ts'
import { type NodeInternal, nodeInternals } from '../contract/gateway-config.ts'
import { HpackDecoder } from '../http2/hpack/hpack-decoder.ts'
import { gunzipBody, gunzipBodySync } from '../wire/gunzip.ts'
import { avoided, avoidNodeInternals } from './avoided.ts'
import { lengthOption } from './gunzip-length.ts'
import { passToHttp1 } from './http1-handover.ts'
import { hasLatin1Slice, latin1Text } from './latin1-text.ts'
import { DirectRequest, receiveBody, requestClass } from './request-bodies.ts'

// Each part is tested with its fall-back too. The tests of the parts themselves fail if a version of Node has changed them; CI runs them
// with every supported version.

afterEach(() => avoidNodeInternals([]))

/** Runs a test with a part of Node, and with its fall-back. */
const eachWay = (name: NodeInternal, title: string, run: () => Promise<void> | void) =>
  test.each([
    ['with the part', []],
    ['with the fall-back', [name]],
  ])(`${name}: ${title} %s`, (_, names) => {
    avoidNodeInternals(names)
    return run()
  })

test('The selection names every part, and replaces the one before', () => {
  expect(Object.keys(avoided).sort()).toEqual([...nodeInternals].sort())
  avoidNodeInternals(['latin1-text'])
  avoidNodeInternals(['gunzip-length'])
  expect(avoided).toMatchObject({ 'latin1-text': false, 'gunzip-length': true })
})

describe('This version of Node has', () => {
  test('latin1-text: the function of Buffer', () => expect(hasLatin1Slice()).toBe(true))

  test('gunzip-length: the number of bytes read', () => {
    const body = gzipSync('text')
    expect(gunzipSync(body, lengthOption())).toMatchObject({ engine: { bytesWritten: body.length } })
  })

  test('request-bodies: a parser that calls push and reads readableEnded', async () => {
    const pushed: (number | null)[] = []
    class Request extends DirectRequest {
      override push(piece: Uint8Array | null): boolean {
        pushed.push(piece === null ? null : piece.length)
        return super.push(piece)
      }
    }
    const server = createServer(
      { IncomingMessage: Request, requireHostHeader: false },
      (_, response) => void response.end(),
    )
    await exchange(server, 'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody')
    expect(pushed).toEqual([4, null])
  })
})

eachWay('latin1-text', 'each byte is a character', () => {
  const bytes = Uint8Array.from({ length: 300 }, (_, index) => index & 0xff)
  expect(latin1Text(bytes.subarray(3), 1, 280)).toBe(String.fromCharCode(...bytes.subarray(4, 283)))
  expect(latin1Text(bytes, 7, 7)).toBe('')
})

eachWay('latin1-text', 'the HPACK decoder reads a literal', () => {
  const decoder = new HpackDecoder({ tableBytes: 4096, maxListBytes: 4096, maxFields: 10 })
  expect(decoder.decode(Buffer.from('400161036200e9', 'hex'))).toEqual(['a', 'b\u0000\u00e9'])
})

describe.each(['sync', 'async'])('%s', (kind) => {
  const inflate = async (body: Uint8Array, maxBytes: number) =>
    kind === 'sync' ? gunzipBodySync(body, maxBytes) : gunzipBody(body, maxBytes)
  const [one, other] = [gzipSync('one'), gzipSync('other')]

  eachWay('gunzip-length', 'members are inflated to the limit, and zero bytes after one are invalid', async () => {
    expect(await inflate(Buffer.concat([one, other]), 8)).toEqual(Buffer.from('oneother'))
    expect(await inflate(Buffer.concat([one, other]), 7)).toBe('too_large')
    expect(await inflate(Buffer.concat([one, Buffer.alloc(2), other]), 8)).toBe('invalid')
    expect(await inflate(Buffer.concat([one, Buffer.alloc(1)]), 8)).toBe('invalid')
    expect(await inflate(Buffer.concat([one, Buffer.from('x')]), 8)).toBe('invalid')
  })
})

eachWay('request-bodies', 'a body of several pieces reaches its receiver, which may pause it', async () => {
  let received = ''
  const server = createServer(
    { IncomingMessage: requestClass(), requireHostHeader: false },
    (request: IncomingMessage, response) => {
      const receiver: BodyReceiver = {
        isPaused: false,
        onBody(piece) {
          received += Buffer.from(piece).toString()
          setImmediate(() => (request instanceof DirectRequest ? request.resumeBody() : request.resume()))
          return false
        },
        onBodyEnd: () => void response.end('done'),
        onAborted() {},
        onStalled() {},
        onBroken() {},
      }
      receiveBody(request, response, receiver)
    },
  )
  const chunked = '3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n'
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n'
  expect(await exchange(server, head + chunked)).toContain('done')
  expect(received).toBe('abcde')
})

eachWay('request-bodies', 'a client that leaves is reported', async () => {
  let onGone = () => {}
  const server = createServer({ IncomingMessage: requestClass(), requireHostHeader: false }, (request, response) => {
    const nothing = () => {}
    const receiver = { isPaused: false, onBody: () => true, onBodyEnd: nothing, onStalled: nothing, onBroken: nothing }
    receiveBody(request, response, { ...receiver, onAborted: () => onGone() })
    client.destroy()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbo')
  await new Promise<void>((resolve) => {
    onGone = resolve
  })
  server.close()
})

eachWay('http1-handover', 'node:http reads what was unread before what follows', async () => {
  const inner = createServer((request, response) => {
    request.resume()
    response.end(request.url)
  })
  const outer = createTcpServer({ allowHalfOpen: true }, (socket) => {
    socket.once('data', (piece: Buffer) => {
      socket.pause()
      setImmediate(() => {
        passToHttp1(inner, socket, piece)
        socket.resume()
      })
    })
  })
  expect(await exchange(outer, 'GET /first HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toContain('/first')
})

/** Sends a text to a server, and returns all it answers. */
async function exchange(server: Server, text: string): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  let answer = ''
  client.on('data', (piece: Buffer) => {
    answer += piece.toString()
  })
  client.write(text)
  await once(client, 'close')
  server.close()
  return answer
}
