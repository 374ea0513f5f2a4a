import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { constants, createDeflate, createInflate, inflateSync } from 'node:zlib'

/** Enough bytes for the longest header with any compression. */
const HEADER_BYTES = 512

export const looseObjectPath = (gitdir: string, oid: string): string =>
  join(gitdir, 'objects', oid.slice(0, 2), oid.slice(2))

/** The parts of a file with a header in front, as Git stores a blob. */
async function* blobParts(path: string, size: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`blob ${size}\0`)
  let bytes = 0
  for await (const part of createReadStream(path) as AsyncIterable<Buffer>) {
    bytes += part.length
    yield part
  }
  if (bytes !== size) throw new Error(`A file of ${size} bytes was expected, and ${bytes} were read`)
}

/** Returns the id of the blob with the content of a file. */
export async function blobIdOfFile(path: string, size: number): Promise<string> {
  const hash = createHash('sha1')
  for await (const part of blobParts(path, size)) hash.update(part)
  return hash.digest('hex')
}

/** Returns the loose object with the content of a file, compressed, in parts. */
export const looseBlobOfFile = (path: string, size: number): AsyncIterable<Uint8Array> =>
  Readable.from(blobParts(path, size)).compose(createDeflate())

/** Returns the content of a loose blob in parts. */
export const looseBlobParts = (gitdir: string, oid: string): Readable =>
  createReadStream(looseObjectPath(gitdir, oid)).compose(createInflate()).compose(withoutHeader)

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
export async function sizeOfLooseBlob(gitdir: string, oid: string): Promise<number | undefined> {
  const file = await open(looseObjectPath(gitdir, oid), 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
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
