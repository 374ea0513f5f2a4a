import { GraphQLError } from 'graphql'
import { OneByOne } from './one-by-one.ts'

export const MAX_BLOB_DATA = 20 * 1024 * 1024

/** What data is asked for: one field of one file. */
interface Asked {
  readonly blob: object
  readonly field: string
  readonly size: () => Promise<number>
}

/**
 * How much of the content of files one request is given: one file of any size, or several up to a limit together. Those
 * beyond are not even read.
 *
 * @see spec/graphql-contract.md 2.1
 */
export class BlobData {
  readonly #mostBytes: number
  #bytes = 0
  /** By what has been given something of: the fields. */
  readonly #given = new Map<object, Set<string>>()
  /** So that the first files of the document are those that are given. */
  readonly #admissions = new OneByOne()

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** @throws GraphQLError for a file with which the request would have too much */
  admit(asked: Asked): Promise<void> {
    return this.#admissions.run(() => this.#admitNext(asked))
  }

  async #admitNext({ blob, field, size }: Asked): Promise<void> {
    const fields = this.#given.get(blob)
    // Its other fields say the same another way. Under another alias it is said again, and counts again.
    if (fields !== undefined && !fields.has(field)) {
      fields.add(field)
      return
    }
    const bytes = this.#bytes + (await size())
    if (this.#given.size > 0 && bytes > this.#mostBytes) {
      throw new GraphQLError(`The data of several blobs may be at most ${sizeText(this.#mostBytes)} in one request`)
    }
    this.#bytes = bytes
    this.#given.set(blob, new Set([field]))
  }
}

const MEGABYTE = 1024 * 1024

export const sizeText = (bytes: number): string =>
  bytes % MEGABYTE === 0 ? `${bytes / MEGABYTE} MB` : `${bytes} bytes`
