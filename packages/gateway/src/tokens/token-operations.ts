import { ingestSignalNames } from '../contract/signals.ts'
import { insertAuditEvent } from '../operations/audit-event.ts'
import { fromCursor, toCursor } from '../operations/cursor.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import { inputError, parseInput, requireFuture } from '../operations/operation-input.ts'
import { requireRole } from '../operations/roles.ts'
import { writeOnce } from '../operations/write-once.ts'
import { KeyedHash } from '../secrets/keyed-hash.ts'
import { newSecretText, randomBase62 } from '../secrets/token-format.ts'
import { bumpEpoch } from '../store/enforcement-store.ts'
import { type CreateTokenInput, createTokenInput, importTokenInput, listTokensInput } from './token-input.ts'
import { auditedToken, type CreatedTokenJson, type ListedTokenJson, listedTokenJson, tokenJson } from './token-json.ts'
import { nameWarnings, requireTokenCapacity, secretColumns } from './token-rules.ts'
import { findTokenRowByMac, getTokenRow, insertToken, listTokenRows, type TokenRow } from './token-store.ts'
import { usage24h } from './usage-store.ts'

export { revokeToken, rotateToken, updateToken } from './token-changes.ts'
export { tokenETag } from './token-json.ts'
export { type TokenCheck, verifyToken } from './verify-token.ts'

export interface TokenPage {
  /** Newest first. */
  readonly tokens: readonly ListedTokenJson[]
  /** The query parameter `cursor` of the next page, or `undefined` on the last page. */
  readonly nextCursor: string | undefined
  /** The number of tokens on all pages, for `X-Total-Count`. */
  readonly totalCount: number
}

/**
 * Creates a token from `body`, the parsed JSON of the request. Throws `token_limit_reached`, and `name_in_use` where
 * names must be unique.
 */
export async function createToken(context: OperationContext, body: unknown): Promise<CreatedTokenJson> {
  requireRole(context.actor, 'createToken')
  const nowMs = context.nowMs()
  const input = parseInput(createTokenInput, body)
  requireFuture('expires_at', input.expires_at, nowMs)
  const { id, text } = newSecretText('ingest', context.randomBytes)
  const { row, warnings } = await writeOnce(context, id, async (tx) => {
    await requireTokenCapacity(tx, context)
    const warnings = await nameWarnings(tx, input.name, context)
    const row = await insertToken(tx, {
      ...toTokenDraft(input, context, nowMs),
      ...secretColumns(context, id, text),
      imported: 0,
    })
    await insertAuditEvent(tx, context, { event: 'token.created', subjectId: id, after: auditedToken(row) }, nowMs)
    await bumpEpoch(tx)
    return { row, warnings }
  })
  await context.propagate()
  return { ...tokenJson(row, context.actor, nowMs, warnings), token: text }
}

/**
 * Imports a token from another system, so that its clients need no change (T-15). The token is not shown again. Throws
 * `invalid_field` if it is known already, even if it is revoked: an import must not make a revoked token valid again.
 */
export async function importToken(context: OperationContext, body: unknown): Promise<ListedTokenJson> {
  requireRole(context.actor, 'importToken')
  const nowMs = context.nowMs()
  const { token, ...input } = parseInput(importTokenInput, body)
  requireFuture('expires_at', input.expires_at, nowMs)
  const id = randomBase62(12, context.randomBytes)
  const macs = new KeyedHash(context.peppers).allMacs(token)
  const { row, warnings } = await writeOnce(context, id, async (tx) => {
    if (await findTokenRowByMac(tx, macs)) throw inputError([{ field: 'token', problem: 'already_known' }])
    await requireTokenCapacity(tx, context)
    const warnings = await nameWarnings(tx, input.name, context)
    const row = await insertToken(tx, {
      ...toTokenDraft(input, context, nowMs),
      ...secretColumns(context, id, token),
      imported: 1,
    })
    await insertAuditEvent(tx, context, { event: 'token.imported', subjectId: id, after: auditedToken(row) }, nowMs)
    await bumpEpoch(tx)
    return { row, warnings }
  })
  await context.propagate()
  return listedTokenJson(row, context.actor, nowMs, undefined, warnings)
}

/** Returns a page of tokens. `query` has `limit`, `cursor`, `status` and `name`, all as text. Throws `invalid_cursor`. */
export async function listTokens(context: OperationContext, query: unknown): Promise<TokenPage> {
  requireRole(context.actor, 'listTokens')
  const nowMs = context.nowMs()
  const { limit, cursor, status, name } = parseInput(listTokensInput, query)
  const before = cursor === undefined ? undefined : fromCursor(cursor)
  const selection = { status: status ?? ('unrevoked' as const), name }
  const { rows, totalCount, hasMore } = await listTokenRows(context.db.read, selection, { before, limit }, nowMs)
  const last = rows.at(-1)
  return {
    tokens: await withUsage(context, rows, nowMs),
    nextCursor: hasMore && last !== undefined ? toCursor(last.position) : undefined,
    totalCount,
  }
}

/** Returns a token. Throws `token_not_found`. */
export async function getToken(context: OperationContext, { id }: { readonly id: string }): Promise<ListedTokenJson> {
  requireRole(context.actor, 'getToken')
  const nowMs = context.nowMs()
  const row = await getTokenRow(context.db.read, id)
  const [token] = await withUsage(context, [row], nowMs)
  return token!
}

async function withUsage(
  context: OperationContext,
  rows: readonly TokenRow[],
  nowMs: number,
): Promise<ListedTokenJson[]> {
  const ids = rows.map((row) => row.id)
  const usage = await usage24h(context.db.read, ids, nowMs)
  return rows.map((row) => listedTokenJson(row, context.actor, nowMs, usage.get(row.id)))
}

function toTokenDraft(input: Omit<CreateTokenInput, 'token'>, { actor }: OperationContext, nowMs: number) {
  return {
    name: input.name,
    description: input.description ?? null,
    signals_json: JSON.stringify(input.signals ?? ingestSignalNames),
    tags_json: JSON.stringify(input.tags ?? {}),
    tenant: input.tenant ?? null,
    allowed_origins_json: JSON.stringify(input.allowed_origins ?? []),
    client_certificate_sans_json: JSON.stringify(input.client_certificate_sans ?? []),
    allow_query: input.allow_query ? 1 : 0,
    limits_json: input.limits == null ? null : JSON.stringify(input.limits),
    created_at_ms: nowMs,
    created_by_id: actor.id,
    created_by_role: actor.role,
    expires_at_ms: input.expires_at ?? null,
    disabled: 0,
    revoked_at_ms: null,
    last_used_at_ms: null,
    supersedes: null,
    expiry_warned_ms: null,
  }
}
