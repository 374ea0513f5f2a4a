import { extname } from 'node:path'
import { DomainError, ValidatedInput } from '@penstock/core'
import { WorkerPool, WorkersBusyError } from '@penstock/runtime'
import { readDocument } from '../routing/document.ts'
import type { RestRoute } from '../routing/route.ts'
import { type DocumentPart, type DocumentTask, joinDocument } from './document-parts.ts'

/** The extension of this file: `.ts` when running from source, `.js` when built. */
const ownExtension = extname(import.meta.url)
/** The size up to which a body is read on the event loop. That takes a few milliseconds, less than a transfer to a thread. */
const INLINE_BYTES = 64 * 1024
const THREADS = 1
/** The maximum number of large documents, of up to 16 MiB each, that wait for the thread. */
const MAX_WAITING = 8
const RETRY_AFTER_SECONDS = 1

/** Reads and validates request bodies that are documents: small ones on the event loop, large ones in a worker thread. */
export class DocumentReader {
  readonly #pool = new WorkerPool<DocumentTask, DocumentPart>({
    script: new URL(`./document-worker${ownExtension}`, import.meta.url),
    threads: THREADS,
    maxWaiting: MAX_WAITING,
  })

  /**
   * Returns the validated input for the route's operation. A large `bytes` that does not share its buffer is transferred to
   * the thread, and is empty afterwards.
   *
   * @param inPath the parameters of the path, with the operation's names
   * @throws RequestProblem invalid_json; DomainError `parameters`, or `unavailable` if too many large documents wait
   */
  async read(row: RestRoute, bytes: Buffer, inPath: object): Promise<ValidatedInput<RestRoute['operation']['input']>> {
    const { name, input } = row.operation
    if (bytes.length <= INLINE_BYTES) return new ValidatedInput(input, readDocument(row, bytes, inPath))
    const isOwn = bytes.byteLength === bytes.buffer.byteLength
    try {
      const task = { operation: name, bytes, inPath }
      const parts = await this.#pool.run(task, isOwn ? [bytes.buffer as ArrayBuffer] : [])
      return new ValidatedInput(input, joinDocument(parts))
    } catch (error) {
      if (!(error instanceof WorkersBusyError)) throw error
      throw new DomainError({ code: 'unavailable', retryAfterSeconds: RETRY_AFTER_SECONDS }, { cause: error })
    }
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}
