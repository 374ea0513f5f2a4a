import type { Tx } from '../../base/operations/context.ts'
import { deleteCodesOf } from '../oauth/code-store.ts'
import { deleteDeviceCodesOf } from '../oauth/device-code-store.ts'
import { revokeOAuthTokensOf } from '../oauth/oauth-token-store.ts'
import { deleteSessionsOf } from '../sessions/session-store.ts'

/**
 * Ends everything that was obtained with the user's password: sessions, authorization codes and OAuth tokens. Personal
 * access tokens stay, because they do not come from a sign-in; `admit` rejects them while the user is blocked.
 */
export async function signOutEverywhere(tx: Pick<Tx, 'db' | 'nowMs'>, userId: number): Promise<void> {
  await deleteSessionsOf(tx, userId)
  await deleteCodesOf(tx, userId)
  await deleteDeviceCodesOf(tx, userId)
  await revokeOAuthTokensOf(tx, userId)
}
