import { hookBodies } from '../actions/hook-api.ts'
import type { HookApi } from '../api/hook-api.ts'
import { giteaHookApi } from '../gitea/hook-api.ts'
import { hookRules } from './hook-rules.ts'

export const hookApi: HookApi = { ...giteaHookApi, ...hookBodies({ type: 'forgejo' }, hookRules.recordEvents) }
