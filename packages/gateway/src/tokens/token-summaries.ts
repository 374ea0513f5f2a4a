import type { TokenSummary } from '../enforcement/readiness.ts'
import type { GatewayDb } from '../operations/operation-context.ts'

/** Lists what the readiness report needs of every token that is not revoked. */
export async function listTokenSummaries(db: GatewayDb): Promise<TokenSummary[]> {
  const rows = await db.read
    .selectFrom('ingest_tokens')
    .select(['id', 'name', 'disabled', 'expires_at_ms', 'last_used_at_ms'])
    .where('revoked_at_ms', 'is', null)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    disabled: row.disabled === 1,
    expiresAtMs: row.expires_at_ms ?? undefined,
    lastUsedAtMs: row.last_used_at_ms ?? undefined,
  }))
}
