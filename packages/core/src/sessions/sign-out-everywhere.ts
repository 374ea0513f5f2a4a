import type { Tx } from '../kit/context.ts'
import { deleteCodesOf } from '../oauth/code-store.ts'
import { revokeOAuthTokensOf } from '../oauth/oauth-token-store.ts'
import { deleteSessionsOf } from './session-store.ts'

/**
 * Ends whatever has come from a password of the user: sessions, what applications have been allowed in them, and the tokens
 * that came of it. Personal tokens are no sign-in and stay; that they do not work while their user is blocked is `admit`'s
 * business.
 */
export async function signOutEverywhere(tx: Pick<Tx, 'db' | 'nowMs'>, userId: number): Promise<void> {
  await deleteSessionsOf(tx, userId)
  await deleteCodesOf(tx, userId)
  await revokeOAuthTokensOf(tx, userId)
}
