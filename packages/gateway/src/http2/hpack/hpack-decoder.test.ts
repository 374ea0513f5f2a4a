import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HpackDecoder, HpackError } from './hpack-decoder.ts'

const limits = { tableBytes: 4096, maxListBytes: 64 * 1024, maxFields: 1000 }
const bytesOf = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex')

/** A literal of up to 126 bytes without the Huffman code. */
const literalOf = (text: string): Buffer => Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'latin1')])
const insert = (name: string, value: string): Buffer =>
  Buffer.concat([Buffer.from([0x40]), literalOf(name), literalOf(value)])

/** The fields of a decoder's dynamic table, from the newest to the oldest. */
function tableOf(decoder: HpackDecoder): string[] {
  const fields: string[] = []
  for (let index = 62; ; index += 1) {
    try {
      fields.push(...decoder.decode(Buffer.from([0x80 | index]))!)
    } catch {
      return fields
    }
  }
}

const date21 = ['date', 'Mon, 21 Oct 2013 20:13:21 GMT']
const date22 = ['date', 'Mon, 21 Oct 2013 20:13:22 GMT']
const location = ['location', 'https://www.example.com']
const isPrivate = ['cache-control', 'private']
const gzip = ['content-encoding', 'gzip']
const cookie = ['set-cookie', 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1']
const authority = [':authority', 'www.example.com']
const noCache = ['cache-control', 'no-cache']
const custom = ['custom-key', 'custom-value']
const get = [':method', 'GET', ':scheme', 'http', ':path', '/']

const requests = [
  { fields: [...get, ...authority], table: [...authority] },
  { fields: [...get, ...authority, ...noCache], table: [...noCache, ...authority] },
  {
    fields: [':method', 'GET', ':scheme', 'https', ':path', '/index.html', ...authority, ...custom],
    table: [...custom, ...noCache, ...authority],
  },
]
const status302 = [':status', '302']
const status307 = [':status', '307']
const responses = [
  {
    fields: [...status302, ...isPrivate, ...date21, ...location],
    table: [...location, ...date21, ...isPrivate, ...status302],
  },
  {
    fields: [...status307, ...isPrivate, ...date21, ...location],
    table: [...status307, ...location, ...date21, ...isPrivate],
  },
  {
    fields: [':status', '200', ...isPrivate, ...date22, ...location, ...gzip, ...cookie],
    table: [...cookie, ...gzip, ...date22],
  },
]

describe('RFC 7541, appendix C', () => {
  test.each([
    [
      'C.2.1',
      '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572',
      ['custom-key', 'custom-header'],
      true,
    ],
    ['C.2.2', '040c 2f73 616d 706c 652f 7061 7468', [':path', '/sample/path'], false],
    ['C.2.3', '1008 7061 7373 776f 7264 0673 6563 7265 74', ['password', 'secret'], false],
    ['C.2.4', '82', [':method', 'GET'], false],
  ])('%s', (_section, hex, fields, isStored) => {
    const decoder = new HpackDecoder(limits)
    expect(decoder.decode(bytesOf(hex))).toEqual(fields)
    expect(tableOf(decoder)).toEqual(isStored ? fields : [])
  })

  test.each([
    [
      'C.3: requests without the Huffman code',
      4096,
      requests,
      [
        '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        '8286 84be 5808 6e6f 2d63 6163 6865',
        '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
      ],
    ],
    [
      'C.4: requests with the Huffman code',
      4096,
      requests,
      [
        '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
        '8286 84be 5886 a8eb 1064 9cbf',
        '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
      ],
    ],
    [
      'C.5: responses without the Huffman code, and with evictions',
      256,
      responses,
      [
        '4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        '4803 3330 37c1 c0bf',
        '88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31',
      ],
    ],
    [
      'C.6: responses with the Huffman code, and with evictions',
      256,
      responses,
      [
        '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
        '4883 640e ffc1 c0bf',
        '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
      ],
    ],
  ])('%s', (_section, tableBytes, expected, blocks) => {
    const decoder = new HpackDecoder({ ...limits, tableBytes })
    for (const [at, hex] of blocks.entries()) {
      expect(decoder.decode(bytesOf(hex))).toEqual(expected[at]!.fields)
      expect(tableOf(decoder)).toEqual(expected[at]!.table)
    }
  })
})

test.each([
  ['80', 'index 0'],
  ['be', 'index beyond the table'],
  ['7e 01 61', 'index beyond the table'],
  // The longest integer that is accepted.
  ['ff 80 80 80 80 00', 'index beyond the table'],
  ['ff', 'truncated block'],
  ['ff 80 80', 'truncated block'],
  ['0f', 'truncated block'],
  ['04', 'truncated block'],
  ['40', 'truncated block'],
  ['40 01 61', 'truncated block'],
  ['04 7f', 'truncated block'],
  ['40 02 61', 'string beyond the block'],
  ['04 81', 'string beyond the block'],
  ['04 7f 80 80 80 7f', 'string beyond the block'],
  ['ff 80 80 80 80 80 00', 'integer too large'],
  ['ff 80 80 80 80 01', 'integer too large'],
  ['ff ff ff ff ff ff ff ff ff ff 7f', 'integer too large'],
  ['04 7f ff ff ff ff 0f', 'integer too large'],
  ['82 20', 'size update after a field'],
  ['04 00 3f 00', 'size update after a field'],
  ['3f e2 1f', 'size update above the limit'],
  ['04 81 ff', 'invalid Huffman padding'],
  ['04 81 18', 'invalid Huffman padding'],
  ['04 82 1f ff', 'invalid Huffman padding'],
  ['04 83 ff ff ff', 'invalid Huffman padding'],
  // The first bits of a longer code.
  ['04 81 fe', 'invalid Huffman padding'],
  ['04 84 ff ff ff fc', 'EOS in a Huffman string'],
  ['04 84 ff ff ff ff', 'EOS in a Huffman string'],
  ['04 85 1f ff ff ff e7', 'EOS in a Huffman string'],
])('throws for the block %s: %s', (hex, message) => {
  expect(() => new HpackDecoder(limits).decode(bytesOf(hex))).toThrow(new HpackError(message))
})

test.each([
  ['', []],
  ['3f e1 1f', []],
  ['20 3f e1 1f 82', [':method', 'GET']],
  ['04 80', [':path', '']],
  ['04 00', [':path', '']],
  ['00 00 00', ['', '']],
  ['04 81 1f', [':path', 'a']],
  ['44 01 ff', [':path', '\xff']],
])('decodes the block %s', (hex, fields) => {
  expect(new HpackDecoder(limits).decode(bytesOf(hex))).toEqual(fields)
})

test('decodes Huffman strings of each length', () => {
  const decoder = new HpackDecoder(limits)
  // Five bytes of zeros are eight times the code of "0", which is one of the shortest.
  for (let codes = 8; codes < 4000; codes += 8) {
    const length = (codes * 5) / 8
    const rest = length - 127
    const integer = rest < 0 ? [0x80 | length] : [0xff, 0x80 | (rest & 0x7f), rest >> 7]
    const block = Buffer.from([0x04, ...integer, ...new Uint8Array(length)])
    expect(decoder.decode(block)).toEqual([':path', '0'.repeat(codes)])
  }
})

describe('the dynamic table', () => {
  test('is emptied by an entry that is larger, and by a size update to 0', () => {
    const decoder = new HpackDecoder({ ...limits, tableBytes: 64 })
    decoder.decode(insert('a', 'b'))
    expect(tableOf(decoder)).toEqual(['a', 'b'])
    expect(decoder.decode(insert('a', 'x'.repeat(32)))).toEqual(['a', 'x'.repeat(32)])
    expect(tableOf(decoder)).toEqual([])
    decoder.decode(insert('a', 'x'.repeat(31)))
    expect(tableOf(decoder)).toEqual(['a', 'x'.repeat(31)])
    decoder.decode(bytesOf('20'))
    expect(tableOf(decoder)).toEqual([])
    decoder.decode(insert('a', 'b'))
    expect(tableOf(decoder)).toEqual([])
  })

  test('gives a new entry the name of the entry that it evicts', () => {
    const decoder = new HpackDecoder({ ...limits, tableBytes: 40 })
    decoder.decode(insert('name', 'b'))
    expect(decoder.decode(bytesOf('7e 01 63'))).toEqual(['name', 'c'])
    expect(tableOf(decoder)).toEqual(['name', 'c'])
  })

  test('begins with 4096 bytes if more are advertised', () => {
    const decoder = new HpackDecoder({ ...limits, tableBytes: 8192 })
    const entry = insert('a', 'b'.repeat(95))
    for (let at = 0; at < 40; at += 1) decoder.decode(entry)
    expect(tableOf(decoder)).toHaveLength(32 * 2)
    // A size update to 8192.
    decoder.decode(bytesOf('3f e1 3f'))
    for (let at = 0; at < 40; at += 1) decoder.decode(entry)
    expect(tableOf(decoder)).toHaveLength(64 * 2)
  })
})

describe('a list beyond the limits', () => {
  test.each([
    ['bytes', { maxListBytes: 2 * 42, maxFields: 10 }],
    ['fields', { maxListBytes: 1000, maxFields: 2 }],
  ])('is undefined, but updates the table: %s', (_limit, limited) => {
    const decoder = new HpackDecoder({ tableBytes: 4096, ...limited })
    const [a, b, c] = [insert('a', '123456789'), insert('b', '123456789'), insert('c', '123456789')]
    const name = Buffer.concat([Buffer.from([0x40]), literalOf('d'.repeat(100)), literalOf('')])
    expect(decoder.decode(Buffer.concat([a, b]))).toEqual(['a', '123456789', 'b', '123456789'])
    expect(decoder.decode(Buffer.concat([a, b, c]))).toBeUndefined()
    expect(decoder.decode(Buffer.concat([a, b, name]))).toBeUndefined()
    expect(decoder.decode(bytesOf('c0'))).toEqual(['a', '123456789'])
    expect(decoder.decode(bytesOf('c1'))).toEqual(['c', '123456789'])
  })

  test('can be a small block of references to a large entry', () => {
    const decoder = new HpackDecoder({ ...limits, maxListBytes: 37 * (1 + 100 + 32) })
    decoder.decode(insert('a', 'x'.repeat(100)))
    expect(decoder.decode(Buffer.alloc(37, 0xbe))).toHaveLength(37 * 2)
    expect(decoder.decode(Buffer.alloc(38, 0xbe))).toBeUndefined()
    expect(decoder.decode(Buffer.alloc(100_000, 0xbe))).toBeUndefined()
  })
})

describe('a repeated block', () => {
  test('returns the same array, also if several blocks take turns', () => {
    const decoder = new HpackDecoder(limits)
    decoder.decode(insert('a', 'b'))
    const blocks = ['82 be', '83 be', '04 01 61 be', 'be 82']
    const lists = blocks.map((hex) => decoder.decode(bytesOf(hex)))
    for (const [at, hex] of blocks.entries()) expect(decoder.decode(bytesOf(hex))).toBe(lists[at])
    expect(lists[2]).toEqual([':path', 'a', 'a', 'b'])
  })

  test('is decoded again after the table has changed', () => {
    const decoder = new HpackDecoder(limits)
    decoder.decode(insert('a', 'b'))
    expect(decoder.decode(bytesOf('be'))).toEqual(['a', 'b'])
    decoder.decode(insert('c', 'd'))
    expect(decoder.decode(bytesOf('be'))).toEqual(['c', 'd'])
    decoder.decode(bytesOf('20'))
    expect(() => decoder.decode(bytesOf('be'))).toThrow(HpackError)
  })

  test('inserts its entries again', () => {
    const decoder = new HpackDecoder(limits)
    for (const entries of [1, 2, 3]) {
      decoder.decode(insert('a', 'b'))
      expect(tableOf(decoder)).toHaveLength(entries * 2)
    }
  })

  test('is compared with a copy of the earlier one', () => {
    const decoder = new HpackDecoder(limits)
    const block = bytesOf('04 01 61')
    expect(decoder.decode(block)).toEqual([':path', 'a'])
    block[2] = 0x62
    expect(decoder.decode(block)).toEqual([':path', 'b'])
    expect(decoder.decode(bytesOf('04 01 61'))).toEqual([':path', 'a'])
  })

  test('is not remembered if it is long', () => {
    const decoder = new HpackDecoder(limits)
    expect(decoder.decode(Buffer.alloc(512, 0x82))).toBe(decoder.decode(Buffer.alloc(512, 0x82)))
    expect(decoder.decode(Buffer.alloc(513, 0x82))).not.toBe(decoder.decode(Buffer.alloc(513, 0x82)))
  })
})

const text = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  maxLength: 60,
})
/** A part of a block: mostly valid instructions, so that errors are not the first thing in each block. */
const part = fc.oneof(
  fc.integer({ min: 0x81, max: 0xc4 }).map((byte) => Buffer.from([byte])),
  fc.tuple(text, text).map(([name, value]) => insert(name, value)),
  fc
    .tuple(fc.integer({ min: 0x41, max: 0x7e }), text)
    .map(([byte, value]) => Buffer.concat([Buffer.from([byte]), literalOf(value)])),
  fc
    .tuple(fc.constantFrom(0x01, 0x11), text)
    .map(([byte, value]) => Buffer.concat([Buffer.from([byte]), literalOf(value)])),
  fc.uint8Array({ minLength: 1, maxLength: 12 }).map((bytes) => Buffer.from([0x04, 0x80 | bytes.length, ...bytes])),
)
const sizeUpdates = fc.constantFrom('', '', '20', '3f 21', '3f e1 01', '3f e1 1f').map(bytesOf)
const structuredBlock = fc
  .tuple(sizeUpdates, fc.array(part, { maxLength: 8 }))
  .map(([update, parts]) => Buffer.concat([update, ...parts]))
const anyBlock = fc.oneof(
  { weight: 4, arbitrary: structuredBlock },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
)

/** Returns the result of `decode`, or the message of the `HpackError`. Other errors fail the test. */
function decodeOrMessage(decoder: HpackDecoder, block: Uint8Array): readonly string[] | string | undefined {
  try {
    return decoder.decode(block)
  } catch (error) {
    if (error instanceof HpackError) return error.message
    throw error
  }
}

const listBytesOf = (fields: readonly string[]): number => fields.join('').length + (fields.length / 2) * 32

test('never throws anything but an HpackError, and the limits only replace lists by undefined', () => {
  const limited = { maxListBytes: 400, maxFields: 6 }
  fc.assert(
    fc.property(fc.array(anyBlock, { maxLength: 12 }), (blocks) => {
      const decoder = new HpackDecoder({ tableBytes: 4096, ...limited })
      const unlimited = new HpackDecoder({ tableBytes: 4096, maxListBytes: 1e9, maxFields: 1e9 })
      for (const block of blocks) {
        const all = decodeOrMessage(unlimited, block)
        const isLarge =
          Array.isArray(all) && (listBytesOf(all) > limited.maxListBytes || all.length / 2 > limited.maxFields)
        expect(decodeOrMessage(decoder, block)).toEqual(isLarge ? undefined : all)
        if (typeof all === 'string') return
      }
    }),
    { numRuns: 3000 },
  )
})

test('a decoder that has remembered blocks decodes like one that has not', () => {
  fc.assert(
    fc.property(
      fc.array(structuredBlock, { maxLength: 4 }),
      fc.array(fc.nat(3), { maxLength: 20 }),
      (blocks, order) => {
        const decoder = new HpackDecoder(limits)
        const earlier: Buffer[] = []
        for (const at of order) {
          const block = blocks[at]
          if (block === undefined) continue
          const fresh = new HpackDecoder(limits)
          for (const other of earlier) fresh.decode(other)
          const fields = decodeOrMessage(decoder, block)
          expect(fields).toEqual(decodeOrMessage(fresh, block))
          if (typeof fields === 'string') return
          // References to the table alone do not change it, so a fresh decoder needs only the other blocks.
          if (block.some((byte) => byte < 0x80)) earlier.push(block)
        }
      },
    ),
    { numRuns: 1000 },
  )
})
