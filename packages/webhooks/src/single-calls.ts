import {
  type CallContext,
  findHook,
  getHookCall,
  getProject,
  type HookCallResult,
  type HookCalls,
  type HookSwitchName,
  OVERSIZE_DATA,
  readContextOf,
  settingOf,
} from '@penstock/core'
import { callHook, type HookCallContext } from './call-hook.ts'
import { completePayload } from './events/complete-payload.ts'
import { createSample, toHookSwitch } from './events/samples.ts'
import { newUuid } from './new-uuid.ts'
import { prepareBody, prepareCall } from './prepare-call.ts'

/** A call that an operation makes for its caller, who waits for the answer. */
interface SingleCallContext extends HookCallContext {
  readonly caller: CallContext
}

const SILENT = 'Silent mode enabled'
const removed: HookCallResult = { kind: 'failed', reason: 'The hook has been removed' }

/** Calls a hook with a sample of an event. */
export async function testCall(
  context: SingleCallContext,
  { projectId, hookId, event: name }: Parameters<HookCalls['test']>[1],
): Promise<HookCallResult> {
  const { core, caller } = context
  if (await settingOf(core, 'silent_mode_enabled')) return { kind: 'failed', reason: SILENT }
  const reading = { ...readContextOf(core), core }
  const hook = await findHook(reading, hookId)
  if (hook === undefined) return removed
  const event = name as HookSwitchName
  const project = await getProject(reading, projectId)
  const sample = await createSample(caller, project, event)
  if ('missing' in sample) return { kind: 'failed', reason: sample.missing }
  const payload = await completePayload(core, project.id, event, sample.payload)
  const facts = { event, eventUuid: caller.request.eventUuid ?? newUuid(core), idempotencyKey: newUuid(core) }
  const prepared = prepareCall(core, hook, facts, payload)
  return callHook(context, { hook, prepared, eventUuid: facts.eventUuid })
}

/** Sends the stored data of an earlier call again, with the same idempotency key. */
export async function resendCall(
  context: SingleCallContext,
  { hookId, callId }: Parameters<HookCalls['resend']>[1],
): Promise<HookCallResult> {
  const { core, caller } = context
  if (await settingOf(core, 'silent_mode_enabled')) return { kind: 'failed', reason: SILENT }
  const reading = { ...readContextOf(core), core }
  const hook = await findHook(reading, hookId)
  if (hook === undefined) return removed
  const stored = await getHookCall(reading, hookId, callId)
  if (stored.requestData === OVERSIZE_DATA) {
    return { kind: 'failed', reason: 'The request data was too large to be stored' }
  }
  const { idempotencyKey, trigger, requestData } = stored
  const facts = {
    event: toHookSwitch(trigger),
    eventUuid: caller.request.eventUuid ?? newUuid(core),
    idempotencyKey,
  }
  const prepared = prepareBody(core, hook, facts, requestData)
  return callHook(context, { hook, prepared, eventUuid: facts.eventUuid })
}
