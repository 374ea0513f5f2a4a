import {
  type Core,
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
import { isUnavailable } from '@penstock/db'
import type { Attempt, ClaimedDelivery, Outcome } from '@penstock/delivery'
import { callHook, type HookCallContext } from './call-hook.ts'
import { completePayload } from './events/complete-payload.ts'
import { newUuid } from './new-uuid.ts'
import type { Json } from './payloads/shared-objects.ts'
import { type CallFacts, type PreparedCall, prepareCall, unpreparedCall } from './prepare-call.ts'
import { failedCall } from './request-sender.ts'

/** The limit of requests in progress to one host, and how long others wait before they are tried again. */
const REQUESTS_PER_HOST = 32
const BUSY_MS = 250
/** The progress of a delivery after its payload has been released: nothing is left to do. */
const RELEASED = 'released'

const done: Outcome = { kind: 'delivered', rejectedItems: 0, message: '' }
const busy: Outcome = { kind: 'retry', retryAfterMs: BUSY_MS, reason: 'the host has too many requests', isLocal: true }
const failed: Outcome = { kind: 'retry', retryAfterMs: 0, reason: 'internal error', isLocal: true }

type Writer = Parameters<Parameters<Core['db']['write']>[0]>[0]

interface HookDelivererContext extends HookCallContext {
  /** Called if the database cannot be used; the delivery is tried again. */
  readonly onUnavailable: (error: unknown) => void
  /** Stores the progress of a delivery; `false` if it was stored before, or another process has the delivery now. */
  readonly reach: (db: Writer, delivery: ClaimedDelivery, progress: string) => Promise<boolean>
}

/** Makes the calls that events have caused: each one at most once. */
export class HookDeliverer {
  readonly #context: HookDelivererContext
  /** The requests in progress by host. */
  readonly #inProgress = new Map<string, number>()

  constructor(context: HookDelivererContext) {
    this.#context = context
  }

  /** Makes the calls of a batch. A failed call is logged for the owner of the hook, and never repeated. */
  readonly send = (batch: readonly ClaimedDelivery[], signal: AbortSignal): Promise<(Attempt | undefined)[]> =>
    Promise.all(
      batch.map(async (delivery) =>
        signal.aborted ? undefined : { outcome: await this.#attempt(delivery), progress: delivery.progress },
      ),
    )

  /** An error here, such as that of a database that is away, must not affect the other deliveries of the batch. */
  async #attempt(delivery: ClaimedDelivery): Promise<Outcome> {
    try {
      return await this.#deliver(delivery)
    } catch (error) {
      const { log, onUnavailable } = this.#context
      if (isUnavailable(error)) onUnavailable(error)
      else {
        log.error(
          { event: 'hook.delivery_failed', delivery: delivery.key, err: error },
          'a webhook delivery could not be made and is tried again',
        )
      }
      return failed
    }
  }

  async #deliver(delivery: ClaimedDelivery): Promise<Outcome> {
    const { core } = this.#context
    if (delivery.progress === RELEASED) return done
    const [payloadId = 0, hookId = 0] = delivery.subject.split('.').map(Number)
    const release = (db: Writer) => this.#release(db, delivery, payloadId)
    const earlier = await findCallOfPayload(readContextOf(core), payloadId, hookId)
    if (earlier !== undefined) {
      await this.#endInterrupted(earlier, release)
      return done
    }
    const found = await this.#findCalled(payloadId, hookId)
    if (found === undefined) {
      await core.db.write(release)
      return done
    }
    const host = targetOf(effectiveUrl(found.hook) ?? '')?.url.host ?? ''
    if (!this.#enter(host)) return busy
    try {
      await this.#call(found.hook, found.payload, release)
    } finally {
      this.#leave(host)
    }
    return done
  }

  /** Counts the call as made, once for each delivery: a process may end after this and before the delivery is settled. */
  async #release(db: Writer, delivery: ClaimedDelivery, payloadId: number): Promise<void> {
    if (await this.#context.reach(db, delivery, RELEASED)) await releaseHookPayload({ db }, payloadId)
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

  async #call(hook: Hook, payload: HookPayload, onEnded: (db: Writer) => Promise<void>): Promise<void> {
    const { id, event, eventUuid } = payload
    const prepared = await this.#prepare(hook, payload, {
      event,
      eventUuid,
      idempotencyKey: newUuid(this.#context.core),
    })
    await callHook(this.#context, { hook, prepared, eventUuid, payloadId: id, onEnded })
  }

  /** Prepares the request. A payload that cannot be completed is an entry of the log, because the next try would fail too. */
  async #prepare(hook: Hook, { projectId, event, data }: HookPayload, facts: CallFacts): Promise<PreparedCall> {
    const { core, log } = this.#context
    try {
      return prepareCall(core, hook, facts, await completePayload(core, projectId, event, JSON.parse(data) as Json))
    } catch (error) {
      if (isUnavailable(error)) throw error
      log.error({ event: 'hook.payload_failed', hook_id: hook.id, err: error }, 'a webhook payload could not be made')
      return unpreparedCall(hook, facts, 'The payload could not be made')
    }
  }

  /** Ends a call that a process began and did not finish. The receiver may have acted on it. */
  async #endInterrupted(
    { id, hasEnded }: { readonly id: number; readonly hasEnded: boolean },
    release: (db: Writer) => Promise<void>,
  ): Promise<void> {
    const { core, log } = this.#context
    if (!hasEnded) {
      log.warn(
        { event: 'hook.interrupted', call_id: id },
        'the process ended during a webhook request, which is not sent again',
      )
    }
    await core.db.write(async (db) => {
      const tx = { db, nowMs: core.clock.nowMs() }
      if (!hasEnded) await endHookCall(tx, id, failedCall('The service stopped before the answer was stored'))
      await release(db)
    })
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
