import type { Selectable } from 'kysely'
import { z } from 'zod'
import { rfc3339 } from '../contract/rfc3339.ts'
import { auditEventNames } from '../operations/audit-event.ts'
import { fromCursor, toCursor } from '../operations/cursor.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import { numericText, parseInput } from '../operations/operation-input.ts'
import { requireRole } from '../operations/roles.ts'
import type { AuditEventTable, GatewayDb } from '../store/tables.ts'
import { MAX_PAGE } from '../tokens/token-input.ts'

interface AuditEventJson {
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

interface AuditPage {
  /** Newest first. */
  readonly events: readonly AuditEventJson[]
  readonly nextCursor: string | undefined
}

/** The query of the list. Every value is text. */
export const listAuditInput = z.strictObject({
  limit: numericText(1, MAX_PAGE).optional(),
  cursor: z.string().max(64).optional(),
  event: z.enum(auditEventNames).optional(),
})

const DEFAULT_PAGE_SIZE = 50
/** Events are kept longer than the year that O-14 asks for. */
const RETENTION_MS = 400 * 86_400_000

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
