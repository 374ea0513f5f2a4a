import type { Insertable, Selectable, Transaction } from 'kysely'
import { z } from 'zod'
import { rfc3339 } from '../contract/rfc3339.ts'
import type { AuditEventTable, GatewayTables } from '../store/tables.ts'
import { fromCursor, toCursor } from './cursor.ts'
import type { GatewayDb, OperationContext } from './operation-context.ts'
import { numericText, parseInput } from './operation-input.ts'
import { requireRole } from './roles.ts'

export const auditEventNames = [
  'token.created',
  'token.imported',
  'token.updated',
  'token.rotated',
  'token.revoked',
  'token.revoke_refused',
  'token.expired',
  'state.changed',
  'api_key.created',
  'api_key.revoked',
  'api_key.revoke_refused',
  'api.denied',
] as const
export type AuditEventName = (typeof auditEventNames)[number]

export interface AuditEvent {
  readonly event: AuditEventName
  readonly subjectId: string | undefined
  /** A JSON value that contains no secret. */
  readonly before?: unknown
  readonly after?: unknown
}

/** The actor and the request that caused an event; an {@link OperationContext} is one. */
export interface AuditOrigin {
  /** `undefined` if the caller is not authenticated, or if the gateway itself acts. */
  readonly actor: { readonly id: string; readonly role: string } | undefined
  readonly source: string | undefined
  readonly requestId: string | undefined
}

export interface AuditEventJson {
  readonly id: string
  readonly at: string
  readonly event: string
  readonly actor: { readonly id: string; readonly role: string | null } | null
  readonly source: string | null
  readonly request_id: string | null
  readonly subject_id: string | null
  readonly before: unknown
  readonly after: unknown
}

export interface AuditPage {
  /** Newest first. */
  readonly events: readonly AuditEventJson[]
  readonly nextCursor: string | undefined
}

/** The query of the list. Every value is text. */
export const listAuditInput = z.strictObject({
  limit: numericText(1, 100).optional(),
  cursor: z.string().max(64).optional(),
  event: z.enum(auditEventNames).optional(),
})

const DEFAULT_PAGE_SIZE = 50
/** Events are kept longer than the year that O-14 asks for. */
const RETENTION_MS = 400 * 86_400_000

/** Inserts an event. Call it in the transaction of the change itself, so that neither exists without the other (O-14). */
export async function insertAuditEvent(
  tx: Transaction<GatewayTables>,
  origin: AuditOrigin,
  { event, subjectId, before, after }: AuditEvent,
  nowMs: number,
): Promise<void> {
  const row: Insertable<AuditEventTable> = {
    at_ms: nowMs,
    event,
    actor_id: origin.actor?.id ?? null,
    actor_role: origin.actor?.role ?? null,
    source: origin.source ?? null,
    request_id: origin.requestId ?? null,
    subject_id: subjectId ?? null,
    before_json: before === undefined ? null : JSON.stringify(before),
    after_json: after === undefined ? null : JSON.stringify(after),
  }
  await tx.insertInto('audit_events').values(row).execute()
}

/** Returns a page of events, newest first. `query` has `limit` (1–100, default 50), `cursor` and `event`. */
export async function listAudit(context: OperationContext, query: unknown): Promise<AuditPage> {
  requireRole(context.actor, 'listAudit')
  const { limit = DEFAULT_PAGE_SIZE, cursor, event } = parseInput(listAuditInput, query)
  let rows = context.db.read
    .selectFrom('audit_events')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (cursor !== undefined) rows = rows.where('id', '<', fromCursor(cursor))
  if (event !== undefined) rows = rows.where('event', '=', event)
  const found = await rows.execute()
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return {
    events: page.map(auditEventJson),
    nextCursor: last !== undefined && found.length > limit ? toCursor(last.id) : undefined,
  }
}

/** Deletes events that are older than 400 days. */
export async function purgeAudit(db: GatewayDb, nowMs: number): Promise<void> {
  await db.write((tx) =>
    tx
      .deleteFrom('audit_events')
      .where('at_ms', '<', nowMs - RETENTION_MS)
      .execute(),
  )
}

const fromJson = (json: string | null): unknown => (json === null ? null : JSON.parse(json))

function auditEventJson(row: Selectable<AuditEventTable>): AuditEventJson {
  return {
    id: String(row.id),
    at: rfc3339(row.at_ms),
    event: row.event,
    actor: row.actor_id === null ? null : { id: row.actor_id, role: row.actor_role },
    source: row.source,
    request_id: row.request_id,
    subject_id: row.subject_id,
    before: fromJson(row.before_json),
    after: fromJson(row.after_json),
  }
}
