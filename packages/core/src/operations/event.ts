import type { WriteContext } from '../kit/store-context.ts'
import type { Project } from '../model/project.ts'
import type { Core, OperationContext, Tx } from './context.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    events: EventsTable
  }
}

interface EventsTable {
  id: import('kysely').Generated<number>
  type: string
  /** The id of the record that changed; its kind follows from the type. */
  object_id: number
  project_id: number | null
  group_id: number | null
  actor_id: number | null
  /** JSON of data that cannot be looked up later. */
  details: string
  at_ms: number
}

/** Something that happened, in the past tense: `milestone.created`. Stored in the transaction of the change. */
export interface DomainEvent {
  readonly type: `${string}.${string}`
  readonly objectId: number
  readonly projectId?: number
  readonly groupId?: number
  readonly actorId?: number | undefined
  readonly details?: Readonly<Record<string, unknown>>
  /** The request body that reported the event, unchanged. Listeners get it; it is not stored. */
  readonly payload?: string
  /** The results of `prepare` for a large payload, by listener. */
  readonly prepared?: PreparedPayloads
}

export type PreparedPayloads = ReadonlyMap<EventListener, unknown>

/**
 * Receives events inside the transaction that stores them: its writes commit with the event, and an error rolls back
 * both. It must not await anything slow.
 */
export interface EventListener {
  readonly types: ReadonlySet<DomainEvent['type']>
  onEvent(context: OperationContext & Tx, event: DomainEvent): Promise<void>
  /**
   * Does the slow work on a large payload, before the transaction and off the event loop. `onEvent` finds the result in
   * `event.prepared`, and must not rely on it: the project may have changed in between.
   */
  prepare?(core: Core, project: Project, payload: string): Promise<unknown>
}

/** The length above which a payload is prepared before the transaction. */
const LARGE_CHARACTERS = 64 * 1024

export const isLargePayload = (payload: string): boolean => payload.length > LARGE_CHARACTERS

/** Returns what the listeners of an event prepare from its payload. */
export async function preparePayload(
  core: Core,
  type: DomainEvent['type'],
  project: Project,
  payload: string,
): Promise<PreparedPayloads> {
  const prepared = new Map<EventListener, unknown>()
  for (const listener of core.listeners ?? []) {
    if (!listener.types.has(type) || listener.prepare === undefined) continue
    prepared.set(listener, await listener.prepare(core, project, payload))
  }
  return prepared
}

export async function insertEvent({ db, nowMs }: WriteContext, event: DomainEvent): Promise<void> {
  await db
    .insertInto('events')
    .values({
      type: event.type,
      object_id: event.objectId,
      project_id: event.projectId ?? null,
      group_id: event.groupId ?? null,
      actor_id: event.actorId ?? null,
      details: JSON.stringify(event.details ?? {}),
      at_ms: nowMs,
    })
    .execute()
}

/** Deletes at most `limit` events from before `beforeMs`. Returns how many it deleted. */
export async function deleteEventsBefore(
  { db }: Pick<WriteContext, 'db'>,
  beforeMs: number,
  limit: number,
): Promise<number> {
  const old = db.selectFrom('events').select('id').where('at_ms', '<', beforeMs).orderBy('at_ms').limit(limit)
  const { numDeletedRows } = await db.deleteFrom('events').where('id', 'in', old).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
