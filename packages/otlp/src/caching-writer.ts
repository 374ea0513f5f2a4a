import { AttributeBlocks, type Block, type KeyBlocks, MAX_BLOCK_BYTES } from './attribute-blocks.ts'
import { LastList } from './last-list.ts'
import { LastMember } from './last-member.ts'
import { ReverseBuffer } from './reverse-buffer.ts'

/** A buffer with the attributes and the metric data that were written before, which are copied when they occur again. */
export class CachingWriter extends ReverseBuffer {
  readonly blocks = new AttributeBlocks()
  readonly lastList = new LastList()
  readonly lastMember = new LastMember()

  /** Copies a stored pair of key and value, under `tag`. Up to three bytes before the pair are overwritten, so they must be reserved. */
  copyPair(tag: number, pair: Block): void {
    this.start = this.blocks.copyBefore(this.view, this.start, pair)
    this.buffer[--this.start] = tag
  }

  /**
   * Stores the pair in the newest `bytes` if its value has occurred a second time, because it is then likely to occur again.
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
