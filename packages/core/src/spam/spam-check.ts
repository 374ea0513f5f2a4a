import { z } from 'zod'
import { DomainError } from '../kit/domain-error.ts'
import type { StepsContext } from '../kit/operation.ts'
import type { ActingUser } from '../users/user.ts'
import { insertSpamLog, consumeSpamLog } from './spam-log-store.ts'

/** What someone is about to write. */
export interface SpamSuspect {
  readonly kind: 'issue'
  readonly title: string
  readonly description: string | undefined
  readonly author: ActingUser
  /** Whether everyone will be able to read it. */
  readonly isPublic: boolean
  /** What the author's solution of the CAPTCHA is told as; it is the judge who asks the CAPTCHA's service about it. */
  readonly captchaResponse: string | undefined
}

export type SpamVerdict =
  | { readonly kind: 'ok' }
  | { readonly kind: 'spam' }
  /** It passes with the solution of a CAPTCHA of that site key. */
  | { readonly kind: 'captcha'; readonly siteKey: string }

/** Has to end by itself, and in time; what it throws fails the change. */
export type SpamCheck = (suspect: SpamSuspect) => Promise<SpamVerdict>

const MAX_RESPONSE_CHARACTERS = 16_384

/** An input of whatever is checked: the answer to the challenge that was made before. */
export const captchaInput = z
  .object({ response: z.string().min(1).max(MAX_RESPONSE_CHARACTERS), spamLogId: z.int() })
  .optional()

/**
 * Asked before the transaction, for the judge may be far away. An answer counts for the user and the kind of thing that
 * were challenged, and once.
 *
 * @throws DomainError `spam`
 * @see spec/graphql-contract.md 4.4
 */
export async function requireNoSpam(
  context: StepsContext,
  suspect: Omit<SpamSuspect, 'author' | 'captchaResponse'>,
  captcha: z.output<typeof captchaInput>,
): Promise<void> {
  const { core, actor: author } = context
  if (core.spamCheck === undefined || author === undefined) return
  const { kind } = suspect
  const isAnswer = captcha !== undefined && (await context.write((tx) => consumeSpamLog(tx, author, kind, captcha)))
  const verdict = await core.spamCheck({ ...suspect, author, captchaResponse: isAnswer ? captcha.response : undefined })
  if (verdict.kind === 'ok') return
  if (verdict.kind === 'spam') throw new DomainError({ code: 'spam', what: kind })
  const spamLogId = await context.write((tx) => insertSpamLog(tx, author, kind))
  throw new DomainError({ code: 'spam', what: kind, challenge: { siteKey: verdict.siteKey, spamLogId } })
}
