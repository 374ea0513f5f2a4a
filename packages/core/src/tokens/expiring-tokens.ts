import { DAY_MS, dayAt } from '../kit/day.ts'
import type { Core } from '../operations/context.ts'
import { inTransaction, serviceContext } from '../operations/transaction.ts'

const DAYS_BEFORE = 7
/** The limit of one transaction, because other writers wait until it ends. */
const TOKENS_PER_TRANSACTION = 100

/** Records an event for each project access token that expires within 7 days, once for each token. */
export async function announceExpiringTokens(core: Core): Promise<void> {
  while ((await announceSome(core)) === TOKENS_PER_TRANSACTION);
}

const announceSome = (core: Core): Promise<number> =>
  inTransaction(serviceContext(core), async (tx) => {
    const rows = await tx.db
      .selectFrom('access_tokens')
      .select(['id', 'project_id', 'user_id', 'name', 'created_at_ms', 'expires_at', 'last_used_at_ms'])
      .where('kind', '=', 'project')
      .where('expires_at', '>', dayAt(tx.nowMs))
      .where('expires_at', '<=', dayAt(tx.nowMs + DAYS_BEFORE * DAY_MS))
      .where('revoked_at_ms', 'is', null)
      .where('expiry_announced_at_ms', 'is', null)
      .orderBy('expires_at')
      .limit(TOKENS_PER_TRANSACTION)
      .execute()
    for (const row of rows) {
      await tx.db
        .updateTable('access_tokens')
        .set({ expiry_announced_at_ms: tx.nowMs })
        .where('id', '=', row.id)
        .execute()
      if (row.project_id === null) continue
      await tx.recordEvent({
        type: 'access_token.expiring',
        objectId: row.id,
        projectId: row.project_id,
        details: {
          name: row.name,
          userId: row.user_id,
          createdAtMs: row.created_at_ms,
          expiresAt: row.expires_at,
          lastUsedAtMs: row.last_used_at_ms,
        },
      })
    }
    return rows.length
  })
