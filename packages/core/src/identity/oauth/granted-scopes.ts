import { scopesOf } from '../tokens/scope.ts'
import { OAuthRefusal } from './oauth-refusal.ts'

const DEFAULT_SCOPE = 'api'

/**
 * Returns the requested scopes, which are separated by spaces; `api` if there are none.
 *
 * @throws OAuthRefusal `invalid_scope` if one of them is not allowed
 */
export function grantedScopes(requested: string | undefined, allowed: readonly string[]): readonly string[] {
  const asked = [...new Set(scopesOf(requested ?? ''))]
  const scopes = asked.length === 0 ? [DEFAULT_SCOPE] : asked
  if (!scopes.every((scope) => allowed.includes(scope))) throw new OAuthRefusal('invalid_scope')
  return scopes
}
