import { once } from 'node:events'
import { connect } from 'node:http2'
import { type AddressInfo, createServer } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '@penstock/runtime'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { ErrorCode, FrameType, PREFACE, Setting, uint32 } from './frames.ts'
import {
  answerAtEnd,
  block,
  COMPLETE,
  data,
  END_HEADERS,
  END_STREAM,
  type Field,
  frame,
  get,
  greeting,
  headers,
  PADDED,
  PRIORITY,
  post,
  rst,
  settings,
  TestSession,
  type TestSessionOptions,
  textOf,
  update,
} from './server-session.harness.ts'
import { ServerSession } from './server-session.ts'
import type { ServerStream } from './server-stream.ts'
import { UnsentBudget } from './unsent-budget.ts'

const { DATA, HEADERS, CONTINUATION, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, RST_STREAM, PUSH_PROMISE } = FrameType
const PRIORITY_TYPE = FrameType.PRIORITY
const STREAM_WINDOW = 65_535
const CONNECTION_WINDOW = 1024 * 1024
const MAX_WINDOW = 2 ** 31 - 1

const unanswered = (): void => {}
const open = (options?: TestSessionOptions): Promise<TestSession> => new TestSession(options).ready()
/** Returns the frames without those that return windows. */
const withoutUpdates = (frames: readonly string[]): string[] => frames.filter((text) => !text.startsWith('WINDOW'))

/** Opens a session in which stream 1 has no end yet, 3 waits for its answer, 5 was answered, and 7 was reset by its client. */
async function openWithStreams(): Promise<TestSession> {
  const session = await open({ onStream: (stream) => stream.id !== 3 && answerAtEnd(stream) })
  await session.feed(
    headers(1, post, END_HEADERS),
    headers(3, get),
    headers(5, get),
    headers(7, post, END_HEADERS),
    rst(7),
  )
  expect(session.seen.map(({ ending }) => ending)).toEqual(['', 'end', 'end, close', 'close'])
  return session
}

describe('a greeting', () => {
  test('is answered with SETTINGS and the window of the connection', async () => {
    const session = new TestSession({ isGreeted: false, maxStreams: 7 })
    const [first, second] = await session.framesAfter()
    expect(first!.payload.toString('hex')).toBe(`0003${'00000007'}0006${'00010000'}`)
    expect(textOf(second!)).toBe(`WINDOW_UPDATE 0 ${CONNECTION_WINDOW - STREAM_WINDOW}`)
    expect(await session.feed(greeting)).toEqual(['SETTINGS ack'])
  })

  test.each<[string, Buffer]>([
    ['HTTP/1.1', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['a damaged preface', Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\r')],
    ['a damaged beginning', Buffer.from('PRX')],
    ['a request before SETTINGS', Buffer.concat([PREFACE, headers(1, get)])],
    ['SETTINGS ack before SETTINGS', Buffer.concat([PREFACE, frame(SETTINGS, 1, 0)])],
    ['a frame of an unknown type before SETTINGS', Buffer.concat([PREFACE, frame(0xee, 0, 0)])],
  ])('fails with %s', async (_, bytes) => {
    const session = await open({ isGreeted: false })
    expect(await session.feed(bytes)).toEqual(['GOAWAY 0 PROTOCOL_ERROR'])
    expect(session.socket.destroyed).toBe(true)
  })
})

describe('ends the connection because of', () => {
  const priority = uint32(1)
  test.each<[name: string, error: keyof typeof ErrorCode, ...bytes: Buffer[]]>([
    ['a frame that is too long', 'FRAME_SIZE_ERROR', frame(0xee, 0, 0, Buffer.alloc(16_385))],
    ['DATA on stream 0', 'PROTOCOL_ERROR', data(0, 'a')],
    ['DATA on an idle stream', 'PROTOCOL_ERROR', data(9, 'a')],
    ['DATA on an even stream', 'PROTOCOL_ERROR', data(2, 'a')],
    ['DATA with more padding than payload', 'PROTOCOL_ERROR', data(1, '\x02a', PADDED)],
    ['DATA with as much padding as payload', 'PROTOCOL_ERROR', data(1, '\x01', PADDED)],
    ['padded DATA without a length of padding', 'PROTOCOL_ERROR', data(1, '', PADDED)],
    ['HEADERS on stream 0', 'PROTOCOL_ERROR', headers(0, get)],
    ['HEADERS on an even stream', 'PROTOCOL_ERROR', headers(10, get)],
    ['HEADERS with too much padding', 'PROTOCOL_ERROR', frame(HEADERS, COMPLETE | PADDED, 9, '\x05\x82')],
    ['padded HEADERS without a length', 'FRAME_SIZE_ERROR', frame(HEADERS, COMPLETE | PADDED, 9)],
    ['HEADERS with half a priority', 'FRAME_SIZE_ERROR', frame(HEADERS, COMPLETE | PRIORITY, 9, '\0\0\0\0')],
    ['HEADERS on a stream that was answered', 'STREAM_CLOSED', headers(5, get)],
    ['HEADERS on a stream that its client has reset', 'STREAM_CLOSED', headers(7, get)],
    ['an invalid header block', 'COMPRESSION_ERROR', frame(HEADERS, COMPLETE, 9, '\x80')],
    ['an invalid block of trailers', 'COMPRESSION_ERROR', frame(HEADERS, COMPLETE, 1, '\xff\xff\xff\xff\xff\xff')],
    ['CONTINUATION without HEADERS', 'PROTOCOL_ERROR', frame(CONTINUATION, END_HEADERS, 1)],
    ['CONTINUATION after a complete block', 'PROTOCOL_ERROR', frame(CONTINUATION, END_HEADERS, 3)],
    ['CONTINUATION on stream 0', 'PROTOCOL_ERROR', headers(9, get, 0), frame(CONTINUATION, END_HEADERS, 0)],
    ['CONTINUATION on another stream', 'PROTOCOL_ERROR', headers(9, get, 0), frame(CONTINUATION, END_HEADERS, 11)],
    ['DATA within a block', 'PROTOCOL_ERROR', headers(9, get, 0), data(1, 'a')],
    ['HEADERS within a block', 'PROTOCOL_ERROR', headers(9, get, 0), headers(9, get)],
    ['PING within a block', 'PROTOCOL_ERROR', headers(9, get, 0), frame(PING, 0, 0, Buffer.alloc(8))],
    ['an unknown frame within a block', 'PROTOCOL_ERROR', headers(9, get, 0), frame(0xee, 0, 9)],
    ['PRIORITY on stream 0', 'PROTOCOL_ERROR', frame(PRIORITY_TYPE, 0, 0, `${priority}\0`)],
    ['RST_STREAM on stream 0', 'PROTOCOL_ERROR', rst(0)],
    ['RST_STREAM on an idle stream', 'PROTOCOL_ERROR', rst(9)],
    ['RST_STREAM of 3 bytes', 'FRAME_SIZE_ERROR', frame(RST_STREAM, 0, 1, '\0\0\0')],
    ['SETTINGS on a stream', 'PROTOCOL_ERROR', frame(SETTINGS, 0, 1)],
    ['SETTINGS of 5 bytes', 'FRAME_SIZE_ERROR', frame(SETTINGS, 0, 0, '\0\0\0\0\0')],
    ['SETTINGS ack with a payload', 'FRAME_SIZE_ERROR', frame(SETTINGS, 1, 0, '\0\0\0\0\0\0')],
    ['ENABLE_PUSH of 2', 'PROTOCOL_ERROR', settings([Setting.ENABLE_PUSH, 2])],
    ['an initial window of 2³¹', 'FLOW_CONTROL_ERROR', settings([Setting.INITIAL_WINDOW_SIZE, 2 ** 31])],
    ['a frame size below 16,384', 'PROTOCOL_ERROR', settings([Setting.MAX_FRAME_SIZE, 16_383])],
    ['a frame size of 2²⁴', 'PROTOCOL_ERROR', settings([Setting.MAX_FRAME_SIZE, 2 ** 24])],
    ['PUSH_PROMISE', 'PROTOCOL_ERROR', frame(PUSH_PROMISE, END_HEADERS, 1, `\0\0\0\x02\x82`)],
    ['PING on a stream', 'PROTOCOL_ERROR', frame(PING, 0, 1, Buffer.alloc(8))],
    ['PING of 7 bytes', 'FRAME_SIZE_ERROR', frame(PING, 0, 0, Buffer.alloc(7))],
    ['GOAWAY on a stream', 'PROTOCOL_ERROR', frame(GOAWAY, 0, 1, Buffer.alloc(8))],
    ['GOAWAY of 7 bytes', 'FRAME_SIZE_ERROR', frame(GOAWAY, 0, 0, Buffer.alloc(7))],
    ['WINDOW_UPDATE of 3 bytes', 'FRAME_SIZE_ERROR', frame(WINDOW_UPDATE, 0, 0, '\0\0\0')],
    ['WINDOW_UPDATE on an idle stream', 'PROTOCOL_ERROR', update(9, 1)],
    ['WINDOW_UPDATE of 0 for the connection', 'PROTOCOL_ERROR', update(0, 0)],
    ['a window of the connection above 2³¹ - 1', 'FLOW_CONTROL_ERROR', update(0, MAX_WINDOW)],
    [
      'an initial window that makes the window of a stream too large',
      'FLOW_CONTROL_ERROR',
      update(1, MAX_WINDOW - STREAM_WINDOW),
      settings([Setting.INITIAL_WINDOW_SIZE, STREAM_WINDOW + 1]),
    ],
  ])('%s: %s', async (_, error, ...bytes) => {
    for (const pieces of [bytes, [Buffer.concat(bytes)]]) {
      const session = await openWithStreams()
      const answer = await session.feed(...pieces)
      expect(answer.filter((text) => text !== 'SETTINGS ack')).toEqual([`GOAWAY 7 ${error}`])
      expect(session.session.destroyed).toBe(true)
      expect(session.socket.writableEnded).toBe(true)
      expect(session.ended).toBe(session.seen.length)
      expect(session.seen.map(({ ending }) => ending)).toEqual(['close', 'end, close', 'end, close', 'close'])
      expect(session.failures).toEqual([])
      // Nothing is read after the end.
      expect(await session.feed(headers(21, get))).toEqual([])
      expect(session.seen).toHaveLength(4)
    }
  })
})

describe('ends a stream because of', () => {
  const withLength = (length: string): Field[] => [...post, ['content-length', length]]
  const onItself = `${uint32(9)}\0`
  test.each<[name: string, stream: number, error: keyof typeof ErrorCode, ...bytes: Buffer[]]>([
    ['DATA after its end', 3, 'STREAM_CLOSED', data(3, 'a')],
    ['DATA after its answer', 5, 'STREAM_CLOSED', data(5, 'a')],
    ['DATA after its reset', 7, 'STREAM_CLOSED', data(7, 'a')],
    ['HEADERS after its end', 3, 'STREAM_CLOSED', headers(3, get)],
    ['trailers that do not end it', 1, 'PROTOCOL_ERROR', headers(1, [['x', 'y']], END_HEADERS)],
    ['trailers with a pseudo-header', 1, 'PROTOCOL_ERROR', headers(1, [[':path', '/']])],
    ['trailers in upper case', 1, 'PROTOCOL_ERROR', headers(1, [['X', 'y']])],
    ['a malformed head', 9, 'PROTOCOL_ERROR', headers(9, [...get, ['X', 'y']])],
    ['a head with CR and LF', 9, 'PROTOCOL_ERROR', headers(9, [...get, ['x', 'y\r\nz: a']])],
    ['a head with Connection', 9, 'PROTOCOL_ERROR', headers(9, [...get, ['connection', 'close']])],
    ['more bytes than declared', 9, 'PROTOCOL_ERROR', headers(9, withLength('1'), END_HEADERS), data(9, 'ab')],
    [
      'more bytes in two frames',
      9,
      'PROTOCOL_ERROR',
      headers(9, withLength('1'), END_HEADERS),
      data(9, 'a'),
      data(9, 'b'),
    ],
    ['fewer bytes', 9, 'PROTOCOL_ERROR', headers(9, withLength('2'), END_HEADERS), data(9, 'a', END_STREAM)],
    [
      'fewer bytes and trailers',
      9,
      'PROTOCOL_ERROR',
      headers(9, withLength('2'), END_HEADERS),
      headers(9, [['x', 'y']]),
    ],
    ['a length without a body', 9, 'PROTOCOL_ERROR', headers(9, withLength('1'))],
    [
      'a length and an empty body',
      9,
      'PROTOCOL_ERROR',
      headers(9, withLength('1'), END_HEADERS),
      data(9, '', END_STREAM),
    ],
    [
      'a dependency on itself',
      9,
      'PROTOCOL_ERROR',
      frame(HEADERS, COMPLETE | PRIORITY, 9, Buffer.concat([Buffer.from(onItself, 'latin1'), block(get)])),
    ],
    ['PRIORITY on itself', 1, 'PROTOCOL_ERROR', frame(PRIORITY_TYPE, 0, 1, `${uint32(1)}\0`)],
    ['PRIORITY of 4 bytes', 1, 'FRAME_SIZE_ERROR', frame(PRIORITY_TYPE, 0, 1, uint32(1))],
    ['WINDOW_UPDATE of 0', 1, 'PROTOCOL_ERROR', update(1, 0)],
    ['a window above 2³¹ - 1', 1, 'FLOW_CONTROL_ERROR', update(1, MAX_WINDOW)],
    ['a list of too many fields', 9, 'ENHANCE_YOUR_CALM', headers(9, [...get, ...Array<Field>(125).fill(['x', ''])])],
    [
      'a list that is too long',
      9,
      'ENHANCE_YOUR_CALM',
      frame(HEADERS, END_STREAM, 9, block([...get, ['x', 'a'.repeat(9_000)]])),
      // An entry of the dynamic table, which is then repeated.
      frame(CONTINUATION, END_HEADERS, 9, `\x40\x01x\x7f\xe1\x13${'a'.repeat(2_656)}${'\xbe'.repeat(30)}`),
    ],
  ])('%s: stream %i, %s', async (_, stream, error, ...bytes) => {
    for (const pieces of [bytes, [Buffer.concat(bytes)]]) {
      const session = await openWithStreams()
      const answer = withoutUpdates(await session.feed(...pieces))
      expect(answer).toEqual([`RST_STREAM ${stream} ${error}`])
      expect(session.request(stream)?.ending ?? 'close').toMatch(/close$/)
      expect(session.session.destroyed).toBe(false)
      // The connection serves further requests.
      expect(await session.feed(headers(21, get))).toEqual(['HEADERS 21', 'DATA 21 2 end'])
      expect(session.failures).toEqual([])
    }
  })
})

test.each<[string, ...Buffer[]]>([
  ['frames of an unknown type', frame(0xee, 0xff, 9, 'abc'), frame(0xee, 0, 0)],
  ['SETTINGS ack', frame(SETTINGS, 1, 0)],
  ['PING ack', frame(PING, 1, 0, Buffer.alloc(8))],
  [
    'PRIORITY of streams in each state',
    ...[1, 3, 5, 7, 9, 2].map((id) => frame(PRIORITY_TYPE, 0, id, Buffer.alloc(5))),
  ],
  ['WINDOW_UPDATE of ended streams', update(5, 1), update(7, 0)],
  ['RST_STREAM of ended streams', rst(5), rst(7)],
  ['GOAWAY', frame(GOAWAY, 0, 0, Buffer.alloc(8))],
  ['unknown flags', data(1, 'a', 0xf6)],
  ['the reserved bit of the stream', frame(DATA, 0, 1, 'a').fill(0x80, 5, 6)],
])('ignores %s', async (_, ...bytes) => {
  const session = await openWithStreams()
  expect(await session.feed(...bytes)).toEqual([])
  expect(await session.feed(data(1, '', END_STREAM))).toEqual(['HEADERS 1', 'DATA 1 2 end'])
})

test.each<[string, Buffer]>([
  ['of a wrong length', frame(PRIORITY_TYPE, 0, 9, '\0\0')],
  ['on itself', frame(PRIORITY_TYPE, 0, 9, `${uint32(9)}\0`)],
])('does not reset an idle stream because of PRIORITY %s', async (_, bytes) => {
  const session = await openWithStreams()
  expect((await session.feed(bytes)).filter((text) => text.startsWith('RST'))).toEqual([])
})

test('ignores what arrives on a stream that the gateway has reset, until it ends', async () => {
  const session = await open({ onStream: (stream) => void stream.close(ErrorCode.CANCEL) })
  expect(await session.feed(headers(1, post, END_HEADERS))).toEqual(['RST_STREAM 1 CANCEL'])
  expect(await session.feed(data(1, 'a'), update(1, 5), headers(1, [['x', 'y']], END_HEADERS), data(1, 'b'))).toEqual(
    [],
  )
  expect(await session.feed(headers(1, [['x', 'y']]))).toEqual([])
  expect(await session.feed(data(1, 'c'))).toEqual(['RST_STREAM 1 STREAM_CLOSED'])
  expect(session.request(1)).toMatchObject({ ending: 'close', pieces: [] })
})

test('decodes header blocks that it does not use', async () => {
  const session = await open({ maxStreams: 0 })
  // The entry of the dynamic table comes with a refused stream.
  expect(await session.feed(frame(HEADERS, COMPLETE, 1, '\x82\x86\x84\x40\x01a\x01b'))).toEqual([
    'RST_STREAM 1 REFUSED_STREAM',
  ])
  expect(await session.feed(frame(HEADERS, COMPLETE, 3, '\x82\x86\x84\xbe'))).toEqual(['RST_STREAM 3 REFUSED_STREAM'])
  expect(await session.feed(frame(HEADERS, COMPLETE, 5, '\x82\x86\x84\xbf'))).toEqual(['GOAWAY 3 COMPRESSION_ERROR'])
})

test('refuses streams above the limit', async () => {
  const session = await open({ maxStreams: 2, onStream: (stream) => stream.id !== 1 && answerAtEnd(stream) })
  await session.feed(headers(1, get), headers(3, post, END_HEADERS))
  expect(await session.feed(headers(5, post, END_HEADERS), data(5, 'a', END_STREAM))).toEqual([
    'RST_STREAM 5 REFUSED_STREAM',
  ])
  expect(await session.feed(data(3, '', END_STREAM), headers(7, get))).toEqual([
    'HEADERS 3',
    'DATA 3 2 end',
    'HEADERS 7',
    'DATA 7 2 end',
  ])
  expect(session.seen.map(({ id }) => id)).toEqual([1, 3, 7])
})

describe('padding', () => {
  test.each([0, 1, 255])('of %i bytes is not a part of the content', async (bytes) => {
    const session = await open()
    const length = String.fromCharCode(bytes)
    const padding = Buffer.alloc(bytes)
    const head = Buffer.concat([Buffer.from(length, 'latin1'), block([...post, ['content-length', '3']]), padding])
    await session.feed(frame(HEADERS, END_HEADERS | PADDED, 1, head))
    await session.feed(
      data(1, `${length}abc${padding.toString('latin1')}`, PADDED),
      data(1, `${length}${padding}`, PADDED),
    )
    expect(await session.feed(data(1, `${length}${padding}`, PADDED | END_STREAM))).toEqual([
      'HEADERS 1',
      'DATA 1 2 end',
    ])
    expect(session.bodyOf(1)).toBe('abc')
  })

  test('is returned to the windows', async () => {
    const session = await open()
    await session.feed(headers(1, post, END_HEADERS))
    const padded = Buffer.alloc(256)
    padded[0] = 255
    let returned = 0
    for (let count = 0; count < 1_000; count += 1) {
      for (const text of await session.feed(data(1, padded, PADDED))) {
        if (text.startsWith('WINDOW_UPDATE 1 ')) returned += Number(text.split(' ')[2])
      }
    }
    expect(returned).toBeGreaterThan(256_000 - STREAM_WINDOW)
    expect(session.request(1).pieces).toEqual([])
  })
})

describe('CONTINUATION', () => {
  const fields: Field[] = [...get, ['x', 'y'.repeat(40)]]
  const whole = block(fields)

  test('may begin at every place of a block', async () => {
    const session = await open()
    for (let at = 0; at <= whole.length; at += 1) {
      const id = 2 * at + 1
      expect(
        await session.feed(
          frame(HEADERS, END_STREAM, id, whole.subarray(0, at)),
          frame(CONTINUATION, END_HEADERS, id, whole.subarray(at)),
        ),
      ).toEqual([`HEADERS ${id}`, `DATA ${id} 2 end`])
      expect(session.request(id).head.rawHeaders).toEqual(fields.flat())
    }
  })

  const inParts = (count: number): Buffer[] => [
    headers(1, get, END_STREAM),
    ...Array.from({ length: count }, (_, at) => frame(CONTINUATION, at === count - 1 ? END_HEADERS : 0, 1)),
  ]

  test('may be repeated 15 times', async () => {
    expect(await (await open()).feed(...inParts(15))).toEqual(['HEADERS 1', 'DATA 1 2 end'])
    expect(await (await open()).feed(...inParts(16))).toEqual(['GOAWAY 0 ENHANCE_YOUR_CALM'])
  })

  test('may make a block of 64 KiB', async () => {
    const part = (flags: number, bytes: number) => frame(CONTINUATION, flags, 1, Buffer.alloc(bytes, 0x82))
    const begin = frame(HEADERS, END_STREAM, 1, Buffer.alloc(16_384, 0x82))
    const full = [begin, part(0, 16_384), part(0, 16_384)]
    expect(await (await open()).feed(...full, part(END_HEADERS, 16_384))).toEqual(['RST_STREAM 1 ENHANCE_YOUR_CALM'])
    expect(await (await open()).feed(...full, part(0, 16_384), part(END_HEADERS, 1))).toEqual([
      'GOAWAY 0 ENHANCE_YOUR_CALM',
    ])
  })
})

describe('the window for the client', () => {
  test('of a stream is not returned while the handler does not take the body', async () => {
    const session = await open({ onStream: (stream) => stream.pause() })
    await session.feed(headers(1, post, END_HEADERS))
    const parts = [16_384, 16_384, 16_384, 16_383].map((bytes) => data(1, Buffer.alloc(bytes, 'a')))
    expect(await session.feed(...parts)).toEqual([])
    expect(session.request(1).pieces).toEqual([])
    session.request(1).stream.resume()
    const updates = await session.feed()
    expect(updates).toEqual(['WINDOW_UPDATE 1 32768'])
    expect(session.bodyOf(1)).toHaveLength(STREAM_WINDOW)
    expect(await session.feed(data(1, Buffer.alloc(16_384)), data(1, Buffer.alloc(16_384)))).toEqual([
      'WINDOW_UPDATE 1 49151',
    ])
  })

  test('of a stream must be kept', async () => {
    const session = await open({ onStream: (stream) => (stream.id === 1 ? stream.pause() : answerAtEnd(stream)) })
    await session.feed(headers(1, post, END_HEADERS))
    const part = data(1, Buffer.alloc(16_384))
    expect(await session.feed(part, part, part)).toEqual([])
    expect(await session.feed(part)).toEqual(['RST_STREAM 1 FLOW_CONTROL_ERROR'])
    expect(session.request(1).ending).toBe('close')
    // What the client had already sent is ignored.
    expect(withoutUpdates(await session.feed(part, data(1, 'a', END_STREAM)))).toEqual([])
    expect(await session.feed(headers(3, get))).toEqual(['HEADERS 3', 'DATA 3 2 end'])
  })

  test('of the connection is returned even if streams are paused or were reset', async () => {
    const session = await open({ onStream: (stream) => (stream.id === 1 ? stream.close() : stream.pause()) })
    await session.feed(headers(1, post, END_HEADERS))
    let returned = 0
    for (let count = 0; count < 1_000; count += 1) {
      for (const text of await session.feed(data(1, Buffer.alloc(16_384)))) {
        expect(text).toMatch(/^WINDOW_UPDATE 0 /)
        returned += Number(text.split(' ')[2])
      }
    }
    expect(returned).toBeGreaterThan(1_000 * 16_384 - CONNECTION_WINDOW)
  })

  test('is returned for every body, so that none stops', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 16_384 }), { maxLength: 40 }), async (sizes) => {
        const session = await open()
        await session.feed(headers(1, post, END_HEADERS))
        let window = STREAM_WINDOW
        for (const size of sizes) {
          if (size > window) throw new Error(`only ${window} bytes may be sent`)
          window -= size
          for (const text of await session.feed(data(1, Buffer.alloc(size)))) {
            const [, stream, bytes] = text.split(' ')
            if (stream === '1') window += Number(bytes)
          }
        }
      }),
      { numRuns: 30 },
    )
  })
})

describe('an answer', () => {
  /** Answers with a body of this length, in pieces. */
  const answering =
    (bytes: number, pieces = 1) =>
    (stream: ServerStream): void => {
      stream.respond({ ':status': 200 }, { sendDate: false })
      for (let at = 0; at < pieces; at += 1) stream.write(Buffer.alloc(bytes / pieces, 'a'))
      stream.end()
    }
  const bytesOf = (frames: readonly string[]): number =>
    frames.reduce((sum, text) => sum + (text.startsWith('DATA') ? Number(text.split(' ')[2]) : 0), 0)

  test('that is larger than the windows continues with each update', async () => {
    const session = await open({ onStream: answering(200_000) })
    const first = await session.feed(headers(1, get))
    expect(first).toEqual(['HEADERS 1', ...Array(3).fill('DATA 1 16384'), 'DATA 1 16383'])
    expect(await session.feed(update(1, 10))).toEqual([])
    expect(await session.feed(update(0, 6))).toEqual(['DATA 1 6'])
    expect(await session.feed(update(0, 6))).toEqual(['DATA 1 4'])
    expect(await session.feed(update(1, MAX_WINDOW - 100))).toEqual(['DATA 1 2'])
    const rest = await session.feed(update(0, 1_000_000))
    expect(bytesOf(rest)).toBe(200_000 - STREAM_WINDOW - 12)
    expect(rest.at(-1)).toMatch(/ end$/)
    expect(session.request(1).ending).toBe('end, close')
  })

  test('waits with an initial window of 0', async () => {
    const session = await open({ onStream: answering(5) })
    await session.feed(settings([Setting.INITIAL_WINDOW_SIZE, 0]))
    expect(await session.feed(headers(1, get), headers(3, get))).toEqual(['HEADERS 1', 'HEADERS 3'])
    expect(await session.feed(update(3, 4))).toEqual(['DATA 3 4'])
    expect(await session.feed(settings([Setting.INITIAL_WINDOW_SIZE, 1]))).toEqual([
      'SETTINGS ack',
      'DATA 1 1',
      'DATA 3 1 end',
    ])
    expect(await session.feed(settings([Setting.INITIAL_WINDOW_SIZE, 10]))).toEqual(['SETTINGS ack', 'DATA 1 4 end'])
  })

  test('is not tried again when the window of the connection, which was open, grows', async () => {
    const session = await open({ onStream: answering(5) })
    await session.feed(settings([Setting.INITIAL_WINDOW_SIZE, 0]), headers(1, get), headers(3, get))
    const sendBody = vi.spyOn(session.session, 'sendBody')
    expect(await session.feed(update(0, 1), update(0, 1), update(0, 1))).toEqual([])
    expect(sendBody).not.toHaveBeenCalled()
    expect(await session.feed(update(3, 5))).toEqual(['DATA 3 5 end'])
  })

  test('without a body needs no window', async () => {
    const session = await open({ onStream: answering(0) })
    await session.feed(settings([Setting.INITIAL_WINDOW_SIZE, 0]))
    expect(await session.feed(headers(1, get))).toEqual(['HEADERS 1', 'DATA 1 0 end'])
  })

  test('waits until a window that SETTINGS have made negative is positive', async () => {
    const session = await open({ onStream: answering(100_000) })
    await session.feed(update(0, MAX_WINDOW - STREAM_WINDOW))
    await session.feed(headers(1, get))
    expect(await session.feed(settings([Setting.INITIAL_WINDOW_SIZE, 0]))).toEqual(['SETTINGS ack'])
    expect(await session.feed(update(1, STREAM_WINDOW))).toEqual([])
    expect(await session.feed(update(1, 1))).toEqual(['DATA 1 1'])
    expect(await session.feed(settings([Setting.INITIAL_WINDOW_SIZE, 2]))).toEqual(['SETTINGS ack', 'DATA 1 2'])
  })

  test('uses the last of several windows in one SETTINGS frame', async () => {
    const session = await open({ onStream: answering(5) })
    await session.feed(settings([Setting.INITIAL_WINDOW_SIZE, 0], [Setting.INITIAL_WINDOW_SIZE, 3]))
    expect(await session.feed(headers(1, get))).toEqual(['HEADERS 1', 'DATA 1 3'])
  })

  test('of many pieces arrives in their order', async () => {
    const session = await open({
      onStream: (stream) => {
        stream.respond({ ':status': 200 }, { sendDate: false })
        for (let at = 0; at < 100; at += 1) stream.write(Buffer.from(String.fromCharCode(at).repeat(at * 40), 'latin1'))
        stream.end(Buffer.from('end'))
      },
    })
    const frames = await session.framesAfter(headers(1, get), update(1, 1_000_000), update(0, 1_000_000))
    const body = Buffer.concat(frames.filter(({ type }) => type === DATA).map(({ payload }) => payload))
    const expected = Array.from({ length: 100 }, (_, at) => String.fromCharCode(at).repeat(at * 40)).join('')
    expect(body.toString('latin1')).toBe(`${expected}end`)
  })

  test('with trailers ends with them, after the body', async () => {
    const session = await open({
      onStream: (stream) => {
        stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
        stream.respond({ ':status': 200 }, { waitForTrailers: true, sendDate: false })
        stream.end(Buffer.alloc(5))
      },
    })
    await session.feed(settings([Setting.INITIAL_WINDOW_SIZE, 2]))
    expect(await session.feed(headers(1, get))).toEqual(['HEADERS 1', 'DATA 1 2'])
    expect(await session.feed(update(1, 3))).toEqual(['DATA 1 3', 'HEADERS 1 end'])
  })

  test('with long headers is divided', async () => {
    const session = await open({
      onStream: (stream) => stream.respond({ ':status': 200, x: 'a'.repeat(40_000) }, { endStream: true }),
    })
    expect(await session.feed(headers(1, get))).toEqual(['HEADERS 1 end', 'CONTINUATION 1', 'CONTINUATION 1'])
  })

  test('before the end of the request leaves the stream open', async () => {
    const session = await open({ onStream: (stream) => answering(2)(stream) })
    expect(await session.feed(headers(1, post, END_HEADERS))).toEqual(['HEADERS 1', 'DATA 1 2', 'DATA 1 0 end'])
    expect(session.ended).toBe(0)
    expect(await session.feed(data(1, 'a', END_STREAM))).toEqual([])
    expect(session.bodyOf(1)).toBe('a')
    expect(session.request(1).ending).toBe('end, close')
  })

  test('is not sent after a reset of the stream', async () => {
    const session = await open({ onStream: unanswered })
    await session.feed(headers(1, get), rst(1))
    answering(5)(session.request(1).stream)
    expect(await session.feed()).toEqual([])
  })

  test('is discarded with the stream that waits for a window', async () => {
    const session = await open({ onStream: answering(100_000) })
    await session.feed(headers(1, get), rst(1), update(0, 100_000))
    expect(session.request(1).stream.unsent).toEqual([])
    expect(await session.feed(update(0, 1))).toEqual([])
    expect(await session.feed(headers(3, get))).not.toEqual([])
  })

  test('counts while it waits, and ends its stream if too much waits already', async () => {
    const unsent = new UnsentBudget(250_000)
    const session = await open({ onStream: answering(100_000), unsent })
    await session.feed(settings([Setting.INITIAL_WINDOW_SIZE, 0]), headers(1, get), headers(3, get))
    expect(unsent.heldBytes).toBe(200_000)
    expect(await session.feed(headers(5, get))).toEqual(['HEADERS 5', 'RST_STREAM 5 ENHANCE_YOUR_CALM'])
    await session.feed(update(1, 40_000))
    expect(unsent.heldBytes).toBe(160_000)
    await session.feed(update(3, 100_000), update(0, 1_000_000))
    expect(unsent.heldBytes).toBe(60_000)
    await session.feed(rst(1))
    expect(unsent.heldBytes).toBe(0)
  })

  test('makes the connection wait while the socket is full, with one listener', async () => {
    const session = await open({ onStream: answering(200_000, 10) })
    await session.feed(update(0, MAX_WINDOW - STREAM_WINDOW), settings([Setting.INITIAL_WINDOW_SIZE, 1_000_000]))
    session.socket.isFull = true
    await session.feed(headers(1, get))
    expect(session.holds.at(-1)).toBe('hold unsent')
    expect(session.socket.listenerCount('drain')).toBe(1)
    session.socket.isFull = false
    session.socket.emit('drain')
    expect(session.holds.at(-1)).toBe('release unsent')
    expect(session.socket.listenerCount('drain')).toBe(0)
  })
})

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

describe('a paused stream', () => {
  test('keeps its data, and ends after it was delivered', async () => {
    const session = await open({
      onStream: (stream) => {
        stream.pause()
        answerAtEnd(stream)
      },
    })
    const parts = ['a', 'b', 'c'].map((letter) => letter.repeat(8_000))
    await session.feed(headers(1, post, END_HEADERS), ...parts.map((part) => data(1, part)), data(1, '', END_STREAM))
    const { stream, pieces } = session.request(1)
    stream.on('data', () => stream.pause())
    expect(pieces).toEqual([])
    for (let count = 1; count <= 3; count += 1) {
      stream.resume()
      expect(withoutUpdates(await session.feed())).toEqual([])
      expect(session.bodyOf(1)).toBe(parts.slice(0, count).join(''))
    }
    stream.resume()
    expect(await session.feed()).toEqual(['HEADERS 1', 'DATA 1 2 end'])
  })

  test('does not hold a much larger allocation', async () => {
    const session = await open({ onStream: (stream) => stream.pause() })
    await session.feed(headers(1, post, END_HEADERS))
    const large = Buffer.alloc(32 * 1024)
    data(1, Buffer.alloc(600)).copy(large, 100)
    await session.feed(large.subarray(100, 100 + 9 + 600))
    session.request(1).stream.resume()
    await session.feed()
    const [piece] = session.request(1).pieces
    expect([piece?.length, piece?.buffer === large.buffer]).toEqual([600, false])
  })

  test('joins short pieces, each of which would need much more memory than its content', async () => {
    const session = await open({ onStream: (stream) => stream.pause() })
    await session.feed(headers(1, post, END_HEADERS))
    const part = Buffer.concat(Array.from({ length: 5_000 }, () => data(1, 'a')))
    for (let count = 0; count < 13; count += 1) session.socket.emit('data', part)
    session.request(1).stream.resume()
    await session.feed()
    expect(session.bodyOf(1)).toBe('a'.repeat(65_000))
    expect(session.request(1).pieces.length).toBeLessThan(2_000)
  })

  test('does not stop the others', async () => {
    const session = await open({
      onStream: (stream) => {
        if (stream.id === 1) stream.pause()
        answerAtEnd(stream)
      },
    })
    await session.feed(headers(1, post, END_HEADERS), data(1, 'ab', END_STREAM))
    expect(await session.feed(headers(3, post, END_HEADERS), data(3, 'c', END_STREAM))).toHaveLength(2)
    session.request(1).stream.resume()
    expect(await session.feed()).toEqual(['HEADERS 1', 'DATA 1 2 end'])
  })

  test('delivers what arrives between `resume` and the next turn in its order', async () => {
    const session = await open({ onStream: (stream) => stream.pause() })
    await session.feed(headers(1, post, END_HEADERS), data(1, 'a'))
    session.request(1).stream.resume()
    session.socket.emit('data', Buffer.concat([data(1, 'b'), data(1, 'c', END_STREAM)]))
    await session.feed()
    expect(session.bodyOf(1)).toBe('abc')
    expect(session.request(1).ending).toBe('end')
  })

  test('that is reset delivers nothing more', async () => {
    const session = await open({ onStream: (stream) => stream.pause() })
    await session.feed(headers(1, post, END_HEADERS), data(1, 'a', END_STREAM), rst(1))
    session.request(1).stream.resume()
    await session.feed()
    expect(session.request(1)).toMatchObject({ pieces: [], ending: 'close' })
  })
})

describe('many short pieces', () => {
  test('are joined if they arrive together', async () => {
    const session = await open()
    const content = Array.from({ length: 3_000 }, (_, at) => String.fromCharCode(at % 256))
    const frames = content.map((byte) => data(1, byte))
    expect(await session.feed(headers(1, post, END_HEADERS), Buffer.concat(frames), data(1, '', END_STREAM))).toEqual([
      'HEADERS 1',
      'DATA 1 2 end',
    ])
    expect(session.bodyOf(1)).toBe(content.join(''))
    expect(session.request(1).pieces.length).toBeLessThan(20)
    expect(session.request(1).ending).toBe('end, close')
  })

  test('are passed on one by one otherwise, without more memory than they need', async () => {
    const session = await open()
    await session.feed(headers(1, post, END_HEADERS))
    for (let count = 0; count < 100; count += 1) await session.feed(data(1, 'a'))
    const { pieces } = session.request(1)
    expect(pieces).toHaveLength(100)
    expect(pieces.filter(({ buffer }) => buffer.byteLength === 1_024)).toEqual([])
  })

  test('are dropped if the client resets the stream in the same read', async () => {
    const session = await open()
    await session.feed(headers(1, post, END_HEADERS))
    await session.feed(Buffer.concat([...Array.from({ length: 20 }, () => data(1, 'a')), rst(1)]))
    expect(session.bodyOf(1)).toBe('a'.repeat(8))
    expect(session.request(1).ending).toBe('close')
  })
})

describe('a received piece', () => {
  test('is not held by a small part of it', async () => {
    const session = await open()
    const bytes = Buffer.concat([
      headers(1, post, END_HEADERS),
      data(1, 'small'),
      frame(0xee, 0, 0, Buffer.alloc(16_000)),
    ])
    const piece = Buffer.from(new ArrayBuffer(bytes.length))
    bytes.copy(piece)
    await session.feed(piece)
    const [content] = session.request(1).pieces
    expect(content!.toString()).toBe('small')
    expect(content!.buffer).not.toBe(piece.buffer)
  })

  test('is not copied if most of it is content', async () => {
    const session = await open()
    await session.feed(headers(1, post, END_HEADERS))
    const piece = data(1, Buffer.alloc(16_000))
    await session.feed(piece)
    expect(session.request(1).pieces[0]!.buffer).toBe(piece.buffer)
  })

  test('does not hold the memory that it shares with others', async () => {
    const session = await open()
    const slab = Buffer.from(new ArrayBuffer(32 * 1024))
    const bytes = Buffer.concat([headers(1, post, END_HEADERS), data(1, '12345678')])
    const piece = slab.subarray(0, bytes.copy(slab))
    await session.feed(piece)
    expect(session.request(1).pieces[0]!.buffer).not.toBe(slab.buffer)
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
