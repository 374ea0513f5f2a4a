import type { EncodedChunk } from '@penstock/otlp'
import type { ChunkDelivery } from './otlp-endpoint.ts'

/** The delivery results of one signal: `items` = delivered + failed + skipped. */
export interface SignalTotals {
  readonly chunks: number
  readonly items: number
  /** Items in chunks that the receiver accepted. */
  readonly deliveredItems: number
  /**
   * Items in accepted chunks that the receiver rejected (partial success), in its own units: data
   * points where `items` are metrics.
   */
  readonly rejectedItems: number
  /** Items in chunks that were refused or ran out of time. */
  readonly failedItems: number
  /** Items in chunks that were not sent, or aborted before a reply. */
  readonly skippedItems: number
  readonly attempts: number
  readonly wireBytes: number
  /** The first `MAX_MESSAGES` different reasons and remarks, with the number of chunks that each applies to. */
  readonly messages: ReadonlyMap<string, number>
}

const MAX_MESSAGES = 10

export function noTotals(): SignalTotals {
  return {
    chunks: 0,
    items: 0,
    deliveredItems: 0,
    rejectedItems: 0,
    failedItems: 0,
    skippedItems: 0,
    attempts: 0,
    wireBytes: 0,
    messages: new Map(),
  }
}

/** Returns the totals with one chunk added. `delivery` is undefined for a chunk that was not sent. */
export function withChunk(
  totals: SignalTotals,
  chunk: EncodedChunk,
  delivery: ChunkDelivery | undefined,
): SignalTotals {
  const outcome = delivery?.outcome ?? { kind: 'aborted' as const, reason: '' }
  const itemsIf = (kind: typeof outcome.kind) => (outcome.kind === kind ? chunk.items : 0)
  return {
    chunks: totals.chunks + 1,
    items: totals.items + chunk.items,
    deliveredItems: totals.deliveredItems + itemsIf('delivered'),
    rejectedItems: totals.rejectedItems + (outcome.kind === 'delivered' ? outcome.rejectedItems : 0),
    failedItems: totals.failedItems + itemsIf('dead') + itemsIf('expired'),
    skippedItems: totals.skippedItems + itemsIf('aborted'),
    attempts: totals.attempts + (delivery?.attempts ?? 0),
    wireBytes: totals.wireBytes + (delivery?.attempts ? delivery.wireBytes : 0),
    messages: withMessage(totals.messages, messageOf(outcome), 1),
  }
}

/** Returns the message of an outcome; '' if it was aborted, because the cause of the abort is reported elsewhere. */
function messageOf(outcome: ChunkDelivery['outcome']): string {
  if (outcome.kind === 'aborted') return ''
  return outcome.kind === 'delivered' ? outcome.message : outcome.reason
}

/** Returns the sum of the totals of two deliveries of one signal. */
export function addTotals(a: SignalTotals, b: SignalTotals): SignalTotals {
  let messages = a.messages
  for (const [message, chunks] of b.messages) messages = withMessage(messages, message, chunks)
  return {
    chunks: a.chunks + b.chunks,
    items: a.items + b.items,
    deliveredItems: a.deliveredItems + b.deliveredItems,
    rejectedItems: a.rejectedItems + b.rejectedItems,
    failedItems: a.failedItems + b.failedItems,
    skippedItems: a.skippedItems + b.skippedItems,
    attempts: a.attempts + b.attempts,
    wireBytes: a.wireBytes + b.wireBytes,
    messages,
  }
}

function withMessage(
  messages: ReadonlyMap<string, number>,
  message: string,
  chunks: number,
): ReadonlyMap<string, number> {
  if (message === '' || (messages.size === MAX_MESSAGES && !messages.has(message))) return messages
  return new Map(messages).set(message, (messages.get(message) ?? 0) + chunks)
}

/** Returns whether every item was delivered and none was rejected. */
export function isComplete(totals: SignalTotals): boolean {
  return totals.deliveredItems === totals.items && totals.rejectedItems === 0
}
