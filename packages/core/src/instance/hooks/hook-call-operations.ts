import { z } from 'zod'
import type { Page } from '../../base/kit/page.ts'
import type { HookCallResult } from '../../base/model/hook-calls.ts'
import type { CallLimit } from '../../base/operations/call-limit.ts'
import type { CallContext } from '../../base/operations/context.ts'
import { query, steps } from '../../base/operations/operation.ts'
import { rateOf } from '../../base/settings/rate-of.ts'
import { hookInput, isExecutable } from './hook.ts'
import { listHookEventsInput, type StoredHookCall } from './hook-log.ts'
import { getHookCall, pageOfHookCalls } from './hook-log-store.ts'
import { impossible, subject } from './hook-operations.ts'
import { digestOfUrl, effectiveUrl } from './hook-rules.ts'
import { getHook } from './hook-store.ts'
import { hookSwitches, switchByColumn } from './hook-switches.ts'

/** Lists the calls of a hook in the past days, newest first. */
export const listHookEvents = query(
  { name: 'listHookEvents', input: listHookEventsInput, permission: 'read_hook', subject },
  async (context, { hookId, status, ...page }): Promise<Page<StoredHookCall>> => {
    const hook = await getHook(context, context.subject.id, hookId)
    return pageOfHookCalls(context, hook.id, status, page)
  },
)

const perUserAndProject = (name: string, setting: Parameters<typeof rateOf>[0]): CallLimit => ({
  name,
  per: ['user', 'subject'],
  periodSeconds: 60,
  count: rateOf(setting),
  isCountedInside: true,
})

/** Sends an earlier call again. Any answer of the receiver is a success. */
export const resendHookEvent = steps(
  {
    name: 'resendHookEvent',
    input: hookInput.extend({ hookEventId: z.int() }),
    permission: 'admin_hook',
    subject,
    limits: [perUserAndProject('web_hook_event_resend', 'web_hook_event_resend_limit')],
  },
  async (context, { hookId, hookEventId }): Promise<{ readonly responseStatus: number }> => {
    const { subject: project, nowMs } = context
    const hook = await getHook(context, project.id, hookId)
    await context.countCall()
    const stored = await getHookCall(context, hook.id, hookEventId)
    const url = effectiveUrl(hook)
    if (url === undefined || digestOfUrl(url) !== stored.urlDigest) {
      throw impossible('The hook URL has changed, and this log entry cannot be retried')
    }
    if (!isExecutable(hook, nowMs)) throw impossible('Hook disabled')
    const result = await callsOf(context).resend(context, { hookId: hook.id, callId: stored.id })
    if (result.kind === 'failed') throw impossible(result.reason)
    return { responseStatus: result.status }
  },
)

/** Sends a sample of an event, also to a disabled hook. A success enables the hook. */
export const testHook = steps(
  {
    name: 'testHook',
    input: hookInput.extend({ trigger: z.enum([...switchByColumn.keys()] as [string, ...string[]]) }),
    permission: 'admin_hook',
    subject,
    limits: [perUserAndProject('web_hook_test', 'web_hook_test_limit')],
  },
  async (context, { hookId, trigger }): Promise<{ readonly message: string }> => {
    const hook = await getHook(context, context.subject.id, hookId)
    await context.countCall()
    const event = switchByColumn.get(trigger)!
    if (!hookSwitches[event].isTestable) throw impossible('Testing not available for this hook')
    const result = await callsOf(context).test(context, { projectId: hook.projectId, hookId: hook.id, event })
    if (result.kind === 'failed') throw impossible(result.reason)
    if (!isSuccess(result)) throw impossible(result.body)
    return { message: '201 Created' }
  },
)

const isSuccess = ({ status }: Extract<HookCallResult, { kind: 'answered' }>): boolean => status >= 200 && status < 300

function callsOf({ core }: CallContext) {
  if (core.hookCalls === undefined) throw impossible('This process does not send requests to hooks')
  return core.hookCalls
}
