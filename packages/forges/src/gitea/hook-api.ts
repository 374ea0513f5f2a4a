import { actionsHookApi, hookBodies } from '../actions/hook-api.ts'
import type { HookApi } from '../api/hook-api.ts'
import { hookRules } from './hook-rules.ts'
import { MAX_PAGE } from './rest-api.ts'

/** The parts that the APIs of Gitea and Forgejo share. Neither tells the scopes of a token. */
export const giteaHookApi = {
  ...actionsHookApi,
  pageSize: { limit: MAX_PAGE },
  readScopes: () => undefined,
  sufficientScopes: { project: ['write:repository'], group: ['write:organization'] },
} as const satisfies Omit<HookApi, 'create' | 'update'>

export const hookApi: HookApi = { ...giteaHookApi, ...hookBodies({ type: 'gitea' }, hookRules.recordEvents) }
