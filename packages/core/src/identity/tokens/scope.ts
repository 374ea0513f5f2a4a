/** The scopes limit what a token may be used for. */
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

/** The scopes of personal and impersonation tokens. Some are only for administrators. */
export const tokenScopes: readonly string[] = [
  ...apiScopes,
  ...repositoryScopes,
  ...observabilityScopes,
  ...administratorScopes,
]
/** The scopes of project and group tokens, which belong to no person. */
export const botScopes: readonly string[] = [
  ...apiScopes.filter((scope) => scope !== 'read_user'),
  ...repositoryScopes,
  ...observabilityScopes,
]
/** The scopes of OAuth applications and their tokens. */
export const oauthScopes: readonly string[] = [...tokenScopes, ...identityScopes]

/** Returns whether only administrators get the scope. */
export const isAdministratorScope = (scope: string): boolean =>
  (administratorScopes as readonly string[]).includes(scope)

/** Returns the given scopes that the user may get. Without a user, an application acts for itself. */
export const scopesWithin = (
  scopes: readonly string[],
  user: { readonly isAdministrator: boolean } | undefined,
): readonly string[] => (user?.isAdministrator ? scopes : scopes.filter((scope) => !isAdministratorScope(scope)))

/** Returns the scopes in a text, where they are separated by spaces. */
export const scopesOf = (text: string): string[] => text.split(' ').filter(Boolean)
