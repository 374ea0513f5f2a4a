import { describe, expect, test } from 'vitest'
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
  open,
  openWithStreams,
  PADDED,
  PRIORITY,
  post,
  rst,
  settings,
  TestSession,
  textOf,
  update,
  withoutUpdates,
} from './server-session.harness.ts'

const { DATA, HEADERS, CONTINUATION, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, RST_STREAM, PUSH_PROMISE } = FrameType
const PRIORITY_TYPE = FrameType.PRIORITY
const STREAM_WINDOW = 65_535
const CONNECTION_WINDOW = 1024 * 1024
const MAX_WINDOW = 2 ** 31 - 1

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

test('ignores all that follows an error of the connection', async () => {
  const session = await openWithStreams()
  const fault = frame(PING, 0, 0, '1234567')
  expect(await session.feed(Buffer.concat([fault, frame(SETTINGS, 0, 0, '12345'), headers(9, get)]))).toEqual([
    'GOAWAY 7 FRAME_SIZE_ERROR',
  ])
  expect(await session.feed(headers(9, get), fault)).toEqual([])
  expect(session.socket.destroyed).toBe(true)
  expect(session.seen.map(({ id }) => id)).toEqual([1, 3, 5, 7])
})

test('the streams of these tests are in the states that their titles name', async () => {
  const session = await openWithStreams()
  expect(session.seen.map(({ ending }) => ending)).toEqual(['', 'end', 'end, close', 'close'])
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
