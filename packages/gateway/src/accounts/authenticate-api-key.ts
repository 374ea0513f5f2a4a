import type { Log } from '@penstock/runtime'
import { ConfigError } from '../config-error.ts'
import type { Actor, GatewayDb } from '../operation-context.ts'
import { KeyedHash } from '../tokens/keyed-hash.ts'
import type { Peppers } from '../tokens/pepper.ts'
import { newSecretText, type RandomBytes, randomBase62, secretPrefixes } from '../tokens/token-format.ts'
import { countApiKeys, deleteApiKeysCreatedBy, findApiKeyByMac, insertApiKey, updateApiKeyLastUsed } from './api-key-store.ts'

const keyPattern = /^[\x21-\x7e](?:[\x20-\x7e]{18,254}[\x21-\x7e])$/
const LAST_USED_PRECISION_MS = 60_000
/**
 * Whether a key may be so, the one that is configured as well: 20 to 256 printable characters, taken as given. An
 * ingest token may not: every client that exports with it knows it (T-18).
 */
export const canBeApiKey = (text: string): boolean => keyPattern.test(text) && !text.startsWith(secretPrefixes.ingest)

/** Who made the key that the configuration gives. */
const CREATED_BY_CONFIGURATION = 'configuration'

interface KeyStore {
  readonly db: GatewayDb
  readonly peppers: Peppers
  readonly log: Log
}

/**
 * Whose key the value of `OBS-API-KEY` is; `undefined` is 401. An ingest token is nobody's (T-18).
 *
 * Looked up by its keyed hash: whoever can time the search learns about hashes under a key he does not have.
 */
export async function authenticateApiKey(
  { db, peppers, log }: KeyStore,
  value: string,
  nowMs: number,
): Promise<Actor | undefined> {
  if (!canBeApiKey(value)) return undefined
  const row = await findApiKeyByMac(db.read, new KeyedHash(peppers).allMacs(value))
  if (row === undefined || (row.expires_at_ms !== null && row.expires_at_ms <= nowMs)) return undefined
  if (row.last_used_at_ms === null || nowMs - row.last_used_at_ms >= LAST_USED_PRECISION_MS) {
    try {
      await db.write((tx) => updateApiKeyLastUsed(tx, row.id, nowMs))
    } catch (error) {
      // Whoever only reads need not learn that the store takes nothing.
      const { message } = error as Error
      log.warn({ event: 'api_key.untouched', error: message }, 'The last use of an API key could not be recorded')
    }
  }
  return { id: row.id, name: row.name, role: row.role }
}

export interface FirstAdminKey {
  /** Value of `PENSTOCK_OBS_API_KEY`, taken as given. One given at an earlier start ends with it. */
  readonly configuredKey?: string | undefined
  readonly nowMs: number
  readonly randomBytes: RandomBytes
}

/**
 * Sees to it that there is an API key: the one given, else, in a store without any, a new Admin key.
 *
 * Returns the value of a new one, to be printed once. Throws a `ConfigError` when the one given cannot be a key.
 */
export async function ensureFirstAdminKey(
  db: GatewayDb,
  peppers: Peppers,
  { configuredKey, nowMs, randomBytes }: FirstAdminKey,
): Promise<string | undefined> {
  if (configuredKey !== undefined && !canBeApiKey(configuredKey)) {
    throw new ConfigError('An API key must be 20 to 256 printable ASCII characters and no ingest token')
  }
  const hash = new KeyedHash(peppers)
  const adminKey = (id: string, text: string, name: string, createdById: string | null) => ({
    id,
    name,
    role: 'Admin' as const,
    mac: hash.newestMac(text),
    pepper_id: hash.newestId,
    created_at_ms: nowMs,
    created_by_id: createdById,
    expires_at_ms: null,
    last_used_at_ms: null,
  })
  return await db.write(async (tx) => {
    if (configuredKey !== undefined) {
      const known = await findApiKeyByMac(tx, hash.allMacs(configuredKey))
      await deleteApiKeysCreatedBy(tx, CREATED_BY_CONFIGURATION, known?.id)
      if (known === undefined) {
        await insertApiKey(tx, adminKey(randomBase62(12, randomBytes), configuredKey, 'configured', CREATED_BY_CONFIGURATION))
      }
      return undefined
    }
    if ((await countApiKeys(tx)) > 0) return undefined
    const { id, text } = newSecretText('api_key', randomBytes)
    await insertApiKey(tx, adminKey(id, text, 'first', null))
    return text
  })
}
