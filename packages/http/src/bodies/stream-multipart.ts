import { open, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { MalformedForm } from './malformed-form.ts'
import { ClientGone } from './read-json.ts'
import { type FormEntry, fromLatin1, multipartParser, storedFile } from './read-multipart.ts'
import { RequestProblem } from './request-problem.ts'
import type { UploadSpace } from './upload-space.ts'

interface StreamedForm {
  readonly entries: readonly FormEntry[]
  /** Removes the files that were not moved. */
  dispose(): Promise<void>
}

interface Limits {
  /** The maximum size of all fields together. */
  readonly limitBytes: number
  /** The limit of the files together. */
  readonly fileLimitBytes: number
}

/**
 * Reads a multipart/form-data body, and writes its files to the disk while they arrive. If it fails, no file remains.
 *
 * @throws MalformedForm; RequestProblem body_too_large; TooManyUploads; ClientGone
 */
export async function streamMultipart(
  request: IncomingMessage,
  contentType: string,
  limits: Limits,
  space: UploadSpace,
): Promise<StreamedForm> {
  const reader = new MultipartStream(limits, space)
  try {
    const entries = await reader.read(request, contentType)
    return { entries, dispose: () => reader.dispose() }
  } catch (error) {
    request.unpipe()
    // The rest is discarded, so that the client can read the answer.
    request.resume()
    await reader.dispose()
    throw error
  }
}

class MultipartStream {
  readonly #limits: Limits
  readonly #space: UploadSpace
  readonly #entries: FormEntry[] = []
  readonly #paths: string[] = []
  readonly #writes: Promise<void>[] = []
  #fieldBytes = 0
  #fileBytes = 0

  constructor(limits: Limits, space: UploadSpace) {
    this.#limits = limits
    this.#space = space
  }

  async read(request: IncomingMessage, contentType: string): Promise<readonly FormEntry[]> {
    const { limitBytes, fileLimitBytes } = this.#limits
    const allBytes = limitBytes + fileLimitBytes
    if (Number(request.headers['content-length'] ?? 0) > allBytes) throw tooLarge(allBytes)
    const parser = multipartParser(contentType, { fileLimitBytes, fieldLimitBytes: limitBytes })
    await new Promise<void>((resolve, reject) => {
      const malformed = (why: string) => reject(new MalformedForm(why))
      parser.on('field', (name: string | undefined, value: string | undefined, { nameTruncated, valueTruncated }) => {
        this.#fieldBytes += value?.length ?? 0
        if (valueTruncated || this.#fieldBytes > limitBytes) reject(tooLarge(limitBytes))
        else if (nameTruncated) malformed('a name is too long')
        else if (name === undefined) malformed('a field has no name')
        else if (value === undefined) malformed('a field has an unknown character set')
        else this.#entries.push([name, value])
      })
      parser.on('file', (name: string | undefined, stream, { filename, mimeType }) => {
        // A file may end too early before anything reads it; `#write` reports that.
        stream.on('error', () => {})
        if (name === undefined) {
          stream.resume()
          return malformed('a file has no name')
        }
        // Reserves the position now, because the file may end after later parts have begun.
        const at = this.#entries.push([name, '']) - 1
        const write = this.#write(stream).then((file) => {
          const fileName = fromLatin1(filename ?? '')
          this.#entries[at] = [name, storedFile({ fileName, contentType: mimeType, ...file })]
        })
        this.#writes.push(write)
        write.catch(reject)
      })
      parser.on('partsLimit', () => malformed('too many parts'))
      parser.on('error', () => malformed('not multipart/form-data'))
      parser.on('close', resolve)
      request.on('error', () => reject(new ClientGone()))
      request.on('close', () => request.complete || reject(new ClientGone()))
      request.pipe(parser)
    }).catch((error: Error) => {
      // Ends the files that are being written.
      parser.destroy(error)
      throw error
    })
    await Promise.all(this.#writes)
    // Not in the handlers above: what they throw would end the process.
    return this.#entries.map(([name, value]) => [
      fromLatin1(name),
      typeof value === 'string' ? fromLatin1(value) : value,
    ])
  }

  async dispose(): Promise<void> {
    await Promise.allSettled(this.#writes)
    await Promise.all(this.#paths.map((path) => rm(path, { force: true })))
    this.#space.release(this.#fileBytes)
    this.#fileBytes = 0
  }

  async #write(stream: Readable): Promise<{ readonly path: string; readonly size: number }> {
    const path = await this.#space.newPath()
    // A stream that opens the file itself may create it after `dispose` has removed it.
    const handle = await open(path, 'wx', 0o600)
    this.#paths.push(path)
    let size = 0
    const counter = new Transform({
      transform: (chunk: Buffer, _, done) => {
        try {
          if (this.#fileBytes + chunk.length > this.#limits.fileLimitBytes) throw tooLarge(this.#limits.fileLimitBytes)
          this.#space.reserve(chunk.length)
          this.#fileBytes += chunk.length
          size += chunk.length
          done(null, chunk)
        } catch (error) {
          done(error as Error)
        }
      },
    })
    await pipeline(stream, counter, handle.createWriteStream())
    return { path, size }
  }
}

const tooLarge = (limitBytes: number): RequestProblem => new RequestProblem({ kind: 'body_too_large', limitBytes })
