import type { Insertable, Transaction } from 'kysely'
import type { AuditEventTable, GatewayTables } from '../store/tables.ts'
import type { OperationContext } from './operation-context.ts'

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
  'session.created',
  'session.ended',
  'sign_in_code.created',
  'api.denied',
] as const
type AuditEventName = (typeof auditEventNames)[number]

export interface AuditEvent {
  readonly event: AuditEventName
  readonly subjectId: string | undefined
  /** A JSON value that contains no secret. */
  readonly before?: unknown
  readonly after?: unknown
}

/** The actor and the request that caused an event; an {@link OperationContext} is one. */
interface AuditOrigin {
  /** `undefined` if the caller is not authenticated, or if the gateway itself acts. */
  readonly actor: { readonly id: string; readonly role: string } | undefined
  readonly source: string | undefined
  readonly requestId: string | undefined
}

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
