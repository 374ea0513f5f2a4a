import { z } from 'zod'
import { DomainError } from '../kit/domain-error.ts'
import type { SpamSuspect } from '../model/spam-check.ts'
import type { StepsContext } from '../operations/operation.ts'
import { consumeSpamLog, insertSpamLog } from './spam-log-store.ts'

const MAX_RESPONSE_CHARACTERS = 16_384

/** Parameters of all operations that check for spam: the solution of the challenge that an earlier request got. */
export const captchaInput = z
  .object({ response: z.string().min(1).max(MAX_RESPONSE_CHARACTERS), spamLogId: z.int() })
  .optional()

/**
 * Rejects spam. Call it before the transaction, because the check may use the network. A solution is valid once, for the
 * user and the kind of text that were challenged.
 *
 * @throws DomainError `spam`
 */
export async function requireNoSpam(
  context: StepsContext,
  suspect: Omit<SpamSuspect, 'author' | 'captchaResponse'>,
  captcha: z.output<typeof captchaInput>,
): Promise<void> {
  const { core, actor: author } = context
  if (core.spamCheck === undefined || author === undefined) return
  const { kind } = suspect
  const isSolution = captcha !== undefined && (await context.write((tx) => consumeSpamLog(tx, author, kind, captcha)))
  const verdict = await core.spamCheck({
    ...suspect,
    author,
    captchaResponse: isSolution ? captcha.response : undefined,
  })
  if (verdict.kind === 'ok') return
  if (verdict.kind === 'spam') throw new DomainError({ code: 'spam', what: kind })
  const spamLogId = await context.write((tx) => insertSpamLog(tx, author, kind))
  throw new DomainError({ code: 'spam', what: kind, challenge: { siteKey: verdict.siteKey, spamLogId } })
}
