import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { constants, inflateSync } from 'node:zlib'

/** Enough bytes for the longest header with any compression. */
const HEADER_BYTES = 512

/** Returns the size of a blob from the header of its file, or `undefined` if it is not a loose object. */
export async function sizeOfLooseBlob(gitdir: string, oid: string): Promise<number | undefined> {
  const path = join(gitdir, 'objects', oid.slice(0, 2), oid.slice(2))
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
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
