import { createHash } from 'node:crypto'
import { z } from 'zod'
import { DomainError } from '../kit/domain-error.ts'
import type { SpamSuspect } from '../model/spam-check.ts'
import type { StepsContext } from '../operations/operation.ts'
import { deleteSpamLog, insertSpamLog, isOpenSpamLog } from './spam-log-store.ts'

const MAX_RESPONSE_CHARACTERS = 16_384

/** Parameters of all operations that check for spam: the solution of the challenge that an earlier request got. */
export const captchaInput = z
  .object({ response: z.string().min(1).max(MAX_RESPONSE_CHARACTERS), spamLogId: z.int() })
  .optional()

/**
 * Rejects spam. Call it before the transaction, because the check may use the network. A solution is valid once, for the
 * user and the text that were challenged; a wrong one can be corrected.
 *
 * @throws DomainError `spam`
 */
export async function requireNoSpam(
  context: StepsContext,
  suspect: Omit<SpamSuspect, 'author' | 'captchaResponse' | 'address' | 'userAgent'>,
  captcha: z.output<typeof captchaInput>,
): Promise<void> {
  const { core, actor: author, request } = context
  const { spamCheck } = core
  if (spamCheck === undefined || author === undefined) return
  const { kind } = suspect
  const text = { userId: author.id, kind, textHash: textHash(suspect) }
  const check = (captchaResponse?: string) =>
    spamCheck({ ...suspect, author, captchaResponse, address: request.address, userAgent: request.userAgent })
  const log = captcha !== undefined && (await isOpenSpamLog(context, captcha.spamLogId, text)) ? captcha : undefined
  const verdict = await check(log?.response)
  const isSpent =
    log !== undefined && verdict.kind === 'ok' && !(await context.write((tx) => deleteSpamLog(tx, log.spamLogId)))
  // Another request has used the same solution at the same time.
  const decided = isSpent ? await check() : verdict
  if (decided.kind === 'ok') return
  if (decided.kind === 'spam') throw new DomainError({ code: 'spam', what: kind })
  const spamLogId = await context.write((tx) => insertSpamLog(tx, text))
  throw new DomainError({ code: 'spam', what: kind, challenge: { siteKey: decided.siteKey, spamLogId } })
}

/** Returns the hash of the parts of a text. The length precedes each part, so that text cannot move from one part to another unnoticed. */
function textHash({
  title,
  description = '',
  files = [],
}: Pick<SpamSuspect, 'title' | 'description' | 'files'>): string {
  const hash = createHash('sha256')
  for (const part of [title, description, ...files.flatMap(({ path, content }) => [path, content])]) {
    hash.update(`${part.length}:`).update(part)
  }
  return hash.digest('hex')
}
