import {
  effectiveUrl,
  endHookCall,
  findCallOfPayload,
  findHook,
  findHookPayload,
  type Hook,
  type HookPayload,
  isExecutable,
  readContextOf,
  releaseHookPayload,
  settingOf,
  targetOf,
} from '@penstock/core'
import type { Attempt, ClaimedDelivery, Outcome } from '@penstock/delivery'
import { callHook, type HookCallContext } from './call-hook.ts'
import { completePayload } from './events/complete-payload.ts'
import { newUuid } from './new-uuid.ts'
import type { Json } from './payloads/shared-objects.ts'
import { prepareCall } from './prepare-call.ts'
import { failedCall } from './request-sender.ts'

/** The limit of requests in progress to one host, and how long others wait before they are tried again. */
const REQUESTS_PER_HOST = 32
const BUSY_MS = 250

const done: Outcome = { kind: 'delivered', rejectedItems: 0, message: '' }
const busy: Outcome = { kind: 'retry', retryAfterMs: BUSY_MS, reason: 'the host has too many requests', isLocal: true }

/** Makes the calls that events have caused: each one at most once. */
export class HookDeliverer {
  readonly #context: HookCallContext
  /** The requests in progress by host. */
  readonly #inProgress = new Map<string, number>()

  constructor(context: HookCallContext) {
    this.#context = context
  }

  /** Makes the calls of a batch. A failed call is logged for the owner of the hook, and never repeated. */
  readonly send = (batch: readonly ClaimedDelivery[], signal: AbortSignal): Promise<(Attempt | undefined)[]> =>
    Promise.all(
      batch.map(async ({ subject, progress }) =>
        signal.aborted ? undefined : { outcome: await this.#deliver(subject), progress },
      ),
    )

  async #deliver(subject: string): Promise<Outcome> {
    const { core } = this.#context
    const [payloadId = 0, hookId = 0] = subject.split('.').map(Number)
    const context = { ...readContextOf(core), core }
    const earlier = await findCallOfPayload(context, payloadId, hookId)
    if (earlier !== undefined) await this.#endInterrupted(earlier)
    else {
      const found = await this.#findCalled(payloadId, hookId)
      if (found !== undefined) {
        const host = targetOf(effectiveUrl(found.hook) ?? '')?.url.host ?? ''
        if (!this.#enter(host)) return busy
        try {
          await this.#call(found.hook, found.payload)
        } finally {
          this.#leave(host)
        }
      }
    }
    await core.db.write((db) => releaseHookPayload({ db }, payloadId))
    return done
  }

  /** Returns what to send; `undefined` if the hook has been removed or disabled, or nothing may be sent. */
  async #findCalled(payloadId: number, hookId: number): Promise<{ hook: Hook; payload: HookPayload } | undefined> {
    const { core } = this.#context
    const context = { ...readContextOf(core), core }
    const payload = await findHookPayload(context, payloadId)
    const hook = payload && (await findHook(context, hookId, payload.projectId))
    if (payload === undefined || hook === undefined || !isExecutable(hook, context.nowMs)) return undefined
    return (await settingOf(core, 'silent_mode_enabled')) ? undefined : { hook, payload }
  }

  async #call(hook: Hook, { id, projectId, event, eventUuid, data }: HookPayload): Promise<void> {
    const { core } = this.#context
    const payload = await completePayload(core, projectId, event, JSON.parse(data) as Json)
    const idempotencyKey = newUuid(core)
    const prepared = prepareCall(core, hook, { event, eventUuid, idempotencyKey }, payload)
    await callHook(this.#context, { hook, prepared, eventUuid, payloadId: id })
  }

  /** Ends a call that a process began and did not finish. The receiver may have acted on it. */
  async #endInterrupted({ id, hasEnded }: { readonly id: number; readonly hasEnded: boolean }): Promise<void> {
    if (hasEnded) return
    const { core, log } = this.#context
    log.warn(
      { event: 'hook.interrupted', call_id: id },
      'the process ended during a webhook request, which is not sent again',
    )
    await core.db.write((db) =>
      endHookCall(
        { db, nowMs: core.clock.nowMs() },
        id,
        failedCall('The service stopped before the answer was stored'),
      ),
    )
  }

  #enter(host: string): boolean {
    const count = this.#inProgress.get(host) ?? 0
    if (count >= REQUESTS_PER_HOST) return false
    this.#inProgress.set(host, count + 1)
    return true
  }

  #leave(host: string): void {
    const count = this.#inProgress.get(host)! - 1
    if (count === 0) this.#inProgress.delete(host)
    else this.#inProgress.set(host, count)
  }
}
