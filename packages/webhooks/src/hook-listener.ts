import {
  type CalledHook,
  type EventListener,
  type HookPayload,
  type HookSwitchName,
  hooksToCall,
  insertHookPayload,
  matchesBranch,
  settingsOf,
  type Tx,
} from '@penstock/core'
import type { NewDelivery } from '@penstock/delivery'
import { eventSources, isHooked } from './events/event-sources.ts'
import type { HookEvent, ProjectEvent } from './events/hook-event.ts'
import { newUuid } from './new-uuid.ts'

/** The queue of deliveries, which the listener fills in the transaction of the change. */
interface HookQueue {
  enqueue(tx: Tx, deliveries: readonly NewDelivery[]): Promise<void>
  wake(): void
}

/** Returns the identification of a delivery: the payload and the hook. */
const toSubject = (payloadId: number, hookId: number): string => `${payloadId}.${hookId}`

/**
 * Returns the listener that enqueues one delivery per hook in the transaction of the change. For a project without
 * matching hooks, it reads one index entry and does nothing else.
 */
export function hookListener(queue: HookQueue): EventListener {
  const wake = async () => queue.wake()
  const onEvents: NonNullable<EventListener['onEvents']> = async (tx, events) => {
    // Events that are recorded together usually have the same type and project, and so the same hooks.
    const found = new Map<string, readonly CalledHook[]>()
    for (const event of events) {
      const { projectId } = event
      if (projectId === undefined || !isHooked(event.type)) continue
      const source = eventSources[event.type]
      const key = `${projectId} ${event.type}`
      const hooks = found.get(key) ?? (await hooksToCall(tx, projectId, source.switches))
      found.set(key, hooks)
      if (hooks.length === 0) continue
      const settings = await settingsOf(tx.core)
      // A push of this service moves one reference, so that a limit below 1 means that hooks never get it.
      if (settings.silent_mode_enabled) continue
      if (event.type === 'repository.pushed' && settings.push_event_hooks_limit < 1) continue
      const projectEvent: ProjectEvent = { ...event, projectId, actorId: event.actorId ?? tx.actor?.id }
      for (const hookEvent of await source.eventsOf(tx, projectEvent)) {
        const eventUuid = tx.request.eventUuid ?? newUuid(tx.core)
        await enqueue(tx, queue, { projectId, eventUuid, hookEvent, hooks })
      }
      tx.afterCommit(wake)
    }
  }
  return {
    types: new Set(Object.keys(eventSources) as ProjectEvent['type'][]),
    onEvent: (tx, event) => onEvents(tx, [event]),
    onEvents,
  }
}

interface Enqueued extends Pick<HookPayload, 'projectId' | 'eventUuid'> {
  readonly hookEvent: HookEvent
  readonly hooks: readonly CalledHook[]
}

async function enqueue(tx: Tx, queue: HookQueue, { projectId, eventUuid, hookEvent, hooks }: Enqueued): Promise<void> {
  const { event, payload } = hookEvent
  const called = hooks.filter((hook) => isCalled(hook, event, hookEvent.branch))
  if (called.length === 0) return
  const data = JSON.stringify(payload)
  const payloadId = await insertHookPayload(tx, { projectId, event, eventUuid, data }, called.length)
  const deliveries = called.map(({ id }) => {
    const subject = toSubject(payloadId, id)
    return { key: subject, lane: String(id), subject }
  })
  await queue.enqueue(tx, deliveries)
}

const isCalled = (hook: CalledHook, event: HookSwitchName, branch: string | undefined): boolean =>
  hook.switches.has(event) &&
  (branch === undefined || matchesBranch(hook.branchFilterStrategy, hook.pushEventsBranchFilter, branch))
