import { type OutgoingHttpHeaders, sensitiveHeaders } from 'node:http2'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HpackDecoder } from './hpack-decoder.ts'
import { encodeFields } from './hpack-encoder.ts'
import { Nghttp2Peer } from './hpack-nghttp2.harness.ts'

const limits = { tableBytes: 4096, maxListBytes: 1024 * 1024, maxFields: 1000 }

const visible = fc
  .oneof(fc.integer({ min: 0x21, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff }))
  .map((code) => String.fromCharCode(code))
const value = fc.oneof(
  fc.constantFrom('', 'a', 'trailers', 'application/grpc', 'gzip, deflate', '200'),
  fc.string({ unit: visible, maxLength: 60 }),
  // Some of these evict everything, and some are larger than the table.
  fc
    .tuple(fc.string({ unit: visible, minLength: 1, maxLength: 3 }), fc.integer({ min: 500, max: 2500 }))
    .map(([unit, times]) => unit.repeat(times)),
)
const name = fc.oneof(
  fc.constantFrom(
    'accept-encoding',
    'user-agent',
    'content-type',
    'authorization',
    'grpc-timeout',
    'x-a',
    'x-b',
    'via',
  ),
  fc.stringMatching(/^x-[a-z0-9_.!#$%&'*+^`|~-]{1,20}$/),
)
const field = fc.record({ name, value, isSensitive: fc.boolean() })
const fieldList = fc.uniqueArray(field, { selector: (one) => one.name, maxLength: 8 })

type Field = { name: string; value: string; isSensitive: boolean }

const path = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'

function headersOf(fields: readonly Field[]): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ':method': 'POST', ':path': path }
  for (const one of fields) headers[one.name] = one.value
  Object.assign(headers, { [sensitiveHeaders]: fields.filter((one) => one.isSensitive).map((one) => one.name) })
  return headers
}

const flat = (fields: readonly Field[]): string[] => fields.flatMap((one) => [one.name, one.value])

test.each([
  ['4096 bytes', undefined, undefined],
  ['200 bytes in the client', 200, undefined],
  ['no table in the client', 0, undefined],
  ['64 KiB', 65536, 65536],
  ['advertises 1000 bytes', undefined, 1000],
])('decodes the requests of nghttp2: %s', async (_table, clientTableBytes, tableBytes) => {
  const options = clientTableBytes === undefined ? {} : { maxDeflateDynamicTableSize: clientTableBytes }
  await fc.assert(
    fc.asyncProperty(fc.array(fieldList, { minLength: 1, maxLength: 8 }), async (lists) => {
      const peer = await Nghttp2Peer.open(() => encodeFields([':status', '200']), options, tableBytes)
      try {
        const decoder = new HpackDecoder({ ...limits, tableBytes: tableBytes ?? 4096 })
        // The second time, the fields are in the table, unless others evicted them.
        for (const fields of [...lists, ...lists]) {
          const { block } = await peer.request(headersOf(fields))
          const decoded = decoder.decode(block)!
          const pseudo = Object.fromEntries(
            Array.from({ length: 4 }, (_unused, at) => [decoded[at * 2], decoded[at * 2 + 1]]),
          )
          expect(pseudo).toEqual({
            ':method': 'POST',
            ':path': path,
            ':scheme': 'http',
            ':authority': expect.stringMatching(/^127\.0\.0\.1:\d+$/),
          })
          expect(decoded.slice(8)).toEqual(flat(fields))
        }
      } finally {
        await peer.close()
      }
    }),
    { numRuns: 25 },
  )
})

test('a gRPC client repeats a block, which returns the same array', async () => {
  const peer = await Nghttp2Peer.open(() => encodeFields([':status', '200']))
  try {
    const decoder = new HpackDecoder(limits)
    const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', 'x-a': 'b' }
    const lists: (readonly string[] | undefined)[] = []
    for (let at = 0; at < 4; at += 1) lists.push(decoder.decode((await peer.request(headers)).block))
    expect(lists[0]).toEqual(lists[1])
    expect(lists[2]).toBe(lists[1])
    expect(lists[3]).toBe(lists[1])
  } finally {
    await peer.close()
  }
})

test('the static table is that of nghttp2', async () => {
  let block = Buffer.alloc(0)
  const peer = await Nghttp2Peer.open(() => block)
  try {
    for (let index = 8; index <= 61; index += 1) {
      // Transfer-Encoding is invalid in HTTP/2.
      if (index === 57) continue
      // The status is a whole entry. Other entries are used for their names, because some are invalid with an empty value.
      block = index < 15 ? Buffer.from([0x80 | index]) : Buffer.from([0x88, 0x0f, index - 15, 1, 0x30])
      const { rawHeaders } = await peer.request({ ':path': path })
      expect(new HpackDecoder(limits).decode(block)).toEqual(rawHeaders)
    }
    block = Buffer.from([0x88, 0x90])
    const { rawHeaders } = await peer.request({ ':path': path })
    expect(new HpackDecoder(limits).decode(block)).toEqual(rawHeaders)
  } finally {
    await peer.close()
  }
})

test('nghttp2 decodes what the encoder writes', async () => {
  let answer: readonly string[] = []
  const peer = await Nghttp2Peer.open(() => encodeFields(answer))
  const statuses = fc.constantFrom('200', '204', '206', '304', '400', '404', '415', '500', '503')
  try {
    await fc.assert(
      fc.asyncProperty(statuses, fieldList, async (status, fields) => {
        answer = [':status', status, ...flat(fields)]
        const { rawHeaders } = await peer.request({ ':path': path })
        expect(rawHeaders).toEqual(answer)
      }),
      { numRuns: 200 },
    )
  } finally {
    await peer.close()
  }
})
