import type { EncodedChunk } from './request-encoder.ts'

/**
 * One request with the items of all, which are of one signal and encoding. A protobuf request is nothing but repeated
 * fields, so that two in a row are one. JSON is not, and comes alone.
 *
 * @see Protocol Buffers, "Encoding", Last One Wins; spec/otlp-gateway.md 6
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
