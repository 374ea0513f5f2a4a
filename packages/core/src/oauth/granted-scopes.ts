import { scopesOf } from '../tokens/scope.ts'
import { OAuthRefusal } from './oauth-refusal.ts'

const DEFAULT_SCOPE = 'api'

/**
 * The scopes asked for, separated by spaces; when none is: `api`, if that is allowed.
 *
 * @throws OAuthRefusal `invalid_scope`
 * @see spec/rest-part2-details.md 2.5
 */
export function grantedScopes(requested: string | undefined, allowed: readonly string[]): readonly string[] {
  const asked = [...new Set(scopesOf(requested ?? ''))]
  const scopes = asked.length === 0 ? [DEFAULT_SCOPE] : asked
  if (!scopes.every((scope) => allowed.includes(scope))) throw new OAuthRefusal('invalid_scope')
  return scopes
}
