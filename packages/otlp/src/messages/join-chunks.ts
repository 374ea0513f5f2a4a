import type { EncodedChunk } from './request-encoder.ts'

/**
 * Joins protobuf chunks of one signal into one request. A request consists only of repeated fields, so the concatenation
 * of two requests is a request. JSON cannot be joined; a single chunk is returned unchanged.
 *
 * @see https://protobuf.dev/programming-guides/encoding/#last-one-wins
 */
export function joinChunks(chunks: readonly EncodedChunk[]): EncodedChunk {
  const [first] = chunks
  if (first === undefined) throw new Error('nothing to join')
  if (chunks.length === 1) return first
  const { signal, encoding } = first
  const isJoinable = chunks.every((chunk) => chunk.signal === signal && chunk.encoding === 'protobuf')
  if (!isJoinable) throw new Error('only protobuf chunks of one signal can be joined')
  return {
    signal,
    encoding,
    items: chunks.reduce((sum, { items }) => sum + items, 0),
    body: concatenated(chunks.map(({ body }) => body)),
  }
}

function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}
