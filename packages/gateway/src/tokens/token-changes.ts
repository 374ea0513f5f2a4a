import type { Transaction } from 'kysely'
import { rfc3339OrNull } from '../contract/rfc3339.ts'
import { ApiError } from '../operations/api-error.ts'
import { insertAuditEvent } from '../operations/audit-event.ts'
import { requireIfMatch } from '../operations/if-match.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import { parseInput, requireFuture } from '../operations/operation-input.ts'
import { requireRole } from '../operations/roles.ts'
import { writeOnce } from '../operations/write-once.ts'
import { newSecretText } from '../secrets/token-format.ts'
import { bumpEpoch, getEnforcement } from '../store/enforcement-store.ts'
import type { GatewayTables } from '../store/tables.ts'
import { rotateTokenInput, type UpdateTokenInput, updateTokenInput } from './token-input.ts'
import {
  auditedToken,
  type ListedTokenJson,
  listedTokenJson,
  type RotatedTokenJson,
  tokenETag,
  tokenJson,
} from './token-json.ts'
import { nameWarnings, requireTokenCapacity, secretColumns } from './token-rules.ts'
import {
  getTokenRow,
  insertToken,
  statusOf,
  summarizeValidTokens,
  type TokenChange,
  type TokenRow,
  updateTokenRow,
} from './token-store.ts'
import { usage24h } from './usage-store.ts'

type Tx = Transaction<GatewayTables>

/** The columns that a snapshot does not contain. Changing only these does not affect the data path. */
const columnsOutsideSnapshot: ReadonlySet<string> = new Set(['description', 'tags_json'])

/**
 * Changes the fields that `body` contains. `ifMatch` is the value of the header. Throws `token_not_found`,
 * `precondition_failed`, `name_in_use`, and `last_valid_token` if it would disable the last valid token under enforcement.
 */
export async function updateToken(
  context: OperationContext,
  { id, body, ifMatch }: { readonly id: string; readonly body: unknown; readonly ifMatch?: string | undefined },
): Promise<ListedTokenJson> {
  requireRole(context.actor, 'updateToken')
  const nowMs = context.nowMs()
  const input = parseInput(updateTokenInput, body)
  requireFuture('expires_at', input.expires_at, nowMs)
  const outcome = await context.db.write(async (tx) => {
    const row = await getTokenRow(tx, id)
    requireIfMatch(ifMatch, tokenETag(tokenJson(row, context.actor, nowMs)))
    const change = changedColumns(row, toColumns(input))
    const warnings = change.name === undefined ? [] : await nameWarnings(tx, change.name, context)
    if (change.disabled === 1) {
      const refusal = await lastValidTokenError(tx, row, context, nowMs)
      if (refusal !== undefined) return refusal
    }
    if (Object.keys(change).length === 0) return { row, warnings, affectsSnapshot: false }
    const ends = change.expires_at_ms !== undefined && change.expires_at_ms !== null
    if (ends && (await isLastValidUnderEnforcement(tx, row, nowMs))) warnings.push('last_valid_token_ends')
    const changed = await updateTokenRow(tx, id, {
      ...change,
      ...('expires_at_ms' in change && { expiry_warned_ms: null }),
    })
    const event = {
      event: 'token.updated',
      subjectId: id,
      before: auditedToken(row),
      after: auditedToken(changed),
    } as const
    await insertAuditEvent(tx, context, event, nowMs)
    const affectsSnapshot = Object.keys(change).some((column) => !columnsOutsideSnapshot.has(column))
    if (affectsSnapshot) await bumpEpoch(tx)
    return { row: changed, warnings, affectsSnapshot }
  })
  if (outcome instanceof ApiError) throw outcome
  if (outcome.affectsSnapshot) await context.propagate()
  const usage = await usage24h(context.db.read, [id], nowMs)
  return listedTokenJson(outcome.row, context.actor, nowMs, usage.get(id), outcome.warnings)
}

/**
 * Creates a new token with the same rights. The old token expires after the overlap, or at its own expiry if that is
 * earlier (T-16). Throws `token_not_found` and `token_limit_reached`.
 */
export async function rotateToken(
  context: OperationContext,
  { id, body }: { readonly id: string; readonly body: unknown },
): Promise<RotatedTokenJson> {
  requireRole(context.actor, 'rotateToken')
  const nowMs = context.nowMs()
  const input = parseInput(rotateTokenInput, body)
  requireFuture('expires_at', input.expires_at, nowMs)
  const secret = newSecretText('ingest', context.randomBytes)
  const overlapEndMs = nowMs + input.overlap_seconds * 1_000
  const { row, old } = await writeOnce(context, secret.id, async (tx) => {
    const old = await getTokenRow(tx, id)
    await requireTokenCapacity(tx, context)
    const { position, ...identity } = old
    const row = await insertToken(tx, {
      ...identity,
      ...secretColumns(context, secret.id, secret.text),
      imported: 0,
      created_at_ms: nowMs,
      created_by_id: context.actor.id,
      created_by_role: context.actor.role,
      expires_at_ms: input.expires_at === undefined ? renewedExpiryMs(old, nowMs) : input.expires_at,
      last_used_at_ms: null,
      supersedes: id,
      expiry_warned_ms: null,
    })
    const endMs = Math.min(old.expires_at_ms ?? overlapEndMs, overlapEndMs)
    const ending = await updateTokenRow(tx, id, { expires_at_ms: endMs, expiry_warned_ms: null })
    const event = {
      event: 'token.rotated',
      subjectId: id,
      before: auditedToken(old),
      after: { ...auditedToken(row), id: row.id },
    } as const
    await insertAuditEvent(tx, context, event, nowMs)
    await bumpEpoch(tx)
    return { row, old: ending }
  })
  await context.propagate()
  return {
    ...tokenJson(row, context.actor, nowMs),
    token: secret.text,
    superseded: {
      id,
      expires_at: rfc3339OrNull(old.expires_at_ms),
      last_used_at: rfc3339OrNull(old.last_used_at_ms),
    },
  }
}

/** Revokes a token. Throws `token_not_found`, and `last_valid_token` while enforcement is on. */
export async function revokeToken(context: OperationContext, { id }: { readonly id: string }): Promise<void> {
  requireRole(context.actor, 'revokeToken')
  const nowMs = context.nowMs()
  const refusal = await context.db.write(async (tx) => {
    const row = await getTokenRow(tx, id)
    const refusal = await lastValidTokenError(tx, row, context, nowMs)
    if (refusal !== undefined) return refusal
    await updateTokenRow(tx, id, { revoked_at_ms: nowMs })
    await insertAuditEvent(tx, context, { event: 'token.revoked', subjectId: id, before: auditedToken(row) }, nowMs)
    await bumpEpoch(tx)
    return undefined
  })
  if (refusal !== undefined) throw refusal
  await context.propagate()
}

/**
 * Returns the error, and audits the attempt, if this token is the last valid one under enforcement.
 *
 * Call it in the transaction that revokes or disables the token, so that two concurrent calls cannot end the last two
 * valid tokens. The error is returned instead of thrown because a throw would roll the audit event back.
 */
async function lastValidTokenError(
  tx: Tx,
  row: TokenRow,
  context: OperationContext,
  nowMs: number,
): Promise<ApiError | undefined> {
  if (!(await isLastValidUnderEnforcement(tx, row, nowMs))) return undefined
  await insertAuditEvent(
    tx,
    context,
    { event: 'token.revoke_refused', subjectId: row.id, before: auditedToken(row) },
    nowMs,
  )
  return new ApiError(
    'last_valid_token',
    'While enforcement is on, the last valid token must stay: create another one or turn enforcement off first.',
    {
      token_id: row.id,
      valid_tokens: 1,
      enforcement: 'enabled',
      remedies: ['create_token', 'disable_enforcement'],
    },
  )
}

async function isLastValidUnderEnforcement(tx: Tx, row: TokenRow, nowMs: number): Promise<boolean> {
  if (statusOf(row, nowMs) !== 'valid' || (await getEnforcement(tx)).mode !== 'enforce') return false
  return (await summarizeValidTokens(tx, nowMs)).count === 1
}

/** Returns an expiry that gives the new token the same lifetime as the old one. */
const renewedExpiryMs = (old: TokenRow, nowMs: number): number | null =>
  old.expires_at_ms === null ? null : nowMs + (old.expires_at_ms - old.created_at_ms)

function toColumns(input: UpdateTokenInput): TokenChange {
  return {
    ...(input.name !== undefined && { name: input.name }),
    ...(input.description !== undefined && { description: input.description }),
    ...(input.expires_at !== undefined && { expires_at_ms: input.expires_at }),
    ...(input.signals !== undefined && { signals_json: JSON.stringify(input.signals) }),
    ...(input.tags !== undefined && { tags_json: JSON.stringify(input.tags) }),
    ...(input.tenant !== undefined && { tenant: input.tenant }),
    ...(input.allowed_origins !== undefined && { allowed_origins_json: JSON.stringify(input.allowed_origins) }),
    ...(input.client_certificate_sans !== undefined && {
      client_certificate_sans_json: JSON.stringify(input.client_certificate_sans),
    }),
    ...(input.allow_query !== undefined && { allow_query: input.allow_query ? 1 : 0 }),
    ...(input.limits !== undefined && { limits_json: input.limits && JSON.stringify(input.limits) }),
    ...(input.disabled !== undefined && { disabled: input.disabled ? 1 : 0 }),
  }
}

function changedColumns(row: TokenRow, change: TokenChange): TokenChange {
  const entries = Object.entries(change).filter(([column, value]) => row[column as keyof TokenChange] !== value)
  return Object.fromEntries(entries)
}
