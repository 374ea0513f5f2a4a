import { expect, test } from 'vitest'
import type { Answer } from '../contract/answer.ts'
import { batchAction } from './batch-outcome.ts'
import { refusal } from './model-upstream.harness.ts'

const acceptedWith = (rejected: bigint, message: string): Answer => ({
  kind: 'accepted',
  partialSuccess: { rejected, message },
  body: { encoding: 'protobuf', bytes: Uint8Array.of(10, 0) },
})
const toAll = (message: string) => ({
  do: 'answer',
  answer: { kind: 'accepted', partialSuccess: message === '' ? undefined : { rejected: 0n, message }, body: undefined },
})
const inAMinute = new Date(1_060_000).toUTCString()

test.each<[string, Answer, object]>([
  ['all accepted', { kind: 'accepted', partialSuccess: undefined, body: undefined }, toAll('')],
  ['accepted with a warning', acceptedWith(0n, 'mind the gap'), toAll('mind the gap')],
  ['2 items rejected', acceptedWith(2n, 'no'), { do: 'share', partialSuccess: { rejected: 2n, message: 'no' } }],
  ['400', refusal('rejected', 400), { do: 'split', cause: 'rejected' }],
  ['500', refusal('rejected', 500), { do: 'split', cause: 'rejected' }],
  ['413', refusal('too_large', 413), { do: 'split', cause: 'too_large' }],
  ['429', refusal('throttled', 429, 7), { do: 'hold', answer: refusal('throttled', 429, 7), holdMs: 7_000 }],
  ['503 for hours', refusal('throttled', 503, 9_000), { do: 'hold', holdMs: 30_000 }],
  ['503 with a date', { ...refusal('throttled', 503), retryAfter: inAMinute }, { do: 'hold', holdMs: 30_000 }],
  ['502', refusal('unknown', 502), { do: 'answer', answer: refusal('unknown', 502) }],
  ['504', refusal('unknown', 504), { do: 'answer', answer: refusal('unknown', 504) }],
  ['401', refusal('credential', 503, 3), { do: 'answer', answer: refusal('credential', 503, 3) }],
  ['unreachable', refusal('unreachable', 503, 3), { do: 'answer', answer: refusal('unreachable', 503, 3) }],
])('maps to an action: %s', (_, answer, action) => {
  expect(batchAction(answer, 1_000_000)).toMatchObject(action)
})
