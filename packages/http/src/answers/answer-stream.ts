import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { UnreadAnswers } from './unread-answers.ts'

/** The size up to which an answer is passed to the socket as a whole. */
export const SHORT_ANSWER_BYTES = 64 * 1024
/** The bytes that are passed on at once. A socket that is not read takes a few of them. */
const SLICE_BYTES = 64 * 1024

/**
 * Returns an answer as a stream that passes on a slice when the socket has room for it, and counts what is left.
 *
 * @throws TooManyAnswers
 */
export function answerStream(
  parts: readonly Uint8Array[],
  {
    address,
    response,
    unread,
  }: { readonly address: string; readonly response: ServerResponse; readonly unread: UnreadAnswers },
): Readable {
  const bytes = parts.reduce((sum, { length }) => sum + length, 0)
  const { method } = response.req
  // A client that gets 503 after its change was made would make it again.
  const mustSend = method !== 'GET' && method !== 'HEAD'
  const held = unread.hold(address, bytes, { abandon: () => response.destroy(), mustSend })
  // The client may have left while the answer was built; then the response emits no further event.
  if (response.destroyed) held.release()
  else response.once('close', () => held.release())
  return Readable.from(
    slices([...parts].reverse(), (count) => held.sent(count)),
    { objectMode: false, highWaterMark: 1 },
  )
}

/** Yields the bytes of the parts, which come last part first, so that each can be released when it is passed on. */
function* slices(parts: Uint8Array[], onSent: (bytes: number) => void): Generator<Uint8Array> {
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    for (let from = 0; from < part.length; from += SLICE_BYTES) {
      const slice = part.subarray(from, from + SLICE_BYTES)
      yield slice
      onSent(slice.length)
    }
  }
}
