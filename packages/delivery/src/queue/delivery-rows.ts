import { type Selectable, sql } from 'kysely'
import { type DeliveriesTable, POISON_AFTER_ABANDONED } from './deliveries.ts'
import type { ClaimedDelivery, DeliveryStatus, Settlement } from './delivery.ts'

/** A condition with literals, because SQLite uses a partial index only if the query repeats its condition literally. */
export const is = (state: DeliveryStatus['state']) =>
  state === 'open' ? sql<boolean>`state = 'open'` : sql<boolean>`state <> 'open' and state = ${sql.lit(state)}`

export const isPoison = sql<boolean>`abandoned >= ${sql.lit(POISON_AFTER_ABANDONED)}`
export const isNotPoison = sql<boolean>`abandoned < ${sql.lit(POISON_AFTER_ABANDONED)}`

/** Returns the columns that settle a delivery. */
export function settledColumns(settlement: Settlement, { attemptsMade, enqueuedAtMs }: ClaimedDelivery, nowMs: number) {
  const over = { claim: null, settled_at_ms: nowMs }
  switch (settlement.kind) {
    case 'delivered':
      return { ...over, state: 'delivered' as const, reason: settlement.message, progress: '' }
    case 'dead':
      return { ...over, state: 'dead' as const, reason: settlement.reason, progress: settlement.progress }
    case 'retry':
      return {
        claim: null,
        due_at_ms: settlement.atMs,
        reason: settlement.reason,
        progress: settlement.progress,
        abandoned: 0,
      }
    case 'unsent':
      return { claim: null, due_at_ms: enqueuedAtMs, attempts: attemptsMade }
  }
}

export function toDeliveryStatus(row: Selectable<DeliveriesTable>): DeliveryStatus {
  return {
    id: row.id,
    key: row.key,
    lane: row.lane,
    subject: row.subject,
    state: row.state,
    enqueuedAtMs: row.enqueued_at_ms,
    dueAtMs: row.due_at_ms,
    attemptsMade: row.attempts,
    reason: row.reason,
    settledAtMs: row.settled_at_ms ?? undefined,
  }
}
