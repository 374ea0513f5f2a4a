import { extname } from 'node:path'
import { DomainError, ValidatedInput } from '@penstock/core'
import { WorkerPool, WorkersBusyError } from '@penstock/runtime'
import { readDocument } from './document.ts'
import { type DocumentPart, type DocumentTask, joinDocument } from './document-parts.ts'
import type { RestRoute } from './route.ts'

/** The extension of this file: `.ts` if the sources run directly, `.js` if they are built. */
const ownExtension = extname(import.meta.url)
/**
 * The length up to which a body is read on the event loop: that takes a few milliseconds, which is less than a thread
 * boundary costs.
 */
const INLINE_BYTES = 64 * 1024
const THREADS = 1
/** How many large documents may wait, each of up to 16 MiB. */
const MAX_WAITING = 8
const RETRY_AFTER_SECONDS = 1

/** Reads and validates request bodies that are documents: small ones at once, large ones in a worker thread. */
export class DocumentReader {
  readonly #pool = new WorkerPool<DocumentTask, DocumentPart>({
    script: new URL(`./document-worker${ownExtension}`, import.meta.url),
    threads: THREADS,
    maxWaiting: MAX_WAITING,
  })

  /**
   * Returns the input of the row's operation. Large bytes that do not share their buffer are moved to the thread, and
   * are empty afterwards.
   *
   * @param inPath the parameters of the path, by the operation's names
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
