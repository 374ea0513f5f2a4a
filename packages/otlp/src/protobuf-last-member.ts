import type { ProtobufWriter } from './protobuf-writer.ts'

/** A longer one is not remembered. */
const MAX_BYTES = 64 * 1024

/**
 * The member of a oneof that was encoded last, with its bytes: the same measurements under two metric names are one
 * object, which is encoded once and copied once. Values of the model never change.
 */
export class LastMember {
  #model: object | undefined
  #buffer = new Uint8Array(4 * 1024)
  #length = 0

  /** Writes the member as it was encoded before, tag and length included; tells whether it could. */
  copyTo(writer: ProtobufWriter, model: object): boolean {
    if (this.#model !== model) return false
    writer.raw(new Uint8Array(this.#buffer.buffer, 0, this.#length))
    return true
  }

  /** Keeps what has been written since `before`. */
  remember(writer: ProtobufWriter, model: object, before: number): void {
    const length = writer.written - before
    this.#model = length > MAX_BYTES ? undefined : model
    if (this.#model === undefined) return
    if (length > this.#buffer.length) this.#buffer = new Uint8Array(2 * length)
    this.#buffer.set(writer.bytesBetween(writer.start, writer.start + length))
    this.#length = length
  }
}
