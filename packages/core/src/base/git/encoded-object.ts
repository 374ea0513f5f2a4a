import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createDeflate, deflate, deflateSync } from 'node:zlib'
import type { ObjectType } from './git-object.ts'

/** The size up to which an object is compressed on the event loop. A thread takes longer for so little. */
const INLINE_BYTES = 16 * 1024
/** The size up to which an object is hashed in one turn of the event loop. */
export const WHOLE_OBJECT_BYTES = 256 * 1024
/** The bytes of a larger object that one turn handles. */
const PART_BYTES = 64 * 1024

/** The content of an object that is not held in memory, or not handled in one turn of the event loop. */
export interface ObjectParts {
  readonly size: number
  readonly parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

/** Returns bytes in parts, without copying them. */
export function* partsOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PART_BYTES) yield bytes.subarray(at, at + PART_BYTES)
}

const headerOf = (type: ObjectType, size: number): Buffer => Buffer.from(`${type} ${size}\0`)

const deflateInThread = promisify<Buffer, Buffer>(deflate)

/** Returns the id of an object of at most `WHOLE_OBJECT_BYTES`, and the content of its file. */
export async function encodedObject(
  type: ObjectType,
  content: Uint8Array,
): Promise<{ oid: string; bytes: Uint8Array }> {
  const whole = Buffer.concat([headerOf(type, content.length), content])
  const oid = createHash('sha1').update(whole).digest('hex')
  return { oid, bytes: whole.length <= INLINE_BYTES ? deflateSync(whole) : await deflateInThread(whole) }
}

/**
 * Writes the file of an object while its parts arrive, and returns the id of the object and the size of the file.
 *
 * @throws if the parts do not have the given size, and if the file exists
 */
export async function encodeIntoFile(
  file: string,
  type: ObjectType,
  { size, parts }: ObjectParts,
): Promise<{ oid: string; bytes: number }> {
  const hash = createHash('sha1')
  const hashed = async function* () {
    const header = headerOf(type, size)
    hash.update(header)
    yield header
    let bytes = 0
    for await (const part of parts) {
      bytes += part.length
      hash.update(part)
      yield part
    }
    if (bytes !== size) throw new Error(`An object of ${size} bytes was expected, and ${bytes} were read`)
  }
  const target = createWriteStream(file, { flags: 'wx', mode: 0o644 })
  await pipeline(hashed, createDeflate(), target)
  return { oid: hash.digest('hex'), bytes: target.bytesWritten }
}
