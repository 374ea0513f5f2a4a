import { RowInsertion } from '@penstock/db'
import type { Generated, Insertable } from 'kysely'
import type { PushedCommits } from '../git/pushed-commits.ts'
import type { WriteContext } from '../kit/store-context.ts'
import type { CoreTables } from '../kit/tables.ts'
import type { Project } from '../model/project.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    events: EventsTable
  }
}

interface EventsTable {
  id: Generated<number>
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
  /** The values that changed. Listeners get them; they are not stored. */
  readonly changes?: Changes
  /** The branch or tag that a push moved. Listeners get it; of it, only `details` are stored. */
  readonly push?: PushedReference
  /** The request body that reported the event, unchanged. Listeners get it; it is not stored. */
  readonly payload?: string
  /** The results of `prepare` for a large payload, by listener. */
  readonly prepared?: PreparedPayloads
  /** The recorded pipeline. Listeners get it, so that they need not read it again; it is not stored. */
  readonly written?: WrittenPipeline
}

/** A pipeline as the transaction of its event has written it, with its project. */
export interface WrittenPipeline {
  readonly project: Project
  readonly pipeline: {
    readonly key: number
    readonly id: number
    readonly globalNumber: number
    readonly projectId: number
    readonly status: string
    readonly ref: string | undefined
    readonly mergeRequestIid: number | undefined
    readonly finishedAtMs: number | undefined
  }
}

/** A branch or tag that a push created, moved or removed. */
export interface PushedReference extends PushedCommits {
  /** `refs/heads/main` */
  readonly ref: string
  /** The former commit; `undefined` if the push created the branch or tag. For an annotated tag, the id of the tag. */
  readonly before: string | undefined
  /** `undefined` if the push removed it. */
  readonly after: string | undefined
}

/** Values before and after a change, by name in camelCase; null for a missing one. Secrets are not among them. */
export type Changes = Readonly<Record<string, { readonly previous: unknown; readonly current: unknown }>>

/** The results of `EventListener.prepare` for a large payload, by listener. */
export type PreparedPayloads = ReadonlyMap<object, unknown>

/** Stores events in their order. */
export async function insertEvents({ db, nowMs }: WriteContext, events: readonly DomainEvent[]): Promise<void> {
  const rows = events.map((event) => ({
    type: event.type,
    object_id: event.objectId,
    project_id: event.projectId ?? null,
    group_id: event.groupId ?? null,
    actor_id: event.actorId ?? null,
    details: JSON.stringify(event.details ?? {}),
    at_ms: nowMs,
  }))
  await insertRows.run(db, rows)
}

const insertRows = new RowInsertion<CoreTables, Insertable<EventsTable>>(
  ['type', 'object_id', 'project_id', 'group_id', 'actor_id', 'details', 'at_ms'],
  (tx, rows) => tx.insertInto('events').values(rows),
)

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
