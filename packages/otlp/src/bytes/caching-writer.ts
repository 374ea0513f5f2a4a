import { AttributeBlocks, type Block, type KeyBlocks, MAX_BLOCK_BYTES } from './attribute-blocks.ts'
import { LastList } from './last-list.ts'
import { LastMember } from './last-member.ts'
import { ReverseBuffer } from './reverse-buffer.ts'

/** A buffer that remembers the attributes and the metric data that it has encoded, and copies their bytes when they occur again. */
export class CachingWriter extends ReverseBuffer {
  readonly blocks = new AttributeBlocks()
  readonly lastList = new LastList()
  readonly lastMember = new LastMember()

  /**
   * Writes a stored pair of key and value, preceded by `tag`. The caller reserves room for the pair and for three more bytes, because
   * up to three bytes before the pair are overwritten.
   */
  copyPair(tag: number, pair: Block): void {
    this.start = this.blocks.copyBefore(this.view, this.start, pair)
    this.buffer[--this.start] = tag
  }

  /**
   * Stores the newest `bytes` bytes as the pair of a key and `value`, if the key had the same value the last time: it is then
   * likely to occur again. Otherwise only records the value.
   */
  rememberPair(known: KeyBlocks | undefined, value: unknown, bytes: number): void {
    if (known === undefined || bytes > MAX_BLOCK_BYTES) return
    if (known.value === value) {
      this.blocks.storePair(known, this.bytesBetween(this.start, this.start + bytes))
    } else {
      known.value = value
      known.pair = undefined
    }
  }
}
