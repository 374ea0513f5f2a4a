import { z } from 'zod'
import { rfc3339, rfc3339OrNull } from '../contract/rfc3339.ts'
import { ApiError } from '../operations/api-error.ts'
import { insertAuditEvent } from '../operations/audit-event.ts'
import type { OperationContext, Role } from '../operations/operation-context.ts'
import { instant, parseInput, requireFuture, singleLine } from '../operations/operation-input.ts'
import { requireRole } from '../operations/roles.ts'
import { writeOnce } from '../operations/write-once.ts'
import { KeyedHash } from '../secrets/keyed-hash.ts'
import { newSecretText } from '../secrets/token-format.ts'
import {
  type ApiKeyRow,
  countApiKeys,
  countUnexpiredAdminKeys,
  deleteApiKey,
  findApiKey,
  insertApiKey,
  isUnexpired,
  listApiKeyRows,
} from './api-key-store.ts'

export { authenticateApiKey, canBeApiKey, ensureFirstAdminKey, type FirstAdminKey } from './authenticate-api-key.ts'

export interface ApiKeyJson {
  readonly id: string
  readonly name: string
  readonly role: Role
  readonly created_at: string
  /** The id of the key that created this one, or `null` for the key that the first start created. */
  readonly created_by: string | null
  readonly expires_at: string | null
  readonly last_used_at: string | null
}

/** The answer to a creation: the only one that contains the key itself. */
export interface CreatedApiKeyJson extends ApiKeyJson {
  readonly key: string
}

export const createApiKeyInput = z.strictObject({
  name: singleLine(1, 80),
  role: z.enum(['Viewer', 'Editor', 'Admin']),
  expires_at: instant.nullable().optional(),
})

/** The maximum number of keys. Each key belongs to a person or a program, so a larger number is a mistake. */
const MAX_API_KEYS = 1_000

/** Creates a key from `body`, the parsed JSON of the request. Throws `api_key_limit_reached`. */
export async function createApiKey(context: OperationContext, body: unknown): Promise<CreatedApiKeyJson> {
  requireRole(context.actor, 'createApiKey')
  const nowMs = context.nowMs()
  const input = parseInput(createApiKeyInput, body)
  requireFuture('expires_at', input.expires_at, nowMs)
  const { id, text } = newSecretText('api_key', context.randomBytes)
  const hash = new KeyedHash(context.peppers)
  const row = await writeOnce(context, id, async (tx) => {
    if ((await countApiKeys(tx)) >= MAX_API_KEYS) {
      throw new ApiError('api_key_limit_reached', `There may be at most ${MAX_API_KEYS} API keys; revoke some.`, {
        limit: MAX_API_KEYS,
      })
    }
    const row = await insertApiKey(tx, {
      id,
      name: input.name,
      role: input.role,
      mac: hash.newestMac(text),
      pepper_id: hash.newestId,
      created_at_ms: nowMs,
      created_by_id: context.actor.id,
      expires_at_ms: input.expires_at ?? null,
      last_used_at_ms: null,
    })
    const after = { name: row.name, role: row.role, expires_at: rfc3339OrNull(row.expires_at_ms) }
    await insertAuditEvent(tx, context, { event: 'api_key.created', subjectId: id, after }, nowMs)
    return row
  })
  return { ...apiKeyJson(row), key: text }
}

/** Returns all keys, newest first. */
export async function listApiKeys(context: OperationContext): Promise<readonly ApiKeyJson[]> {
  requireRole(context.actor, 'listApiKeys')
  return (await listApiKeyRows(context.db.read)).map(apiKeyJson)
}

/** Revokes a key and ends its sessions, with effect from the next request. Throws `api_key_not_found`, and `last_admin_key` for the only Admin key. */
export async function revokeApiKey(context: OperationContext, { id }: { readonly id: string }): Promise<void> {
  requireRole(context.actor, 'revokeApiKey')
  const nowMs = context.nowMs()
  const refusal = await context.db.write(async (tx) => {
    const row = await findApiKey(tx, id)
    if (row === undefined) throw new ApiError('api_key_not_found', 'There is no API key with this id.')
    const before = { name: row.name, role: row.role, expires_at: rfc3339OrNull(row.expires_at_ms) }
    if (row.role === 'Admin' && isUnexpired(row, nowMs) && (await countUnexpiredAdminKeys(tx, nowMs)) === 1) {
      await insertAuditEvent(tx, context, { event: 'api_key.revoke_refused', subjectId: id, before }, nowMs)
      return new ApiError('last_admin_key', 'The last Admin key must stay: create another one first.', {
        api_key_id: id,
      })
    }
    await deleteApiKey(tx, id)
    await insertAuditEvent(tx, context, { event: 'api_key.revoked', subjectId: id, before }, nowMs)
    return undefined
  })
  if (refusal !== undefined) throw refusal
}

function apiKeyJson(row: ApiKeyRow): ApiKeyJson {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    created_at: rfc3339(row.created_at_ms),
    created_by: row.created_by_id,
    expires_at: rfc3339OrNull(row.expires_at_ms),
    last_used_at: rfc3339OrNull(row.last_used_at_ms),
  }
}
