import type { DomainEvent, HookSwitchName, OperationContext, ReadContext } from '@penstock/core'
import type { Json } from '../payloads/shared-objects.ts'

/** An event in the form in which hooks get it. */
export interface HookEvent {
  /** The hooks with this switch are called. */
  readonly event: HookSwitchName
  readonly payload: Json
  /** The branch of a push, which filters of hooks apply to. */
  readonly branch?: string
}

export type EventContext = OperationContext & ReadContext

/** An event of a project. */
export type ProjectEvent = DomainEvent & { readonly projectId: number }

/** How the hooks of a project get one kind of event of the core. */
export interface EventSource {
  /** The switches that the event can fire. */
  readonly switches: readonly HookSwitchName[]
  /** Returns what the hooks get, if anything. Called only if the project has a hook with one of the switches. */
  eventsOf(context: EventContext, event: ProjectEvent): Promise<readonly HookEvent[]>
}
