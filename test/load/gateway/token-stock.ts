import { createHmac, randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openGatewayStore, openPeppers } from '@penstock/gateway'
import { newTokenId, newTokenText, seededRandom } from './token-text.ts'

export interface Stock {
  readonly count: number
  readonly expiresAtMs?: number
  readonly revokedAtMs?: number
}

const ROWS_AT_A_TIME = 500

/**
 * Inserts tokens into the store of a gateway, which may be running, and returns their texts. The API is not used: it needs a
 * durable transaction per token, waits for every process, and cannot create expired tokens.
 */
export async function stockTokens(dataDir: string, { count, expiresAtMs, revokedAtMs }: Stock): Promise<string[]> {
  mkdirSync(dataDir, { recursive: true })
  const db = await openGatewayStore(join(dataDir, 'gateway.db'))
  try {
    const { newestId, byId } = await openPeppers(db, { dataDir, randomBytes })
    const pepper = byId.get(newestId)!
    const random = seededRandom(randomBytes(4).readUInt32LE())
    const nowMs = Date.now()
    const made = Array.from({ length: count }, () => {
      const id = newTokenId(random)
      return { id, text: newTokenText(id, random) }
    })
    await db.write(async (tx) => {
      for (let start = 0; start < count; start += ROWS_AT_A_TIME) {
        const rows = made.slice(start, start + ROWS_AT_A_TIME).map(({ id, text }, index) => ({
          id,
          name: `service-${start + index}`,
          description: null,
          mac: createHmac('sha256', pepper).update(text).digest(),
          pepper_id: newestId,
          imported: 0,
          signals_json: '["traces","metrics","logs","profiles"]',
          tags_json: '{}',
          tenant: null,
          allowed_origins_json: '[]',
          limits_json: null,
          created_at_ms: nowMs,
          created_by_id: 'load',
          created_by_role: 'Admin',
          expires_at_ms: expiresAtMs ?? null,
          disabled: 0,
          revoked_at_ms: revokedAtMs ?? null,
          last_used_at_ms: null,
          supersedes: null,
          expiry_warned_ms: null,
        }))
        await tx.insertInto('ingest_tokens').values(rows).execute()
      }
      await tx
        .updateTable('enforcement')
        .set((eb) => ({ epoch: eb('epoch', '+', 1) }))
        .execute()
    })
    return made.map(({ text }) => text)
  } finally {
    await db.close()
  }
}

/** Returns the public part of a token. */
export const idOfToken = (text: string): string => text.slice(5, 17)
