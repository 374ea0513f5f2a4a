import type { PartialSuccess } from '@penstock/otlp'
import type { Accepted, Answer, Refused, RefusedCause } from '../contract/answer.ts'
import { allAccepted } from '../contract/gateway-answers.ts'

/** The action that follows the answer to a batch of two or more bodies. */
type BatchAction =
  /** Answer all bodies with `answer`. */
  | { readonly do: 'answer'; readonly answer: Answer }
  /** Upstream rejected some items without naming them: give each body its share of the number. */
  | { readonly do: 'share'; readonly partialSuccess: PartialSuccess }
  /** Upstream refused the whole batch, perhaps because of a few bodies: send it again in halves. */
  | { readonly do: 'split'; readonly cause: 'rejected' | 'too_large' }
  /** Upstream throttles: answer all bodies with `answer`, and refuse further bodies of the lane for `holdMs`. */
  | { readonly do: 'hold'; readonly answer: Refused; readonly holdMs: number }

/** The longest time for which a lane refuses bodies, even if upstream asks for longer. */
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
 * Returns the action that follows the answer to a batch. A body is sent again only if the answer means that nothing of
 * the batch was accepted. A final refusal is passed on only if it answered a single body.
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
