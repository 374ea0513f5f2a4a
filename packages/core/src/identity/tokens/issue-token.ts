import { DomainError, forbidden } from '../../base/kit/domain-error.ts'
import type { Core, Tx } from '../../base/operations/context.ts'
import { settingOf, settingsOf } from '../../base/settings/setting-of.ts'
import { type AccessToken, expiryOf, expiryOfRotated, type IssuedAccessToken } from './access-token.ts'
import { type AccessTokenDraft, insertAccessToken, updateAsRevoked } from './access-token-store.ts'
import { newTokenText } from './token-text.ts'

type Issuing = Tx & { readonly core: Core; readonly actor: { readonly id: number } | undefined }

type Draft = Omit<AccessTokenDraft, 'value' | 'createdById' | 'expiresAt'> & {
  /** The expiry date that the caller wants. */
  readonly expiresAt: string | null | undefined
}

/** Returns the value of a new token, with the prefix in force. */
export const newAccessTokenText = async (core: Core): Promise<string> =>
  newTokenText((await settingOf(core, 'personal_access_token_prefix')) ?? '', core.randomBytes)

/**
 * Issues a token. Its value is in the result and stored nowhere.
 *
 * @throws DomainError `invalid` for an expiry date in the past or beyond the maximum lifetime
 */
export async function issueToken(tx: Issuing, { expiresAt, ...draft }: Draft): Promise<IssuedAccessToken> {
  const { require_personal_access_token_expiry: mustExpire, ...settings } = await settingsOf(tx.core)
  if (draft.kind === 'personal' && settings.disable_personal_access_tokens) {
    throw forbidden('Personal access tokens are disabled')
  }
  const isEndless = (expiresAt === undefined || expiresAt === null) && !mustExpire
  const token = await insertAccessToken(tx, {
    ...draft,
    expiresAt: isEndless ? undefined : expiryOf(expiresAt, tx.nowMs),
    createdById: tx.actor?.id,
    value: await newAccessTokenText(tx.core),
  })
  await tx.recordEvent({ type: 'access_token.created', objectId: token.id, ...placeOf(token) })
  return token
}

/**
 * Issues a token that replaces another one, which is revoked.
 *
 * @throws DomainError `refused` if it has been revoked before
 */
export async function rotate(
  tx: Issuing,
  token: AccessToken,
  expiresAt: string | null | undefined,
): Promise<IssuedAccessToken> {
  if (token.isRevoked) throw new DomainError({ code: 'refused', message: 'Token already revoked' })
  const successor = await issueToken(tx, { ...token, expiresAt: expiryOfRotated(expiresAt, tx.nowMs) })
  await revoke(tx, token)
  return successor
}

/** Revokes a token; does nothing if it has been revoked before. */
export async function revoke(tx: Tx, token: AccessToken): Promise<void> {
  if (token.isRevoked) return
  await updateAsRevoked(tx, token.id)
  await tx.recordEvent({ type: 'access_token.revoked', objectId: token.id, ...placeOf(token) })
}

const placeOf = ({ projectId, groupId }: AccessToken) => ({
  ...(projectId !== undefined && { projectId }),
  ...(groupId !== undefined && { groupId }),
})
