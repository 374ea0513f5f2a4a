import { DomainError } from '../kit/domain-error.ts'
import type { Core, Tx } from '../operations/context.ts'
import { type AccessToken, expiryOfRotated, type IssuedAccessToken } from './access-token.ts'
import { type AccessTokenDraft, insertAccessToken, updateAsRevoked } from './access-token-store.ts'
import { newTokenText } from './token-text.ts'

type Issuing = Tx & { readonly core: Core; readonly actor: { readonly id: number } | undefined }

/** Issues a token. Its value is in the result and stored nowhere. */
export async function issueToken(
  tx: Issuing,
  draft: Omit<AccessTokenDraft, 'value' | 'createdById'>,
): Promise<IssuedAccessToken> {
  const { personalAccessTokenPrefix } = tx.core.settings
  const value = newTokenText(personalAccessTokenPrefix, tx.core.randomBytes)
  const token = await insertAccessToken(tx, { ...draft, createdById: tx.actor?.id, value })
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
