import type { Log } from '@penstock/runtime'
import { ConfigError } from '../contract/config-error.ts'
import type { Actor } from '../operations/operation-context.ts'
import { KeyedHash } from '../secrets/keyed-hash.ts'
import { requirePeppers } from '../secrets/open-peppers.ts'
import type { Peppers } from '../secrets/pepper.ts'
import { newSecretText, type RandomBytes, randomBase62, secretPrefixes } from '../secrets/token-format.ts'
import type { GatewayDb } from '../store/tables.ts'
import {
  countApiKeys,
  deleteApiKeysCreatedBy,
  findApiKeyByMac,
  insertApiKey,
  isUnexpired,
  updateApiKeyLastUsed,
} from './api-key-store.ts'

const keyPattern = /^[\x21-\x7e](?:[\x20-\x7e]{18,254}[\x21-\x7e])$/
const LAST_USED_PRECISION_MS = 60_000
/**
 * Returns whether a text can be an API key, generated or configured: 20 to 256 printable characters, used as they are.
 * An ingest token cannot be one, because every client that exports with it knows it (T-18).
 */
export const canBeApiKey = (text: string): boolean => keyPattern.test(text) && !text.startsWith(secretPrefixes.ingest)

/** The `created_by_id` of the key that the configuration sets. */
const CREATED_BY_CONFIGURATION = 'configuration'

interface KeyStore {
  readonly db: GatewayDb
  readonly peppers: Peppers
  readonly log: Log
}

/**
 * Returns the owner of the key that the header `OBS-API-KEY` contains, or `undefined` if the key is not valid (401).
 *
 * The key is looked up by its keyed hash. The duration of the lookup can only reveal hashes, which are useless to a
 * caller without the pepper.
 */
export async function authenticateApiKey(
  { db, peppers, log }: KeyStore,
  value: string,
  nowMs: number,
): Promise<Actor | undefined> {
  if (!canBeApiKey(value)) return undefined
  const row = await findApiKeyByMac(db.read, new KeyedHash(peppers).allMacs(value))
  if (row === undefined || !isUnexpired(row, nowMs)) return undefined
  if (row.last_used_at_ms === null || nowMs - row.last_used_at_ms >= LAST_USED_PRECISION_MS) {
    try {
      await db.write((tx) => updateApiKeyLastUsed(tx, row.id, nowMs))
    } catch (error) {
      // The caller may only read, so a failed write of the last use does not fail the request.
      const { message } = error as Error
      log.warn({ event: 'api_key.untouched', error: message }, 'The last use of an API key could not be recorded')
    }
  }
  return { id: row.id, name: row.name, role: row.role }
}

export interface FirstAdminKey {
  /** The value of `PENSTOCK_OBS_API_KEY`, used as it is. It replaces the key configured at an earlier start. */
  readonly configuredKey?: string | undefined
  readonly nowMs: number
  readonly randomBytes: RandomBytes
}

/**
 * Creates the configured key, or a new Admin key if none is configured and the store has no keys.
 *
 * Returns the text of a new key, to be printed once. Throws a `ConfigError` if the configured key cannot be a key, or if
 * another process has created keys under another pepper since this one opened the store: two hosts that start at the same time
 * on an empty database would each use a pepper of their own.
 */
export async function ensureFirstAdminKey(
  db: GatewayDb,
  peppers: Peppers,
  { configuredKey, nowMs, randomBytes }: FirstAdminKey,
): Promise<string | undefined> {
  if (configuredKey !== undefined && !canBeApiKey(configuredKey)) {
    throw new ConfigError('An API key must be 20 to 256 printable ASCII characters and must not be an ingest token')
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
    await requirePeppers(tx, peppers)
    if (configuredKey !== undefined) {
      const known = await findApiKeyByMac(tx, hash.allMacs(configuredKey))
      await deleteApiKeysCreatedBy(tx, CREATED_BY_CONFIGURATION, known?.id)
      if (known === undefined) {
        await insertApiKey(
          tx,
          adminKey(randomBase62(12, randomBytes), configuredKey, 'configured', CREATED_BY_CONFIGURATION),
        )
      }
      return undefined
    }
    if ((await countApiKeys(tx)) > 0) return undefined
    const { id, text } = newSecretText('api_key', randomBytes)
    await insertApiKey(tx, adminKey(id, text, 'first', null))
    return text
  })
}
