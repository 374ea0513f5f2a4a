import type { ReverseBuffer } from './reverse-buffer.ts'

/** The length of the longest member that is stored. */
const MAX_BYTES = 64 * 1024

/**
 * A cache of the oneof member that was encoded last, with its bytes. If two metric names have the same measurements, they
 * share one object: it is encoded for the first name, and its bytes are copied for the second. This is safe because
 * values of the model never change.
 */
export class LastMember {
  #model: object | undefined
  #buffer = new Uint8Array(4 * 1024)
  #length = 0

  /** Copies the bytes of the stored member, including its tag or name, if `model` is that member. Returns whether it is. */
  copyTo(writer: ReverseBuffer, model: object): boolean {
    if (this.#model !== model) return false
    writer.raw(new Uint8Array(this.#buffer.buffer, 0, this.#length))
    return true
  }

  /** Stores the bytes that were written since the buffer had `before` of them. Forgets the former member if they are too many. */
  remember(writer: ReverseBuffer, model: object, before: number): void {
    const length = writer.written - before
    this.#model = length > MAX_BYTES ? undefined : model
    if (this.#model === undefined) return
    if (length > this.#buffer.length) this.#buffer = new Uint8Array(2 * length)
    this.#buffer.set(writer.bytesBetween(writer.start, writer.start + length))
    this.#length = length
  }
}
