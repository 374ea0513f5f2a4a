import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Headers } from './credentials.ts'
import { headerIn } from './credentials.ts'
import type { Reply } from './route.ts'

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
}
/** Returns whether a type has compressed content. */
const isCompressed = (contentType: string): boolean => /^(image\/(?!svg)|font\/)/.test(contentType)
/** Smaller files fit into one packet anyway. */
const MIN_COMPRESSED_BYTES = 1_024

type Encoding = 'br' | 'gzip' | 'identity'

type Compressors = Readonly<Record<Exclude<Encoding, 'identity'>, (bytes: Buffer) => Promise<Buffer>>>

const zlibCompressors: Compressors = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
}

/** A file in memory. Each encoding is computed once, when the first client asks for it, and then kept. */
export class StaticFile {
  readonly #bytes: Buffer
  readonly #contentType: string
  readonly #hash: string
  readonly #compressors: Compressors
  readonly #encoded = new Map<Encoding, Promise<Buffer>>()

  constructor(bytes: Buffer, extension: string, compressors: Compressors = zlibCompressors) {
    this.#bytes = bytes
    this.#compressors = compressors
    this.#contentType = contentTypes[extension] ?? 'application/octet-stream'
    this.#hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
  }

  /** Returns the file in the best encoding that the client accepts, or 304 if the client has it (RFC 9110, 13.1.2). */
  async reply(requestHeaders: Headers, cacheControl: string): Promise<Reply> {
    const isCompressible = this.#bytes.length >= MIN_COMPRESSED_BYTES && !isCompressed(this.#contentType)
    const encoding = isCompressible ? acceptedEncoding(headerIn(requestHeaders, 'accept-encoding')) : 'identity'
    const etag = `"${this.#hash}-${encoding}"`
    const headers = {
      ETag: etag,
      'Cache-Control': cacheControl,
      ...(isCompressible && { Vary: 'Accept-Encoding' }),
    }
    if (namesEtag(headerIn(requestHeaders, 'if-none-match'), etag)) return { status: 304, headers }
    return {
      status: 200,
      headers: encoding === 'identity' ? headers : { ...headers, 'Content-Encoding': encoding },
      content: await this.#encodedAs(encoding),
      contentType: this.#contentType,
    }
  }

  #encodedAs(encoding: Encoding): Promise<Buffer> | Buffer {
    if (encoding === 'identity') return this.#bytes
    const known = this.#encoded.get(encoding)
    if (known !== undefined) return known
    const encoded = this.#compressors[encoding](this.#bytes)
    this.#encoded.set(encoding, encoded)
    // The next client tries again, because a failure, such as missing memory, may be temporary.
    encoded.catch(() => this.#encoded.delete(encoding))
    return encoded
  }
}

/**
 * Reads every file of a directory into memory. Requests are answered from the result, so no path of a request reaches the
 * file system.
 *
 * @returns the files by their path with `/`, such as `assets/index.js`; `undefined` if there is no such directory
 */
export async function readStaticFiles(directory: string): Promise<ReadonlyMap<string, StaticFile> | undefined> {
  try {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true })
    const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    const files = paths.map(async (path) => {
      const name = relative(directory, path).split(sep).join('/')
      return [name, new StaticFile(await readFile(path), extname(path))] as const
    })
    return new Map(await Promise.all(files))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Returns the smallest encoding that an `Accept-Encoding` header allows. */
function acceptedEncoding(header: string | undefined): Encoding {
  const accepted = new Map(
    (header ?? '').split(',').map((part) => {
      const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
      return [name, !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))] as const
    }),
  )
  return (
    (['br', 'gzip'] as const).find((encoding) => accepted.get(encoding) ?? accepted.get('*') ?? false) ?? 'identity'
  )
}

function namesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  const named = (ifNoneMatch ?? '').split(',').map((part) => part.trim().replace(/^W\//, ''))
  return named.includes('*') || named.includes(etag)
}
