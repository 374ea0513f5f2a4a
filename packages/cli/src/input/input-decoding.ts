import { once } from 'node:events'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { RecordError } from '@penstock/forges'

type Bytes = AsyncIterable<Uint8Array>

/** The length of the longest signature of an encoding. */
const SIGN_BYTES = 6

interface Encoding {
  /** The bytes that an input in this encoding begins with. */
  readonly sign: readonly number[]
  /** The decoder, or the reason why this encoding is refused. */
  readonly decode: ((source: Bytes) => Bytes) | string
}

const brace = 0x7b
const bracket = 0x5b

/**
 * The encodings, in the order in which they are tried: if one signature begins with another, the longer one comes
 * first. PowerShell writes UTF-16 with a byte order mark; text without a mark is recognised by the NUL beside its first
 * bracket.
 */
const encodings: readonly Encoding[] = [
  { sign: [0x1f, 0x8b], decode: gunzipped },
  { sign: [0x50, 0x4b, 0x03, 0x04], decode: 'is a zip archive; unpack it first' },
  { sign: [0x28, 0xb5, 0x2f, 0xfd], decode: 'is compressed with zstd; only gzip is read' },
  { sign: [0x42, 0x5a, 0x68], decode: 'is compressed with bzip2; only gzip is read' },
  { sign: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], decode: 'is compressed with xz; only gzip is read' },
  { sign: [0xff, 0xfe, 0x00, 0x00], decode: 'is UTF-32; save it as UTF-8' },
  { sign: [0xff, 0xfe], decode: transcoded('utf-16le') },
  { sign: [0xfe, 0xff], decode: transcoded('utf-16be') },
  { sign: [brace, 0x00], decode: transcoded('utf-16le') },
  { sign: [bracket, 0x00], decode: transcoded('utf-16le') },
  { sign: [0x00, brace], decode: transcoded('utf-16be') },
  { sign: [0x00, bracket], decode: transcoded('utf-16be') },
]

/**
 * Yields an input as UTF-8: gzip is inflated and UTF-16 transcoded, piece by piece, as the reader asks for it. Bytes of
 * any other encoding are passed on unchanged.
 *
 * @throws {RecordError} if the input has another compression, is cut off or is damaged
 */
export async function* decodedBytes(source: Bytes): AsyncGenerator<Uint8Array> {
  const { encoding, bytes } = await recognized(source)
  if (encoding?.decode === gunzipped) {
    const inner = await recognized(gunzipped(bytes))
    yield* inner.encoding?.decode === gunzipped ? inner.bytes : decodedBy(inner.encoding, inner.bytes)
  } else {
    yield* decodedBy(encoding, bytes)
  }
}

function decodedBy(encoding: Encoding | undefined, bytes: Bytes): Bytes {
  if (encoding === undefined) return bytes
  if (typeof encoding.decode === 'string') throw new RecordError('', encoding.decode)
  return encoding.decode(bytes)
}

/** Returns the encoding that the first bytes indicate, and all bytes. */
async function recognized(source: Bytes): Promise<{ encoding: Encoding | undefined; bytes: Bytes }> {
  const parts = source[Symbol.asyncIterator]()
  const head: Uint8Array[] = []
  let length = 0
  while (length < SIGN_BYTES) {
    const { done, value } = await parts.next()
    if (done) break
    head.push(value)
    length += value.length
  }
  const start = Buffer.concat(head)
  return {
    encoding: encodings.find(({ sign }) => sign.every((byte, at) => start[at] === byte)),
    bytes: restOf(start, parts),
  }
}

async function* restOf(start: Uint8Array, parts: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield start
    for (let part = await parts.next(); !part.done; part = await parts.next()) yield part.value
  } finally {
    await parts.return?.()
  }
}

async function* gunzipped(source: Bytes): AsyncGenerator<Uint8Array> {
  const compressed = Readable.from(source, { objectMode: false })
  const closed = once(compressed, 'close').catch(() => {})
  const inflated = pipeline(compressed, createGunzip(), () => {})
  try {
    for await (const part of inflated) yield part as Uint8Array
  } catch (error) {
    if (!isZlibError(error)) throw error
    throw new RecordError('', 'is gzip that is cut off or damaged')
  } finally {
    compressed.destroy()
    await closed
  }
}

const isZlibError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')

function transcoded(encoding: 'utf-16le' | 'utf-16be'): (source: Bytes) => Bytes {
  return async function* (source) {
    const decoder = new TextDecoder(encoding, { fatal: true })
    const text = (bytes?: Uint8Array): Uint8Array => {
      try {
        return Buffer.from(decoder.decode(bytes, { stream: bytes !== undefined }))
      } catch {
        throw new RecordError('', 'is damaged UTF-16; save it as UTF-8')
      }
    }
    for await (const bytes of source) yield text(bytes)
    yield text()
  }
}
