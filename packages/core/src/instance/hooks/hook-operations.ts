import { isDeepStrictEqual } from 'node:util'
import { DomainError, notFound } from '../../base/kit/domain-error.ts'
import { newObject, withInput } from '../../base/kit/field-table.ts'
import { mapPage, type Page } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project, ProjectRef } from '../../base/model/project.ts'
import type { CallContext, Core, Tx } from '../../base/operations/context.ts'
import { command, query, type StepsContext, steps } from '../../base/operations/operation.ts'
import { comparedFields, type RecordedKind, recordChange } from '../../base/operations/record-change.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { storedFilter } from './branch-filter.ts'
import {
  createHookInput,
  type Hook,
  hookDraft,
  hookFields,
  hookInput,
  hookKeyInput,
  listHooksInput,
  type ShownHook,
  setHookKeyInput,
  shownHook,
  updateHookInput,
} from './hook.ts'
import { deleteCallsOfHook } from './hook-log-store.ts'
import {
  areValidHeaders,
  areValidVariables,
  type CheckedHook,
  effectiveUrl,
  hasValidFilter,
  hookErrors,
  MAX_HEADER_NAME,
  MAX_HOOKS,
  sentenceOf,
} from './hook-rules.ts'
import { type GivenPair, type HookSecrets, noSecrets, secretsAfter } from './hook-secrets.ts'
import { countHooks, deleteHook, findHook, getHook, insertHook, pageOfHooks, updateHook } from './hook-store.ts'
import { placeholdersIn, targetOf } from './hook-url.ts'

export const subject = (context: ReadContext, { project }: { readonly project: ProjectRef }) =>
  getProject(context, project)
const reads = { permission: 'read_hook', subject } as const
const writes = { permission: 'admin_hook', subject } as const

export const listHooks = query(
  { name: 'listHooks', input: listHooksInput, ...reads },
  async (context, page): Promise<Page<ShownHook>> =>
    mapPage(await pageOfHooks(context, context.subject.id, page), (hook) => shownHook(hook, context.nowMs)),
)

export const getProjectHook = query(
  { name: 'getHook', input: hookInput, ...reads },
  async (context, { hookId }): Promise<ShownHook> =>
    shownHook(await getHook(context, context.subject.id, hookId), context.nowMs),
)

export const createHook = steps(
  { name: 'createHook', input: createHookInput, ...writes },
  async (context, { aiFlowCallbackEnabled, ...input }): Promise<ShownHook> => {
    refuseAiFlow(aiFlowCallbackEnabled)
    const secrets = secretsAfter({ url: input.url, secrets: noSecrets }, input)
    const draft = { ...withStoredFilter(newObject(hookDraft, input)), secrets }
    await checkHook(context.core, draft)
    return context.write(async (tx) => {
      const { id: projectId } = await projectOf(tx, context.subject)
      const isFull = (await countHooks(tx, projectId)) >= MAX_HOOKS
      const full = isFull ? { base: [`Maximum number of project hooks (${MAX_HOOKS}) exceeded`] } : {}
      const errors = { ...full, ...hookErrors(draft) }
      if (Object.keys(errors).length > 0) throw unprocessable(sentenceOf(errors))
      const hook = await insertHook(tx, projectId, draft)
      await recordChange(tx, hookEvents, 'created', { after: hook, projectId })
      return shownHook(hook, tx.nowMs)
    })
  },
)

export const updateProjectHook = steps(
  { name: 'updateHook', input: updateHookInput, ...writes },
  async (context, { hookId, aiFlowCallbackEnabled, ...input }): Promise<ShownHook> => {
    refuseAiFlow(aiFlowCallbackEnabled)
    const changed = (before: Hook): Hook => {
      requireValues(before.secrets, input)
      const draft = withStoredFilter(withInput(hookDraft, before, input))
      return { ...draft, secrets: secretsAfter(before, input) }
    }
    return changeHook(context, hookId, async (before) => {
      const hook = changed(before)
      await checkHook(context.core, hook, HEADERS_ON_UPDATE)
      const errors = hookErrors(hook)
      if (Object.keys(errors).length > 0) {
        throw new DomainError({ code: 'unprocessable', message: sentenceOf(errors), fields: errors })
      }
      return hook
    })
  },
)

/** The limit of log entries that the removal of a hook deletes itself, because other writers wait until it ends. */
const CALLS_DELETED_AT_ONCE = 1_000

/** Removes a hook. Returns the hook as it was, or `undefined` if there is none. */
export const removeHook = command(
  { name: 'removeHook', input: hookInput, ...writes, isConditional: true },
  async (tx, { hookId }): Promise<ShownHook | undefined> => {
    const hook = await findHook(tx, hookId, tx.subject.id)
    tx.requireUnmodified(hook?.updatedAtMs)
    if (hook === undefined) return undefined
    await deleteHook(tx, hook.id)
    await deleteCallsOfHook(tx, hook.id, CALLS_DELETED_AT_ONCE)
    await recordChange(tx, hookEvents, 'removed', { before: hook, projectId: tx.subject.id })
    return shownHook(hook, tx.nowMs)
  },
)

export const setHookHeader = steps(
  { name: 'setHookHeader', input: setHookKeyInput, ...writes },
  async (context, { hookId, key, value }): Promise<void> => {
    if (key.length > MAX_HEADER_NAME) {
      throw new DomainError({ code: 'parameters', problems: [{ path: ['key'], problem: 'too_long', max: 255 }] })
    }
    await changeHook(context, hookId, async (before) => {
      const customHeaders = { ...before.secrets.customHeaders, [key]: value }
      if (!areValidHeaders(customHeaders)) throw unprocessable('Illegal key or value')
      return { ...before, secrets: { ...before.secrets, customHeaders } }
    })
  },
)

export const removeHookHeader = steps(
  { name: 'removeHookHeader', input: hookKeyInput, ...writes },
  async (context, { hookId, key }): Promise<void> => {
    await changeHook(context, hookId, async (before) => {
      if (!Object.hasOwn(before.secrets.customHeaders, key)) throw notFound('Custom header')
      return { ...before, secrets: { ...before.secrets, customHeaders: without(before.secrets.customHeaders, key) } }
    })
  },
)

export const setHookUrlVariable = steps(
  { name: 'setHookUrlVariable', input: setHookKeyInput, ...writes },
  async (context, { hookId, key, value }): Promise<void> => {
    await changeHook(context, hookId, async (before) => {
      const secrets = secretsAfter(before, { url: before.url, urlVariables: [{ key, value }] })
      const isValid = areValidVariables(secrets.urlVariables)
      if (!isValid || !(await isUsable(context.core, { ...before, secrets })))
        throw unprocessable('Illegal key or value')
      return { ...before, secrets }
    })
  },
)

export const removeHookUrlVariable = steps(
  { name: 'removeHookUrlVariable', input: hookKeyInput, ...writes },
  async (context, { hookId, key }): Promise<void> => {
    await changeHook(context, hookId, async (before) => {
      if (!Object.hasOwn(before.secrets.urlVariables, key)) throw notFound('URL variable')
      if (placeholdersIn(before.url).includes(key)) throw unprocessable('Could not unset variable')
      return { ...before, secrets: { ...before.secrets, urlVariables: without(before.secrets.urlVariables, key) } }
    })
  },
)

type OnProject = StepsContext & { readonly subject: Project }

/** The number of times that a change is computed again because another one came first. */
const MAX_TRIES = 5

/**
 * Changes a hook. `change` may resolve host names, so it runs outside the transaction, and again if the hook has changed
 * in between.
 */
async function changeHook(
  context: OnProject,
  hookId: number,
  change: (before: Hook) => Promise<Hook>,
): Promise<ShownHook> {
  for (let tries = 1; ; tries += 1) {
    const before = await getHook({ ...context, db: context.core.db.read }, context.subject.id, hookId)
    const hook = await change(before)
    const changed = await context.write(async (tx) => {
      await projectOf(tx, context.subject)
      const now = await getHook(tx, context.subject.id, hookId)
      if (!isSameHook(now, before)) {
        if (tries < MAX_TRIES) return undefined
        throw new DomainError({ code: 'conflict' })
      }
      const after = await updateHook(tx, hook)
      await recordChange(tx, hookEvents, 'updated', { before: now, after, projectId: after.projectId })
      return shownHook(after, tx.nowMs)
    })
    if (changed !== undefined) return changed
  }
}

/** Returns whether two versions of a hook are the same apart from its health. Deliveries change its health at any time. */
const isSameHook = (one: Hook, other: Hook): boolean => isDeepStrictEqual(withoutHealth(one), withoutHealth(other))

const withoutHealth = ({ recentFailures: _, disabledUntilMs: __, ...hook }: Hook) => hook

/** Loads the project again, because it may have been removed, or the permission lost, while a host name was resolved. */
const projectOf = (tx: Tx & CallContext, { id }: Project): Promise<Project> => getProject(tx, id)

const withStoredFilter = <Draft extends Pick<Hook, 'branchFilterStrategy' | 'pushEventsBranchFilter'>>(
  draft: Draft,
): Draft => ({
  ...draft,
  pushEventsBranchFilter: storedFilter(draft.branchFilterStrategy, draft.pushEventsBranchFilter),
})

const HEADERS_ON_CREATE = 'Custom headers must be a valid json schema'
const HEADERS_ON_UPDATE = 'Custom headers validation failed: must be a valid json schema'

/** Checks what is reported first: the URL, then the branch filter, then the headers. @throws DomainError `unprocessable` */
async function checkHook(core: Core, hook: CheckedHook, headersText = HEADERS_ON_CREATE): Promise<void> {
  if (!(await isUsable(core, hook))) throw unprocessable('Invalid url given')
  if (!hasValidFilter(hook)) throw unprocessable('Invalid branch filter given')
  if (!areValidHeaders(hook.secrets.customHeaders)) throw unprocessable(headersText)
}

/** Returns whether the hook's URL is valid, and requests to it are allowed. */
async function isUsable(core: Core, hook: CheckedHook): Promise<boolean> {
  const url = effectiveUrl(hook)
  return url !== undefined && (await core.hookCalls?.findBlockReason(core, targetOf(url)!.url)) === undefined
}

/** Rejects pairs without a value, unless there is a stored one. @throws DomainError `parameters` */
function requireValues(
  { urlVariables, customHeaders }: HookSecrets,
  given: {
    readonly urlVariables?: readonly GivenPair[] | null | undefined
    readonly customHeaders?: readonly GivenPair[] | null | undefined
  },
): void {
  const missing = (name: 'urlVariables' | 'customHeaders', stored: Readonly<Record<string, string>>) =>
    (given[name] ?? []).flatMap(({ key, value }, index) =>
      value == null && !Object.hasOwn(stored, key)
        ? [{ path: [name, index, 'value'], problem: 'missing' as const }]
        : [],
    )
  const problems = [...missing('customHeaders', customHeaders), ...missing('urlVariables', urlVariables)]
  if (problems.length > 0) throw new DomainError({ code: 'parameters', problems })
}

/** @throws DomainError `refused` */
function refuseAiFlow(isEnabled: boolean | null | undefined): void {
  if (!isEnabled) return
  const message = '400 Bad request - ai_flow_callback_enabled is not available for this namespace'
  throw new DomainError({ code: 'refused', message })
}

const without = (values: Readonly<Record<string, string>>, key: string): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([name]) => name !== key))

const unprocessable = (message: string): DomainError => new DomainError({ code: 'unprocessable', message })
export const impossible = (message: string): DomainError => new DomainError({ code: 'impossible', message })

const { recentFailures: _, disabledUntilMs: __, ...recorded } = hookFields

const hookEvents: RecordedKind<Hook> = {
  noun: 'hook',
  // A URL may contain a credential, and a template a secret.
  compared: comparedFields({
    ...recorded,
    url: hookFields.url.secret(),
    customWebhookTemplate: hookFields.customWebhookTemplate.secret(),
  }),
  detailsOf: ({ name }) => ({ name }),
}
