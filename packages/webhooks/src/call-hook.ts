import {
  type Core,
  endHookCall,
  findHook,
  type Hook,
  type HookCallEnd,
  type HookCallResult,
  healthAfterFailure,
  insertHookCall,
  isExecutable,
  joinHookChain,
  setHookHealth,
} from '@penstock/core'
import type { Log } from '@penstock/runtime'
import type { PreparedCall } from './prepare-call.ts'
import { maskSecrets } from './redaction.ts'
import { failedCall, type RequestSender } from './request-sender.ts'

export interface HookCallContext {
  readonly core: Core
  readonly sender: RequestSender
  readonly log: Log
}

/** One call of a hook: the request, and how it belongs to an event. */
interface OneCall {
  readonly hook: Hook
  readonly prepared: PreparedCall
  readonly eventUuid: string
  /** The event that causes the call, if it is not a test and not repeated. */
  readonly payloadId?: number
  /** Runs in the transaction that stores the end of the call, or that finds out that it may not be made. */
  readonly onEnded?: (db: Writer) => Promise<void>
}

type Writer = Parameters<Parameters<Core['db']['write']>[0]>[0]

const RECURSIVE = 'Recursive webhook blocked'

/**
 * Calls a hook once. The entry of the event log is stored before the request, so that a call is never repeated unnoticed if the
 * process ends in between.
 */
export async function callHook(context: HookCallContext, call: OneCall): Promise<HookCallResult> {
  const { core, sender, log } = context
  const { hook, prepared, eventUuid, payloadId, onEnded } = call
  const callId = await core.db.write(async (db) => {
    const tx = { db, nowMs: core.clock.nowMs() }
    if (await joinHookChain(tx, eventUuid, hook.id)) return insertHookCall(tx, prepared.start, payloadId)
    await onEnded?.(db)
    return undefined
  })
  if (callId === undefined) {
    log.warn(
      { event: 'hook.recursive', hook_id: hook.id, event_uuid: eventUuid },
      'a webhook that would call itself was blocked',
    )
    return { kind: 'failed', reason: RECURSIVE }
  }
  const { request } = prepared
  const answer =
    'reason' in request ? failedCall(request.reason) : await sender.send(request, hook.enableSslVerification)
  const end = masked(answer, hook)
  await core.db.write(async (db) => {
    const tx = { db, nowMs: core.clock.nowMs() }
    await endHookCall(tx, callId, end)
    await countResult({ core, db }, call, end, tx.nowMs)
    await onEnded?.(db)
  })
  return end.status === undefined
    ? { kind: 'failed', reason: end.internalError ?? 'internal error' }
    : { kind: 'answered', status: end.status, body: end.responseBody }
}

/** Hides the secrets of the hook, which a receiver may repeat. */
const masked = (end: HookCallEnd, { secrets }: Hook): HookCallEnd => ({
  ...end,
  internalError: end.internalError && maskSecrets(end.internalError, secrets),
  responseHeaders: Object.fromEntries(
    Object.entries(end.responseHeaders).map(([name, value]) => [name, maskSecrets(value, secrets)]),
  ),
  responseBody: maskSecrets(end.responseBody, secrets),
})

/** Stores the health of the hook after a call. Failures count only while the hook is executable. */
async function countResult(
  { core, db }: { readonly core: Core; readonly db: Writer },
  { hook }: OneCall,
  { status }: HookCallEnd,
  nowMs: number,
): Promise<void> {
  const now = await findHook({ core, db, nowMs }, hook.id)
  if (now === undefined) return
  const isSuccess = status !== undefined && status >= 200 && status < 400
  if (isSuccess) {
    const isHealthy = now.recentFailures === 0 && now.disabledUntilMs === undefined
    if (!isHealthy) await setHookHealth({ db }, hook.id, { recentFailures: 0, disabledUntilMs: undefined })
    return
  }
  if (isExecutable(now, nowMs)) await setHookHealth({ db }, hook.id, healthAfterFailure(now, nowMs))
}
