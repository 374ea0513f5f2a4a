import { describe, expect, test } from 'vitest'
import {
  answerAtEnd,
  data,
  END_HEADERS,
  END_STREAM,
  frame,
  headers,
  open,
  post,
  rst,
  withoutUpdates,
} from './server-session.harness.ts'

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
