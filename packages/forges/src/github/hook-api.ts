import { actionsHookApi, hookBodies } from '../actions/hook-api.ts'
import type { HookApi } from '../api/hook-api.ts'
import { hookRules } from './hook-rules.ts'

export const hookApi: HookApi = {
  ...actionsHookApi,
  ...hookBodies({ name: 'web' }, hookRules.recordEvents, { insecure_ssl: '0' }),
  pageSize: { per_page: 100 },
  // Tokens other than classic ones have no such header.
  readScopes: ({ headers }) => headers['x-oauth-scopes']?.split(',').map((scope) => scope.trim()),
  sufficientScopes: { project: ['repo', 'admin:repo_hook', 'write:repo_hook'], group: ['admin:org_hook'] },
}
