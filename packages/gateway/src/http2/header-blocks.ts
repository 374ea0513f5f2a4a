import { ErrorCode, Flag, readUint32 } from './frames.ts'

/** The limits of a header block, as it is sent. CONTINUATION frames may be empty, so their number is limited too. */
const MAX_BLOCK_BYTES = 64 * 1024
const MAX_BLOCK_FRAMES = 16
const STREAM_ID_BITS = 2 ** 31 - 1

/** The payloads of a HEADERS frame and of those that continue it. */
export interface HeaderBlock {
  readonly streamId: number
  readonly endsStream: boolean
  /** Whether the stream has a priority that depends on the stream itself, which is an error of the stream. */
  readonly dependsOnItself: boolean
  readonly pieces: Buffer[]
  bytes: number
}

/** Collects header blocks from HEADERS and CONTINUATION frames. */
export class HeaderBlocks {
  #block: HeaderBlock | undefined

  /** Whether a CONTINUATION frame must follow. */
  get isIncomplete(): boolean {
    return this.#block !== undefined
  }

  /** Reads HEADERS. Returns the complete block, `undefined` if CONTINUATION must follow, or the code of the error of the connection. */
  begin(streamId: number, flags: number, payload: Buffer): HeaderBlock | number | undefined {
    const isPadded = (flags & Flag.PADDED) !== 0
    const hasPriority = (flags & Flag.PRIORITY) !== 0
    const padding = isPadded ? (payload[0] ?? 0) : 0
    const priorityAt = isPadded ? 1 : 0
    const start = priorityAt + (hasPriority ? 5 : 0)
    if (streamId % 2 === 0) return ErrorCode.PROTOCOL_ERROR
    if (start > payload.length) return ErrorCode.FRAME_SIZE_ERROR
    if (start + padding > payload.length) return ErrorCode.PROTOCOL_ERROR
    const block: HeaderBlock = {
      streamId,
      endsStream: (flags & Flag.END_STREAM) !== 0,
      dependsOnItself: hasPriority && (readUint32(payload, priorityAt) & STREAM_ID_BITS) === streamId,
      pieces: [payload.subarray(start, payload.length - padding)],
      bytes: payload.length - padding - start,
    }
    if ((flags & Flag.END_HEADERS) !== 0) return block
    block.pieces[0] = Buffer.from(block.pieces[0]!)
    this.#block = block
    return undefined
  }

  /** Reads CONTINUATION, with the results of `begin`. */
  continue(streamId: number, flags: number, payload: Buffer): HeaderBlock | number | undefined {
    const block = this.#block!
    if (streamId !== block.streamId) return ErrorCode.PROTOCOL_ERROR
    block.pieces.push(Buffer.from(payload))
    block.bytes += payload.length
    if (block.pieces.length > MAX_BLOCK_FRAMES || block.bytes > MAX_BLOCK_BYTES) return ErrorCode.ENHANCE_YOUR_CALM
    if ((flags & Flag.END_HEADERS) === 0) return undefined
    this.#block = undefined
    return block
  }
}
