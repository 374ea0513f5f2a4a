import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { FrameType, Setting } from './frames.ts'
import { UnsentBudget } from './limits/unsent-budget.ts'
import {
  answerAtEnd,
  data,
  END_HEADERS,
  END_STREAM,
  get,
  headers,
  open,
  post,
  rst,
  settings,
  unanswered,
  update,
  withoutUpdates,
} from './server-session.harness.ts'
import type { ServerStream } from './server-stream.ts'

const { DATA } = FrameType
const STREAM_WINDOW = 65_535
const CONNECTION_WINDOW = 1024 * 1024
const MAX_WINDOW = 2 ** 31 - 1

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
    const sendBody = vi.spyOn(session.session.answers, 'sendBody')
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
