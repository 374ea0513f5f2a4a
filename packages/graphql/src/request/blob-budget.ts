import { GraphQLError } from 'graphql'
import { SerialQueue } from './serial-queue.ts'

export const MAX_BLOB_BYTES = 20 * 1024 * 1024

/** The use of a file's content in one field. */
interface BlobUse {
  readonly blob: object
  readonly field: string
  readonly size: () => Promise<number>
}

/**
 * Limits the file content in one response: one file of any size, or several up to a total size. Files beyond it are not
 * read.
 */
export class BlobBudget {
  readonly #maxBytes: number
  #bytes = 0
  #shownBytes = 0
  /** The fields that show the content of each admitted file. */
  readonly #fieldsByBlob = new Map<object, Set<string>>()
  /** Files are admitted in the order of the document. */
  readonly #queue = new SerialQueue()

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The bytes of content in all fields. A file that is shown in two fields counts twice. */
  get shownBytes(): number {
    return this.#shownBytes
  }

  /** @throws GraphQLError if the total would exceed the limit with this file */
  admit(use: BlobUse): Promise<void> {
    return this.#queue.run(() => this.#admitNext(use))
  }

  async #admitNext({ blob, field, size }: BlobUse): Promise<void> {
    const fields = this.#fieldsByBlob.get(blob)
    // The content counts once for different fields of a file, and again for the same field under another alias.
    if (fields !== undefined && !fields.has(field)) {
      fields.add(field)
      this.#shownBytes += await size()
      return
    }
    const bytes = this.#bytes + (await size())
    if (this.#fieldsByBlob.size > 0 && bytes > this.#maxBytes) {
      throw new GraphQLError(`The data of several blobs may be at most ${sizeText(this.#maxBytes)} in one request`)
    }
    this.#shownBytes += bytes - this.#bytes
    this.#bytes = bytes
    this.#fieldsByBlob.set(blob, new Set([field]))
  }
}

const MEGABYTE = 1024 * 1024

export const sizeText = (bytes: number): string =>
  bytes % MEGABYTE === 0 ? `${bytes / MEGABYTE} MB` : `${bytes} bytes`
