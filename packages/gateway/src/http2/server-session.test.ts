import { once } from 'node:events'
import { connect } from 'node:http2'
import { type AddressInfo, createServer } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '@penstock/runtime'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ErrorCode, FrameType } from './frames.ts'
import { UnsentBudget } from './limits/unsent-budget.ts'
import {
  block,
  data,
  END_HEADERS,
  END_STREAM,
  frame,
  get,
  greeting,
  headers,
  open,
  PADDED,
  post,
  rst,
  settings,
  TestSession,
  textOf,
  unanswered,
  update,
} from './server-session.harness.ts'
import { ServerSession } from './server-session.ts'
import type { ServerStream } from './server-stream.ts'

const { DATA, HEADERS, CONTINUATION, PING } = FrameType
const PRIORITY_TYPE = FrameType.PRIORITY
const MAX_WINDOW = 2 ** 31 - 1

describe('pings', () => {
  const ping = (text: string) => frame(PING, 0, 0, text)

  test('are answered with their content', async () => {
    const session = await open()
    const [answer] = await session.framesAfter(ping('\x00\xff\x80abcde'))
    expect([textOf(answer!), answer!.payload.toString('latin1')]).toEqual(['PING ack', '\x00\xff\x80abcde'])
  })

  test('P-26: are limited without streams', async () => {
    const session = await open()
    expect(await session.feed(ping('12345678'), ping('12345678'), ping('12345678'))).toEqual(Array(3).fill('PING ack'))
    expect(await session.feed(ping('12345678'))).toEqual(['PING ack', 'GOAWAY 0 ENHANCE_YOUR_CALM'])
  })

  test('P-26: are not limited with a stream, nor every ten seconds', async () => {
    const session = await open()
    for (let count = 0; count < 10; count += 1) {
      session.nowMs += 10_000
      expect(await session.feed(ping('12345678'))).toEqual(['PING ack'])
    }
    await session.feed(headers(1, post, END_HEADERS))
    for (let count = 0; count < 10; count += 1) expect(await session.feed(ping('12345678'))).toEqual(['PING ack'])
  })
})

test('P-26: too many frames that transfer nothing of a request end the connection', async () => {
  const session = await open({ onStream: unanswered })
  await session.feed(headers(1, post, END_HEADERS))
  const frames = Buffer.concat(new Array(9_999).fill(settings()))
  expect(new Set(await session.feed(frames))).toEqual(new Set(['SETTINGS ack']))
  expect(await session.feed(settings())).toEqual(['GOAWAY 1 ENHANCE_YOUR_CALM'])
})

describe('too many resets', () => {
  const idOf = (count: number) => 2 * count + 1
  const flood = async (frames: (id: number) => Buffer[]): Promise<[requests: number, last: string | undefined]> => {
    const session = await open({ onStream: unanswered })
    for (let count = 0; count < 1_100; count += 1) {
      const sent = await session.feed(Buffer.concat(frames(idOf(count))))
      if (session.session.destroyed) return [count, sent.at(-1)]
    }
    return [Number.POSITIVE_INFINITY, undefined]
  }

  test.each<[string, (id: number) => Buffer[]]>([
    ['of the client', (id) => [headers(id, get), rst(id)]],
    ['because of malformed requests', (id) => [headers(id, [...get, ['X', '']])]],
    ['because of updates of 0', (id) => [headers(id, get), update(id, 0)]],
    ['because of DATA on ended streams', (id) => [headers(id, get), data(id, 'a')]],
    ['because of HEADERS on ended streams', (id) => [headers(id, get), headers(id, get)]],
    ['because of wrong lengths', (id) => [headers(id, [...post, ['content-length', '1']])]],
    ['because of PRIORITY', (id) => [headers(id, get), frame(PRIORITY_TYPE, 0, id, '')]],
  ])('%s end the connection', async (_, frames) => {
    const [requests, last] = await flood(frames)
    expect(requests).toBe(1_000)
    expect(last).toMatch(/^GOAWAY \d+ ENHANCE_YOUR_CALM$/)
  })
})

describe('closing', () => {
  test('refuses further streams, and ends the connection after the open ones', async () => {
    const session = await open()
    await session.feed(headers(1, post, END_HEADERS), headers(3, post, END_HEADERS))
    session.session.close()
    session.session.close()
    expect(await session.feed(headers(5, get))).toEqual(['GOAWAY 3 NO_ERROR', 'RST_STREAM 5 REFUSED_STREAM'])
    expect(await session.feed(data(1, 'a', END_STREAM))).toEqual(['HEADERS 1', 'DATA 1 2 end'])
    expect(session.session.destroyed).toBe(false)
    expect(await session.feed(data(3, 'b', END_STREAM))).toEqual(['HEADERS 3', 'DATA 3 2 end'])
    expect(session.socket.destroyed).toBe(true)
    expect(session.seen.map(({ ending }) => ending)).toEqual(['end, close', 'end, close'])
  })

  test('ends a connection without streams at once', async () => {
    const session = await open()
    session.session.close()
    expect(await session.feed()).toEqual(['GOAWAY 0 NO_ERROR'])
    expect(session.socket.destroyed).toBe(true)
  })

  test('after a first GOAWAY serves the streams that were under way', async () => {
    const session = await open()
    session.session.goaway(ErrorCode.NO_ERROR, MAX_WINDOW)
    expect(await session.feed(headers(1, get))).toEqual([`GOAWAY ${MAX_WINDOW} NO_ERROR`, 'HEADERS 1', 'DATA 1 2 end'])
  })

  test('does not announce a higher stream later', async () => {
    const session = await open({ onStream: unanswered })
    await session.feed(headers(1, get))
    session.session.close()
    expect(await session.feed(headers(9, get), data(11, ''))).toEqual([
      'GOAWAY 1 NO_ERROR',
      'RST_STREAM 9 REFUSED_STREAM',
      'GOAWAY 1 PROTOCOL_ERROR',
    ])
  })

  test.each(['end', 'close'])('by the client (%s) aborts the open streams', async (event) => {
    const session = await open()
    await session.feed(headers(1, post, END_HEADERS), headers(3, post, END_HEADERS))
    session.socket.emit(event)
    expect(session.seen.map(({ stream, ending }) => [stream.aborted, ending])).toEqual([
      [true, 'close'],
      [true, 'close'],
    ])
    expect(session.ended).toBe(2)
    expect(session.session.destroyed).toBe(true)
  })
})

describe('a handler that throws', () => {
  const fault = new Error('fault of the handler')

  test.each<[string, (stream: ServerStream) => void]>([
    [
      'at the beginning',
      () => {
        throw fault
      },
    ],
    ...(['data', 'end'] as const).map((event): [string, (stream: ServerStream) => void] => [
      `at \`${event}\``,
      (stream) => {
        stream.on(event, () => {
          throw fault
        })
      },
    ]),
  ])('%s ends the connection', async (_, onStream) => {
    const session = await open({ onStream: (stream) => stream.id === 3 && onStream(stream) })
    const sent = await session.feed(
      headers(1, post, END_HEADERS),
      headers(3, post, END_HEADERS),
      data(3, 'a'),
      data(3, '', END_STREAM),
    )
    expect(sent).toEqual(['GOAWAY 3 INTERNAL_ERROR'])
    expect(session.failures).toEqual([fault])
    expect(session.request(1).ending).toBe('close')
    expect(session.ended).toBe(2)
  })
})

test('a handler that throws after `resume` ends the connection', async () => {
  const session = await open({
    onStream: (stream) => {
      stream.pause()
      stream.on('data', () => {
        throw new Error('fault of the handler')
      })
    },
  })
  await session.feed(headers(1, post, END_HEADERS), data(1, 'a'))
  session.request(1).stream.resume()
  expect(await session.feed()).toEqual(['GOAWAY 1 INTERNAL_ERROR'])
  expect(session.failures).toHaveLength(1)
})

test('aborts all streams even if handlers throw', async () => {
  const session = await open({
    onStream: (stream) => {
      stream.on('close', () => {
        throw new Error('fault of the handler')
      })
    },
  })
  await session.feed(headers(1, post, END_HEADERS), headers(3, post, END_HEADERS))
  expect(await session.feed(rst(1))).toEqual(['GOAWAY 3 INTERNAL_ERROR'])
  expect(session.failures).toHaveLength(2)
  expect(session.ended).toBe(2)
})

test('sweeps the time limits of its streams', async () => {
  const late: number[] = []
  const session = await open({ onStream: (stream) => stream.setTimeout(1_000, () => late.push(stream.id)) })
  await session.feed(headers(1, post, END_HEADERS))
  session.nowMs += 500
  await session.feed(headers(3, post, END_HEADERS), data(1, 'a'))
  session.nowMs += 999
  session.session.sweep(session.nowMs)
  expect(late).toEqual([])
  await session.feed(data(3, 'a'), data(1, ''))
  session.nowMs += 1
  session.session.sweep(session.nowMs)
  expect(late).toEqual([1])
})

test('reads frames in the same way however they are divided', async () => {
  const body = fc.uint8Array({ maxLength: 300 })
  const request = fc.record({
    body,
    parts: fc.integer({ min: 1, max: 4 }),
    padding: fc.integer({ min: 0, max: 5 }),
    hasTrailers: fc.boolean(),
    value: fc.string({ unit: 'grapheme-ascii', maxLength: 20 }).map((text) => `a${text}b`),
  })
  const requests = fc.array(request, { minLength: 1, maxLength: 4 })
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })

  const framesOf = (list: readonly (typeof request extends fc.Arbitrary<infer Value> ? Value : never)[]): Buffer =>
    Buffer.concat([
      greeting,
      ...list.flatMap(({ body, parts, padding, hasTrailers, value }, index) => {
        const id = 2 * index + 1
        const head = block([...post, ['x', value]])
        const step = Math.ceil(body.length / parts) || 1
        const frames = [
          frame(HEADERS, 0, id, head.subarray(0, 7)),
          frame(CONTINUATION, END_HEADERS, id, head.subarray(7)),
          frame(PING, 0, 0, 'pingping'),
        ]
        for (let at = 0; at < body.length; at += step) {
          const content = [Uint8Array.of(padding), body.subarray(at, at + step), Buffer.alloc(padding)]
          frames.push(frame(DATA, PADDED, id, Buffer.concat(content)), frame(0xee, 0, 0, 'unknown'))
        }
        frames.push(hasTrailers ? headers(id, [['x', 'y']]) : data(id, '', END_STREAM))
        return frames
      }),
    ])
  const result = async (pieces: readonly Buffer[]) => {
    const session = new TestSession({ isGreeted: false })
    // The order of the answers to different streams may differ, because short pieces of a body are joined.
    const frames = await session.framesAfter(...pieces)
    const sent = frames.toSorted((one, other) => one.stream - other.stream).map(textOf)
    const seen = session.seen.map(({ id, head, hasBody, ending }) => [
      id,
      head.rawHeaders,
      hasBody,
      ending,
      session.bodyOf(id),
    ])
    expect(session.failures).toEqual([])
    return { seen, sent }
  }
  await fc.assert(
    fc.asyncProperty(requests, cuts, async (list, places) => {
      const bytes = framesOf(list)
      const whole = await result([bytes])
      expect(whole.seen.map((seen) => seen[3])).toEqual(list.map(() => 'end, close'))
      expect(await result(Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(whole)
      const at = [0, ...places.map((place) => Math.floor(place * bytes.length)), bytes.length].sort((a, b) => a - b)
      expect(await result(at.slice(1).map((end, index) => bytes.subarray(at[index], end)))).toEqual(whole)
    }),
    { numRuns: 60 },
  )
})

describe('a client of node:http2', () => {
  async function request(settings: { headerTableSize?: number; initialWindowSize?: number }): Promise<string> {
    const server = createServer((socket) => {
      const hold = { holdReading: () => socket.pause(), releaseReading: () => socket.resume() }
      const handler = {
        streamBegan: (stream: ServerStream) => {
          stream.on('end', () => {
            stream.respond({ ':status': 200, 'x-a': 'b' })
            stream.end(Buffer.alloc(100_000, 'a'))
          })
        },
        streamEnded: () => {},
        failed: (error: unknown) => {
          throw error
        },
      }
      new ServerSession(socket, hold, handler, { maxStreams: 10, clock: systemClock, unsent: new UnsentBudget() })
      socket.on('error', () => {})
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { settings })
    onTestFinished(() => {
      client.destroy()
      server.close()
    })
    await once(client, 'localSettings')
    const stream = client.request({ ':method': 'POST' })
    stream.end(Buffer.alloc(300_000))
    let bytes = 0
    stream.on('data', (part: Buffer) => {
      bytes += part.length
    })
    const [{ ':status': status }] = (await once(stream, 'response', { signal: AbortSignal.timeout(10_000) })) as [
      { ':status': number },
    ]
    await once(stream, 'close')
    return `${status}, ${bytes} bytes`
  }

  test.each([
    {},
    { headerTableSize: 0 },
    { headerTableSize: 1_024 },
    { headerTableSize: 65_536 },
    { initialWindowSize: 100 },
  ])('with the settings %j is served', async (settings) => {
    expect(await request(settings)).toBe('200, 100000 bytes')
  })
})

test('writes the answers of one turn together', async () => {
  const session = await open()
  const writes: number[] = []
  const write = session.socket.write.bind(session.socket)
  session.socket.write = (part) => {
    writes.push(part.length)
    return write(part)
  }
  session.socket.emit('data', Buffer.concat([1, 3, 5].map((id) => headers(id, get))))
  await nextTurn()
  expect(writes).toHaveLength(1)
})
