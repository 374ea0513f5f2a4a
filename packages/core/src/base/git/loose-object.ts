import { createHash, webcrypto } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { constants, createInflate, inflate, inflateSync } from 'node:zlib'
import type { ObjectType } from './git-object.ts'

/** Enough bytes for the longest header with any compression. */
const HEADER_BYTES = 512
/** The compressed and the full size up to which an object is read in one step. A thread takes longer for so little. */
const INLINE_BYTES = 4 * 1024
const INLINE_FULL_BYTES = 64 * 1024

export const looseObjectPath = (gitdir: string, oid: string): string =>
  join(gitdir, 'objects', oid.slice(0, 2), oid.slice(2))

/**
 * Returns the type and content of the object in a file, or `undefined` if there is no file. Large objects are
 * decompressed and checked in threads.
 *
 * @throws if the file is damaged
 */
export async function readLooseObject(
  file: string,
  oid: string,
): Promise<{ type: ObjectType; bytes: Uint8Array } | undefined> {
  const compressed = await readFile(file).catch(ignoreMissing)
  if (compressed === undefined) return undefined
  const whole = await inflated(compressed).catch((cause) => {
    throw damaged(oid, cause)
  })
  const header = /^(commit|tree|blob|tag) (\d+)\0/.exec(whole.toString('latin1', 0, 32))
  if (header === null || (await sha1Of(whole)) !== oid) throw damaged(oid)
  return { type: header[1] as ObjectType, bytes: whole.subarray(header[0].length) }
}

const damaged = (oid: string, cause?: unknown) =>
  new Error(`The repository is damaged: the object ${oid} cannot be read`, { cause })

const inflateInThread = promisify<Buffer, Buffer>(inflate)

async function inflated(compressed: Buffer): Promise<Buffer> {
  if (compressed.length > INLINE_BYTES) return inflateInThread(compressed)
  try {
    return inflateSync(compressed, { maxOutputLength: INLINE_FULL_BYTES })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw error
    return inflateInThread(compressed)
  }
}

async function sha1Of(bytes: Buffer): Promise<string> {
  if (bytes.length <= INLINE_FULL_BYTES) return createHash('sha1').update(bytes).digest('hex')
  return Buffer.from(await webcrypto.subtle.digest('SHA-1', bytes)).toString('hex')
}

/** Returns the content of a loose blob in parts. */
export const looseBlobParts = (file: string): Readable =>
  createReadStream(file).compose(createInflate()).compose(withoutHeader)

async function* withoutHeader(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isContent = false
  for await (const part of parts) {
    if (isContent) {
      yield part
    } else if (part.includes(0)) {
      isContent = true
      yield part.subarray(part.indexOf(0) + 1)
    }
  }
}

/** Returns the size of a blob from the header of its file, or `undefined` if it is not a loose object. */
export async function sizeOfLooseBlob(path: string): Promise<number | undefined> {
  const file = await open(path, 'r').catch(ignoreMissing)
  if (file === undefined) return undefined
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0)
    const text = inflateSync(buffer.subarray(0, bytesRead), { finishFlush: constants.Z_SYNC_FLUSH }).toString('latin1')
    const size = /^blob (\d+)\0/.exec(text)?.[1]
    return size === undefined ? undefined : Number(size)
  } finally {
    await file.close()
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
