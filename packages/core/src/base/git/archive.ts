import { PassThrough, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { pack as tarPack } from 'tar-stream'
import { ZipFile } from 'yazl'

export const archiveFormats = ['tar.gz', 'tgz', 'gz', 'tar', 'zip'] as const
type ArchiveFormat = (typeof archiveFormats)[number]

/** A file, directory or symbolic link of an archive, with its path in it. The path of a directory ends with a slash. */
export interface ArchiveEntry {
  readonly path: string
  readonly type: 'file' | 'executable' | 'directory' | 'link'
  readonly size: number
  read(): Promise<Uint8Array>
}

const permissions = { file: 0o664, executable: 0o775, directory: 0o775, link: 0o777 } as const
/** The type of a file in the upper bits of its mode. @see inode(7) */
const fileTypes = { file: 0o100000, executable: 0o100000, directory: 0o040000, link: 0o120000 } as const

/**
 * Returns an archive as a stream. Entries are read one after the other, as fast as the stream is read. The same entries
 * give the same bytes.
 */
export function archiveStream(format: ArchiveFormat, entries: readonly ArchiveEntry[], mtime: Date): Readable {
  const output = format === 'zip' ? zipStream(entries, mtime) : tarStream(format, entries, mtime)
  // An error after the reader has gone must not end the process.
  output.on('error', () => {})
  return output
}

function tarStream(format: Exclude<ArchiveFormat, 'zip'>, entries: readonly ArchiveEntry[], mtime: Date): Readable {
  const output = format === 'tar' ? new PassThrough() : createGzip()
  const tar = tarPack()
  output.once('close', () => tar.destroy())
  tar.on('error', (error: Error) => output.destroy(error))
  tar.pipe(output)
  const write = async () => {
    for (const entry of entries) {
      if (output.destroyed) return
      await writeTarEntry(tar, entry, mtime)
    }
    tar.finalize()
  }
  write().catch((error: Error) => output.destroy(error))
  return output
}

async function writeTarEntry(tar: ReturnType<typeof tarPack>, entry: ArchiveEntry, mtime: Date): Promise<void> {
  const { path: name, type } = entry
  const header = { name, mtime, mode: permissions[type], uid: 0, gid: 0, uname: 'root', gname: 'root' }
  if (type === 'directory') return void tar.entry({ ...header, type })
  const bytes = Buffer.from(await entry.read())
  if (type === 'link') return void tar.entry({ ...header, type: 'symlink', linkname: bytes.toString() })
  await new Promise<void>((resolve, reject) => {
    const sink = tar.entry({ ...header, type: 'file', size: bytes.length }, (error) =>
      error ? reject(error) : resolve(),
    )
    sink.once('close', resolve)
    sink.end(bytes)
  })
}

function zipStream(entries: readonly ArchiveEntry[], mtime: Date): Readable {
  const zip = new ZipFile()
  const output = new PassThrough()
  zip.on('error', (error: Error) => output.destroy(error))
  for (const { path, type, size, read } of entries) {
    const options = { mtime, mode: fileTypes[type] | permissions[type] }
    if (type === 'directory') zip.addEmptyDirectory(path, options)
    else
      zip.addReadStreamLazy(path, { ...options, size }, (pass) => {
        const pull = async function* () {
          if (!output.destroyed) yield Buffer.from(await read())
        }
        const content = Readable.from(pull(), { objectMode: false })
        content.on('error', (error) => output.destroy(error))
        pass(null, content)
      })
  }
  zip.end()
  const source = zip.outputStream as Readable
  output.once('close', () => source.destroy())
  source.pipe(output)
  return output
}
