/**
 * What a token may be used for.
 *
 * @see spec/rest-part2-details.md 2.3
 */
const apiScopes = [
  'api',
  'read_api',
  'read_user',
  'create_runner',
  'manage_runner',
  'k8s_proxy',
  'self_rotate',
  'mcp',
] as const
const repositoryScopes = [
  'read_repository',
  'write_repository',
  'read_registry',
  'write_registry',
  'read_virtual_registry',
  'write_virtual_registry',
] as const
const observabilityScopes = ['read_observability', 'write_observability', 'ai_features', 'ai_workflows'] as const
const identityScopes = ['openid', 'profile', 'email'] as const
const administratorScopes = ['sudo', 'admin_mode', 'read_service_ping'] as const

/** Of personal and impersonation tokens; the administrators' only where the user is one. */
export const tokenScopes: readonly string[] = [
  ...apiScopes,
  ...repositoryScopes,
  ...observabilityScopes,
  ...administratorScopes,
]
/** Of project and group tokens, which are about no person. */
export const botScopes: readonly string[] = [
  ...apiScopes.filter((scope) => scope !== 'read_user'),
  ...repositoryScopes,
  ...observabilityScopes,
]
/** Of OAuth applications and their tokens. */
export const oauthScopes: readonly string[] = [...tokenScopes, ...identityScopes]

/** Worth nothing in the hands of anyone else, who is not given them. */
export const isAdministratorScope = (scope: string): boolean =>
  (administratorScopes as readonly string[]).includes(scope)

/** Those of some scopes that a user may be given; without one, an application acts for itself. */
export const scopesWithin = (
  scopes: readonly string[],
  user: { readonly isAdministrator: boolean } | undefined,
): readonly string[] => (user?.isAdministrator ? scopes : scopes.filter((scope) => !isAdministratorScope(scope)))

/** As a column holds them: separated by spaces, as OAuth writes them. */
export const scopesOf = (text: string): string[] => text.split(' ').filter(Boolean)
