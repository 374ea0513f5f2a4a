import type { GatewayDb } from '../store/tables.ts'

/** The facts that the readiness report needs about each token that is not revoked. */
export interface TokenSummary {
  readonly id: string
  readonly name: string
  readonly disabled: boolean
  readonly expiresAtMs: number | undefined
  readonly lastUsedAtMs: number | undefined
}

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
