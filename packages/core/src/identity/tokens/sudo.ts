import type { User } from '../../base/model/user.ts'
import type { Core } from '../../base/operations/context.ts'
import { readContextOf } from '../../base/operations/context.ts'
import { findUserByIdOrUsername } from '../users/user-store.ts'
import type { Authenticated } from './authenticated.ts'

export type SudoRefusal = 'not_administrator' | 'wrong_credential' | 'insufficient_scope' | 'no_such_user'

/**
 * Returns the user that an administrator acts as, if the token was admitted and has the scope `sudo`.
 *
 * @param target the id or username
 */
export async function sudo(
  core: Core,
  { kind, scopes, user }: Authenticated,
  target: string,
): Promise<User | SudoRefusal> {
  if (!user?.isAdministrator) return 'not_administrator'
  if (kind === 'session' || kind === 'job') return 'wrong_credential'
  if (!scopes.includes('sudo')) return 'insufficient_scope'
  return (await findUserByIdOrUsername(readContextOf(core), target)) ?? 'no_such_user'
}
