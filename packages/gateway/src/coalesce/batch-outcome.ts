import type { PartialSuccess } from '@penstock/otlp'
import type { Accepted, Answer, Refused, RefusedCause } from '../ingest/answer.ts'
import { allAccepted } from '../ingest/gateway-answers.ts'

/** What is to be done with the bodies of a batch of two or more. */
export type BatchAction =
  /** All of them get this. */
  | { readonly do: 'answer'; readonly answer: Answer }
  /** Some items were not taken and nobody knows whose: each gets its part of the number. */
  | { readonly do: 'share'; readonly partialSuccess: PartialSuccess }
  /** Nothing was taken because of some of them: again in halves. */
  | { readonly do: 'split'; readonly cause: 'rejected' | 'too_large' }
  /** Nothing was taken for now: all of them get this, and the key stays closed for that time. */
  | { readonly do: 'hold'; readonly answer: Refused; readonly holdMs: number }

/** However long upstream wants us to stay away, we look again after this. */
const MAX_HOLD_MS = 30_000

const refusedActions = {
  rejected: () => ({ do: 'split', cause: 'rejected' }),
  too_large: () => ({ do: 'split', cause: 'too_large' }),
  throttled: (answer, nowMs) => ({ do: 'hold', answer, holdMs: holdMs(answer, nowMs) }),
  credential: (answer) => ({ do: 'answer', answer }),
  unknown: (answer) => ({ do: 'answer', answer }),
  unreachable: (answer) => ({ do: 'answer', answer }),
} satisfies Record<RefusedCause, (answer: Refused, nowMs: number) => BatchAction>

/**
 * Table 6.2: a body is sent again only after an answer that means that nothing of it was accepted, and a final
 * refusal is passed on only when it was given to one body alone.
 */
export function batchAction(answer: Answer, nowMs: number): BatchAction {
  if (answer.kind === 'refused') return refusedActions[answer.cause](answer, nowMs)
  const { partialSuccess } = answer
  if (partialSuccess !== undefined && partialSuccess.rejected > 0n) return { do: 'share', partialSuccess }
  return { do: 'answer', answer: acceptedBy(partialSuccess?.message ?? '') }
}

function acceptedBy(message: string): Accepted {
  return message === '' ? allAccepted : { ...allAccepted, partialSuccess: { rejected: 0n, message } }
}

function holdMs({ retryAfter }: Refused, nowMs: number): number {
  const waitMs = typeof retryAfter === 'string' ? Date.parse(retryAfter) - nowMs : (retryAfter ?? 0) * 1_000
  return Math.min(Math.max(waitMs, 0), MAX_HOLD_MS)
}
