import { DAY_MS, dayAt } from '../../base/kit/day.ts'
import { parentIds, parentOfRow } from '../../base/model/parent.ts'
import type { Core, Tx } from '../../base/operations/context.ts'
import type { DomainEvent } from '../../base/operations/event.ts'
import { inTransaction, serviceContext } from '../../base/operations/transaction.ts'

const WITHIN_MS = 7 * DAY_MS
/** The limit of one transaction, because other writers wait until it ends. */
const TOKENS_PER_TRANSACTION = 100

/**
 * Marks some tokens as announced that expire soon and were not announced before, and returns an event for each. The update
 * repeats the condition of the selection, because another process may mark the same tokens in between.
 */
type Claim = (tx: Tx) => Promise<DomainEvent[]>

/** Access tokens of projects and groups. They expire at the beginning of a day. */
const claimAccessTokens: Claim = async ({ db, nowMs }) => {
  const expiring = db
    .selectFrom('access_tokens')
    .select('id')
    .where('kind', 'in', ['project', 'group'])
    .where('expires_at', '>', dayAt(nowMs))
    .where('expires_at', '<=', dayAt(nowMs + WITHIN_MS))
    .where('revoked_at_ms', 'is', null)
    .where('expiry_announced_at_ms', 'is', null)
    .orderBy('expires_at')
    .limit(TOKENS_PER_TRANSACTION)
  const rows = await db
    .updateTable('access_tokens')
    .set({ expiry_announced_at_ms: nowMs })
    .where('id', 'in', expiring)
    .where('expiry_announced_at_ms', 'is', null)
    .returning(['id', 'project_id', 'group_id', 'user_id', 'name', 'created_at_ms', 'expires_at', 'last_used_at_ms'])
    .execute()
  return rows.map((row) => ({
    type: 'access_token.expiring',
    objectId: row.id,
    ...parentIds(parentOfRow(row)),
    details: {
      name: row.name,
      userId: row.user_id,
      createdAtMs: row.created_at_ms,
      expiresAt: row.expires_at,
      lastUsedAtMs: row.last_used_at_ms,
    },
  }))
}

const claimDeployTokens: Claim = async ({ db, nowMs }) => {
  const expiring = db
    .selectFrom('deploy_tokens')
    .select('id')
    .where('expires_at_ms', '>', nowMs)
    .where('expires_at_ms', '<=', nowMs + WITHIN_MS)
    .where('expiry_announced_at_ms', 'is', null)
    .orderBy('expires_at_ms')
    .limit(TOKENS_PER_TRANSACTION)
  const rows = await db
    .updateTable('deploy_tokens')
    .set({ expiry_announced_at_ms: nowMs })
    .where('id', 'in', expiring)
    .where('expiry_announced_at_ms', 'is', null)
    .returning(['id', 'project_id', 'group_id', 'name', 'created_at_ms', 'expires_at_ms'])
    .execute()
  return rows.map((row) => ({
    type: 'deploy_token.expiring',
    objectId: row.id,
    ...parentIds(parentOfRow(row)),
    details: { name: row.name, createdAtMs: row.created_at_ms, expiresAtMs: row.expires_at_ms },
  }))
}

/** Records an event for each token of a project or group that expires within 7 days, once for each token. */
export async function announceExpiringTokens(core: Core): Promise<void> {
  for (const claim of [claimAccessTokens, claimDeployTokens])
    while ((await announceSome(core, claim)) === TOKENS_PER_TRANSACTION);
}

const announceSome = (core: Core, claim: Claim): Promise<number> =>
  inTransaction(serviceContext(core), async (tx) => {
    // PostgreSQL returns updated rows in any order.
    const events = (await claim(tx)).sort((a, b) => a.objectId - b.objectId)
    for (const event of events) await tx.recordEvent(event)
    return events.length
  })
