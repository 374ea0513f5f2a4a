import { describe, expect, test } from 'vitest'
import { FastHeadReader, readFastHead } from '../../packages/gateway/src/http1/fast-head.ts'
import { seededRandom } from '../load/gateway/token-text.ts'
import { compareReaders } from './fast-path/compare-readers.ts'
import type { ReadHead } from './fast-path/fast-reading.ts'
import { MutatedStreams } from './fast-path/mutated-streams.ts'

const streamsOf = (seed: number) => new MutatedStreams(seededRandom(seed))

test('P-28: reads no stream differently from llhttp, however it is divided', () => {
  const result = compareReaders(streamsOf(1), { streams: 20_000, divisions: 3, everyPlaceOf: 200 })
  expect(result.faults).toEqual([])
  // The comparison means something only if both paths read a good part of the streams.
  expect(result.streams).toBe(20_000)
  expect(result.fastRequests).toBeGreaterThan(10_000)
  expect(result.passedOn).toBeGreaterThan(40_000)
  expect(result.broken).toBeGreaterThan(5_000)
})

describe('the comparison finds a reader that', () => {
  /** Returns a reader that reads a head after a change of its text, as a less strict reader would. */
  const reading =
    (change: (head: string) => string): (() => ReadHead) =>
    () =>
    (bytes) => {
      const text = bytes.toString('latin1')
      const end = /\r?\n\r?\n/.exec(text)
      const headBytes = end === null ? text.length : end.index + end[0].length
      const head = readFastHead(Buffer.from(change(text.slice(0, headBytes)), 'latin1'))
      return head && { ...head, headBytes }
    }

  test.each<[string, () => ReadHead]>([
    ['accepts bare line feeds', reading((head) => head.replaceAll(/\r?\n/g, '\r\n'))],
    [
      'takes the first of two lengths',
      reading((head) => head.replace(/(content-length:.*\r\n(?:.*\r\n)*?)content-length:.*\r\n/i, '$1')),
    ],
    ['ignores Transfer-Encoding', reading((head) => head.replaceAll(/transfer-encoding:.*\r\n/gi, ''))],
    ['accepts a blank before the colon', reading((head) => head.replaceAll(/ +:/g, ':'))],
    ['joins folded lines', reading((head) => head.replaceAll(/\r\n[ \t]+/g, ' '))],
    ['accepts NUL in values', reading((head) => head.replaceAll('\0', '_'))],
    ['ignores Connection', reading((head) => head.replaceAll(/connection:.*\r\n/gi, ''))],
    [
      'takes one byte too many for the body',
      () => (bytes) => {
        const head = readFastHead(bytes)
        return head && { ...head, bodyBytes: head.bodyBytes + 1 }
      },
    ],
    [
      'remembers the length of the last head',
      () => {
        const heads = new FastHeadReader()
        let last: number | undefined
        return (bytes) => {
          const head = heads.read(bytes)
          last ??= head?.bodyBytes
          return head && { ...head, bodyBytes: last! }
        }
      },
    ],
  ])('%s', (_, heads) => {
    const { faults } = compareReaders(streamsOf(2), { streams: 30_000, divisions: 3, everyPlaceOf: 100, heads })
    expect(faults.length).toBeGreaterThan(0)
  })
})
