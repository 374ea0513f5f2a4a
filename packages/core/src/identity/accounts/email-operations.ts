import { z } from 'zod'
import { DomainError, forbidden, invalid } from '../../base/kit/domain-error.ts'
import { errorTexts } from '../../base/kit/error-texts.ts'
import type { User } from '../../base/model/user.ts'
import type { CallContext, Core, Tx } from '../../base/operations/context.ts'
import { unscopedCommand, unscopedQuery } from '../../base/operations/operation.ts'
import { isSignatureOf, signatureOf } from '../../base/secrets/signed-text.ts'
import { CONFIRM_WITHIN_MS, confirmationParts, type Email, MAX_EMAILS } from '../users/email.ts'
import {
  confirmEmailRow,
  countEmails,
  deleteEmail,
  findEmail,
  getEmail,
  insertEmail,
  isTakenEmail,
  listEmails,
} from '../users/email-store.ts'
import { validateEmail } from '../users/user-input.ts'
import { findUser, getUser } from '../users/user-store.ts'

const address = { email: z.string().max(1_000) }
/** Limits the mails to one address, because each addition sends one, whichever user adds it. */
const mailLimit = {
  name: 'email_confirmation',
  per: [{ of: ({ email }: { readonly email: string }) => email.toLowerCase() }],
  periodSeconds: 86_400,
  count: 5,
} as const
const limits = [{ name: 'email_addition', per: ['user'], periodSeconds: 3_600, count: 20 }, mailLimit] as const

/** Lists the e-mail addresses of the actor. */
export const listOwnEmails = unscopedQuery({ name: 'listOwnEmails', input: z.object({}) }, (context) =>
  listEmails(context, context.actor!.id),
)

export const getOwnEmail = unscopedQuery(
  { name: 'getOwnEmail', input: z.object({ emailId: z.int() }) },
  (context, { emailId }) => getEmail(context, context.actor!.id, emailId),
)

/** Adds an address to those of the actor. It is used only after the actor has opened the link in the mail to it. */
export const addOwnEmail = unscopedCommand(
  { name: 'addOwnEmail', input: z.object(address), limits },
  async (tx, { email }): Promise<Email> => addEmail(tx, await getUser(tx, tx.actor!.id), email, false),
)

export const removeOwnEmail = unscopedCommand(
  { name: 'removeOwnEmail', input: z.object({ emailId: z.int() }), isConditional: true },
  async (tx, { emailId }): Promise<void> => removeEmail(tx, await getUser(tx, tx.actor!.id), emailId),
)

const ofUser = { user: z.int() }

export const listEmailsOfUser = unscopedQuery(
  { name: 'listEmailsOfUser', caller: 'administrator', input: z.object(ofUser) },
  async (context, { user }) => listEmails(context, (await getUser(context, user)).id),
)

/** Adds an address to those of a user; with `skipConfirmation`, it is treated as confirmed. */
export const addEmailOfUser = unscopedCommand(
  {
    name: 'addEmailOfUser',
    caller: 'administrator',
    input: z.object({ ...ofUser, ...address, skipConfirmation: z.boolean().optional() }),
    limits: [mailLimit],
  },
  async (tx, { user, email, skipConfirmation = false }): Promise<Email> =>
    addEmail(tx, await getUser(tx, user), email, skipConfirmation),
)

export const removeEmailOfUser = unscopedCommand(
  {
    name: 'removeEmailOfUser',
    caller: 'administrator',
    input: z.object({ ...ofUser, emailId: z.int() }),
    isConditional: true,
  },
  async (tx, { user, emailId }): Promise<void> => removeEmail(tx, await getUser(tx, user), emailId),
)

/**
 * Confirms an address with the signature of its confirmation link. Needs no sign-in, and succeeds again if the address is
 * already confirmed. The links of users who are not active do not work.
 */
export const confirmEmail = unscopedCommand(
  {
    name: 'confirmEmail',
    caller: 'anyone',
    input: z.object({ emailId: z.int(), signature: z.string().max(100) }),
    limits: [{ name: 'confirmation_link', per: ['address'], periodSeconds: 3_600, count: 100 }],
  },
  async (tx, { emailId, signature }): Promise<Email> => {
    const email = await findEmail(tx, emailId)
    const isGenuine =
      email !== undefined && isSignatureOf(tx.core.settings.secretsKey, confirmationParts(email), signature)
    if (!isGenuine || (await findUser(tx, email.userId))?.state !== 'active') throw invalidLink()
    if (email.confirmedAtMs !== undefined) return email
    if (tx.nowMs >= email.createdAtMs + CONFIRM_WITHIN_MS) throw invalidLink()
    if (await isTakenEmail(tx, 0, email.email)) throw invalid({ email: [errorTexts.taken] })
    const confirmed = await confirmEmailRow(tx, email)
    await tx.recordEvent({ type: 'email.confirmed', objectId: email.id, actorId: email.userId })
    return confirmed
  },
)

const invalidLink = () => new DomainError({ code: 'refused', message: 'The link is invalid or has expired' })

/** Returns the URL of the page that confirms an address, for the mail to it. */
export const confirmationUrl = ({ settings }: Pick<Core, 'settings'>, externalUrl: string, email: Email): string =>
  `${externalUrl}${CONFIRM_EMAIL_PATH}?id=${email.id}&signature=${signatureOf(settings.secretsKey, confirmationParts(email))}`

export const CONFIRM_EMAIL_PATH = '/-/emails/confirm'

async function addEmail(tx: Tx, user: User, text: string, isConfirmed: boolean): Promise<Email> {
  if (user.isBot) throw forbidden()
  const email = text.toLowerCase()
  const wrong = validateEmail(email)
  if (wrong !== undefined) throw invalid({ email: [wrong] })
  if (await isTakenEmail(tx, user.id, email)) throw invalid({ email: [errorTexts.taken] })
  if ((await countEmails(tx, user.id)) >= MAX_EMAILS) throw invalid({ base: [`a user has at most ${MAX_EMAILS}`] })
  const added = await insertEmail(tx, { userId: user.id, email, isConfirmed })
  await tx.recordEvent({ type: isConfirmed ? 'email.confirmed' : 'email.added', objectId: added.id })
  return added
}

async function removeEmail(tx: CallContext & Tx, user: User, emailId: number): Promise<void> {
  const email = await getEmail(tx, user.id, emailId)
  if (email.email === user.email)
    throw new DomainError({ code: 'refused', message: 'The primary address cannot be removed' })
  tx.requireUnmodified(email.confirmedAtMs ?? email.createdAtMs)
  await deleteEmail(tx, email)
  await tx.recordEvent({ type: 'email.removed', objectId: email.id })
}
