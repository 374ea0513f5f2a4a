import type { KeyValue } from '../model/types.ts'
import type { ReverseBuffer } from './reverse-buffer.ts'

/** The encoded length of the longest list that is stored. */
const MAX_BYTES = 64 * 1024
/** The length of the shortest run of equal elements that is copied. Encoding fewer elements is faster. */
const MIN_RUN = 2
/**
 * The size of a copied word. Short runs are copied word by word from their end. The last word may reach into the bytes
 * before the run, so these must exist.
 */
const WORD_BYTES = 4
/** The number of bytes from which a native copy is faster than a loop. */
const NATIVE_COPY_FROM = 160

/**
 * The attribute list that was encoded last, with its bytes. Most attributes of a job equal those of the previous job. A
 * log record has two attributes of its own, followed by the attribute objects of its span. Values of the model never
 * change, so the same objects have the same bytes, which are copied run by run.
 *
 *     before:  [ a b c d e f … ]     stored
 *     now:     [ a b X d e f … ]     X is encoded, the others are copied in two runs
 *
 * One list is enough for a caller that encodes span and log record of a job one after the other. Storing more lists keeps
 * young objects alive, which costs the garbage collector more than the copies save.
 */
export class LastList {
  #attributes: readonly KeyValue[] = []
  #tag = 0
  #buffer = Buffer.allocUnsafeSlow(4 * 1024)
  #view = new DataView(this.#buffer.buffer)
  #end = WORD_BYTES
  /** For every element, the number of bytes from its start to the end of the list, followed by 0. */
  #starts: number[] = [0]
  #newStarts: number[] = []

  /** Writes attributes, each preceded by `tag`, which takes one byte. `encode` writes one of them, with the tag. */
  write<Writer extends ReverseBuffer>(
    writer: Writer,
    tag: number,
    attributes: readonly KeyValue[],
    encode: (writer: Writer, tag: number, attribute: KeyValue) => void,
  ): void {
    const last = this.#attributes
    const run = sameAtEnd(attributes, attributes.length, last, last.length)
    if (run === last.length && run > 0) {
      this.#copy(writer, tag, 0, run)
      for (let index = attributes.length - run - 1; index >= 0; index -= 1) {
        encode(writer, tag, attributes[index] as KeyValue)
      }
    } else {
      this.#writeRuns(writer, tag, attributes, run, encode)
    }
  }

  #writeRuns<Writer extends ReverseBuffer>(
    writer: Writer,
    tag: number,
    attributes: readonly KeyValue[],
    firstRun: number,
    encode: (writer: Writer, tag: number, attribute: KeyValue) => void,
  ): void {
    const last = this.#attributes
    const before = writer.written
    const lastStarts = this.#starts
    const starts = this.#newStarts
    starts.length = attributes.length + 1
    starts[attributes.length] = 0
    let run = firstRun
    /** The end of the unused part of the stored list. */
    let lastEnd = last.length
    for (let end = attributes.length; end > 0; run = sameAtEnd(attributes, end, last, lastEnd)) {
      if (run >= MIN_RUN) {
        const shift = writer.written - before - lastStarts[lastEnd]!
        this.#copy(writer, tag, lastEnd - run, lastEnd)
        for (let step = 1; step <= run; step += 1) starts[end - step] = lastStarts[lastEnd - step]! + shift
        end -= run
        lastEnd -= run
      } else {
        end -= 1
        const attribute = attributes[end] as KeyValue
        encode(writer, tag, attribute)
        starts[end] = writer.written - before
        lastEnd = endBefore(last, lastEnd, attribute.key)
      }
    }
    this.#remember(writer, tag, attributes, before)
  }

  #copy(writer: ReverseBuffer, tag: number, from: number, to: number): void {
    const starts = this.#starts
    const sourceEnd = this.#end - starts[to]!
    const bytes = starts[from]! - starts[to]!
    writer.reserve(bytes + WORD_BYTES)
    const { buffer, view, start: end } = writer
    const start = end - bytes
    if (bytes >= NATIVE_COPY_FROM) {
      buffer.set(new Uint8Array(this.#buffer.buffer, sourceEnd - bytes, bytes), start)
    } else {
      let source = sourceEnd
      for (let at = end; at > start; ) {
        at -= WORD_BYTES
        source -= WORD_BYTES
        view.setUint32(at, this.#view.getUint32(source, true), true)
      }
    }
    if (this.#tag !== tag) {
      const listEnd = end + starts[to]!
      for (let index = from; index < to; index += 1) buffer[listEnd - starts[index]!] = tag
    }
    writer.start = start
  }

  #remember(writer: ReverseBuffer, tag: number, attributes: readonly KeyValue[], before: number): void {
    const bytes = writer.written - before
    if (bytes > MAX_BYTES) {
      this.#attributes = []
      this.#starts[0] = 0
      return
    }
    const end = WORD_BYTES + bytes
    if (end > this.#buffer.length) {
      this.#buffer = Buffer.allocUnsafeSlow(2 * end)
      this.#view = new DataView(this.#buffer.buffer)
    }
    this.#buffer.set(writer.bytesBetween(writer.start, writer.start + bytes), WORD_BYTES)
    this.#end = end
    this.#attributes = attributes
    this.#tag = tag
    const formerStarts = this.#starts
    this.#starts = this.#newStarts
    this.#newStarts = formerStarts
  }
}

/** Returns how many elements are the same in both lists, counted backwards from `end` in `list` and `otherEnd` in `other`. */
function sameAtEnd(list: readonly KeyValue[], end: number, other: readonly KeyValue[], otherEnd: number): number {
  const most = Math.min(end, otherEnd)
  let count = 0
  while (count < most && list[end - 1 - count] === other[otherEnd - 1 - count]) count += 1
  return count
}

/**
 * Returns the end of the list before the element with `key`, which is looked for in the last two elements. Returns
 * `end` if it is neither of them.
 */
function endBefore(list: readonly KeyValue[], end: number, key: string): number {
  if (end > 0 && list[end - 1]!.key === key) return end - 1
  return end > 1 && list[end - 2]!.key === key ? end - 2 : end
}
