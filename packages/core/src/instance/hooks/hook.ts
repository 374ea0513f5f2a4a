import { z } from 'zod'
import { off, on } from '../../base/kit/common-fields.ts'
import { changesOf, flag, id, int, type ObjectOf, oneOf, parametersOf, text, time } from '../../base/kit/field-table.ts'
import { pageInput } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { branchFilterStrategies } from './branch-filter.ts'
import type { HookSecrets } from './hook-secrets.ts'
import { type HookSwitchColumn, type HookSwitchName, hookSwitchNames, switchColumn } from './hook-switches.ts'

const switchFields = Object.fromEntries(
  hookSwitchNames.map((name) => [name, flag(switchColumn(name)).default(name === 'pushEvents')]),
) as { readonly [Name in HookSwitchName]: ReturnType<typeof off<HookSwitchColumn & SnakeOf<Name>>> }

/** Selects the column of one switch among all of them. */
type SnakeOf<Name extends HookSwitchName> = ReturnType<typeof switchColumn<Name>>

/** The fields that a user sets, except those that no answer shows. The rules are in `hook-rules.ts`. */
export const hookDraft = {
  url: text('url'),
  name: text('name').optional(),
  description: text('description').optional(),
  ...switchFields,
  /** Stored and returned; nothing causes such an event. */
  vulnerabilityEvents: off('vulnerability_events'),
  enableSslVerification: on('enable_ssl_verification'),
  pushEventsBranchFilter: text('push_events_branch_filter').optional(),
  branchFilterStrategy: oneOf('branch_filter_strategy', branchFilterStrategies).default('wildcard'),
  customWebhookTemplate: text('custom_webhook_template').optional(),
}
export type HookDraft = ObjectOf<typeof hookDraft>

export const hookFields = {
  id: id(),
  projectId: int('project_id'),
  ...hookDraft,
  recentFailures: int('recent_failures').default(0),
  disabledUntilMs: time('disabled_until_ms').optional(),
  createdAtMs: time('created_at_ms'),
  updatedAtMs: time('updated_at_ms'),
}

/** A hook with its secrets, which only deliveries and changes use. */
export interface Hook extends ObjectOf<typeof hookFields> {
  readonly secrets: HookSecrets
}

export const alertStatuses = ['executable', 'temporarily_disabled', 'disabled'] as const
type AlertStatus = (typeof alertStatuses)[number]

/** A hook as answers show it. */
export interface ShownHook extends ObjectOf<typeof hookFields> {
  readonly alertStatus: AlertStatus
  readonly urlVariableKeys: readonly string[]
  readonly customHeaderKeys: readonly string[]
  readonly hasToken: boolean
  readonly hasSigningToken: boolean
}

/** The number of failures in a row after which a hook is paused, and after which it is disabled for good. */
const PAUSED_FROM = 4
const DISABLED_FROM = 40
const FIRST_PAUSE_MS = 60_000
const MAX_PAUSE_MS = 24 * 3_600_000

type Health = Pick<Hook, 'recentFailures' | 'disabledUntilMs'>

export function alertStatusOf({ recentFailures, disabledUntilMs }: Health, nowMs: number): AlertStatus {
  if (recentFailures >= DISABLED_FROM) return 'disabled'
  return disabledUntilMs !== undefined && disabledUntilMs > nowMs ? 'temporarily_disabled' : 'executable'
}

export const isExecutable = (hook: Health, nowMs: number): boolean => alertStatusOf(hook, nowMs) === 'executable'

/** Returns the health of a hook after another failure. From the fourth in a row on, each pause is twice as long. */
export function healthAfterFailure({ recentFailures }: Health, nowMs: number): Health {
  const failures = Math.min(recentFailures + 1, DISABLED_FROM)
  if (failures < PAUSED_FROM) return { recentFailures: failures, disabledUntilMs: undefined }
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - PAUSED_FROM), MAX_PAUSE_MS)
  return { recentFailures: failures, disabledUntilMs: nowMs + pauseMs }
}

export function shownHook({ secrets, ...hook }: Hook, nowMs: number): ShownHook {
  return {
    ...hook,
    alertStatus: alertStatusOf(hook, nowMs),
    urlVariableKeys: Object.keys(secrets.urlVariables),
    customHeaderKeys: Object.keys(secrets.customHeaders),
    hasToken: secrets.token !== undefined,
    hasSigningToken: secrets.signingToken !== undefined,
  }
}

const inProject = { project: namespaceRef }
const one = { ...inProject, hookId: z.int() }
const pair = z.object({ key: z.string(), value: z.string() })
const storedPair = z.object({ key: z.string(), value: z.string().nullish() })
const secrets = { token: z.string().nullish(), signingToken: z.string().nullish() }
/** The feature does not exist here: only false is accepted. */
const aiFlowCallbackEnabled = z.boolean().nullish()

export const listHooksInput = z.object({ ...inProject, ...pageInput })
export const hookInput = z.object(one)
export const createHookInput = z.object({
  ...inProject,
  ...parametersOf(hookDraft),
  ...secrets,
  aiFlowCallbackEnabled,
  customHeaders: z.array(pair).nullish(),
  urlVariables: z.array(pair).nullish(),
})
export const updateHookInput = z.object({
  ...one,
  ...changesOf(hookDraft),
  url: z.string(),
  ...secrets,
  aiFlowCallbackEnabled,
  customHeaders: z.array(storedPair).nullish(),
  urlVariables: z.array(storedPair).nullish(),
})
export const hookKeyInput = z.object({ ...one, key: z.string() })
export const setHookKeyInput = z.object({ ...one, key: z.string(), value: z.string() })
