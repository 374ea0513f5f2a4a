import { z } from 'zod'
import { rfc3339, rfc3339OrNull } from '../contract/rfc3339.ts'
import type { EnforcementMode } from '../contract/snapshot.ts'
import { ApiError } from '../operations/api-error.ts'
import { insertAuditEvent } from '../operations/audit-event.ts'
import { requireIfMatch } from '../operations/if-match.ts'
import type { OperationContext, Propagation } from '../operations/operation-context.ts'
import { inputError, parseInput, singleLine } from '../operations/operation-input.ts'
import { requireRole } from '../operations/roles.ts'
import { type EnforcementRow, getEnforcement, updateEnforcement } from '../store/enforcement-store.ts'
import { listLiveInstances } from '../store/instances.ts'
import { summarizeValidTokens } from '../tokens/token-store.ts'

/** The state of enforcement as the management API shows it. */
export interface StateJson {
  readonly enabled: boolean
  readonly mode: EnforcementMode
  /** The end of the grace period, or `null` outside one. */
  readonly grace_until: string | null
  readonly epoch: number
  readonly changed_at: string | null
  /** Not shown to a Viewer. */
  readonly changed_by?: { readonly id: string } | null
  readonly valid_tokens: number
  readonly next_expiry: string | null
  readonly propagation: Propagation
  readonly warnings: readonly ('no_valid_token' | 'nothing_observed')[]
}

export const setStateInput = z.strictObject({
  enabled: z.boolean(),
  mode: z.enum(['off', 'report', 'warn', 'enforce']).optional(),
  grace_seconds: z.int().min(0).max(86_400).optional(),
  /** Recorded in the audit log. */
  reason: singleLine(0, 500).nullable().optional(),
})
type SetState = z.output<typeof setStateInput>

interface SetStateRequest {
  /** The parsed JSON of the request. */
  readonly body: unknown
  /** The value of the header. */
  readonly ifMatch?: string | undefined
  /** Set by `?require_ready=true`: called before enforcement is enabled. Its report becomes the details of `not_ready`. */
  readonly readiness?: (() => Promise<Readiness>) | undefined
}

/** Returns the value of `ETag`. */
export const stateETag = (state: Pick<StateJson, 'epoch'>): string => `"${state.epoch}"`

export async function getState(context: OperationContext): Promise<StateJson> {
  requireRole(context.actor, 'getState')
  const nowMs = context.nowMs()
  const { epoch } = await getEnforcement(context.db.read)
  const instances = await listLiveInstances(context.db, nowMs)
  const applied = instances.filter((instance) => instance.epoch >= epoch).length
  return await stateJson(context, { instances: instances.length, applied }, nowMs)
}

/**
 * Sets the mode, without a restart. If only `enabled` is given and agrees with the current mode, the mode is kept. If
 * it disagrees, the mode becomes `enforce` or `off`. A request that changes nothing keeps the epoch. Throws `not_ready`
 * and `precondition_failed`.
 */
export async function setState(context: OperationContext, request: SetStateRequest): Promise<StateJson> {
  requireRole(context.actor, 'setState')
  const nowMs = context.nowMs()
  const input = parseInput(setStateInput, request.body)
  if (input.mode !== undefined && (input.mode === 'enforce') !== input.enabled) {
    throw inputError([{ field: 'mode', problem: 'contradicts_enabled' }])
  }
  const report =
    input.enabled && request.readiness !== undefined ? await requireReady(context, request.readiness) : undefined
  const changed = await context.db.write(async (tx) => {
    const before = await getEnforcement(tx)
    requireIfMatch(request.ifMatch, stateETag(before))
    const next = nextState(before, input, nowMs)
    if (next.mode === before.mode && next.graceUntilMs === graceUntilMs(before, nowMs)) return false
    await updateEnforcement(tx, { ...next, changedById: context.actor.id }, nowMs)
    const event = {
      event: 'state.changed',
      subjectId: undefined,
      before: { mode: before.mode, grace_until: rfc3339OrNull(graceUntilMs(before, nowMs)) },
      after: { mode: next.mode, grace_until: rfc3339OrNull(next.graceUntilMs), reason: input.reason ?? null },
    } as const
    await insertAuditEvent(tx, context, event, nowMs)
    return true
  })
  const state = changed ? await stateJson(context, await context.propagate(), nowMs) : await getState(context)
  return report?.requests === 0 ? { ...state, warnings: [...state.warnings, 'nothing_observed'] } : state
}

interface Readiness {
  readonly ready: boolean
  /** 0 means that the report covers no requests. */
  readonly requests: number
}

/** Requires readiness, outside a transaction because the report comes from the processes that accept telemetry. */
async function requireReady(
  context: OperationContext,
  readiness: () => Promise<Readiness>,
): Promise<Readiness | undefined> {
  if ((await getEnforcement(context.db.read)).mode === 'enforce') return undefined
  const report = await readiness()
  if (!report.ready) throw new ApiError('not_ready', 'The readiness report has blockers; see the details.', report)
  return report
}

function nextState(before: EnforcementRow, input: SetState, nowMs: number) {
  const mode = input.mode ?? modeFor(before.mode, input.enabled)
  if (mode !== 'enforce') return { mode, graceUntilMs: null }
  if (input.grace_seconds !== undefined) {
    return { mode, graceUntilMs: input.grace_seconds === 0 ? null : nowMs + input.grace_seconds * 1_000 }
  }
  return { mode, graceUntilMs: before.mode === 'enforce' ? graceUntilMs(before, nowMs) : null }
}

function modeFor(current: EnforcementMode, enabled: boolean): EnforcementMode {
  if (enabled) return 'enforce'
  return current === 'enforce' ? 'off' : current
}

const graceUntilMs = (row: EnforcementRow, nowMs: number): number | null =>
  row.grace_until_ms !== null && row.grace_until_ms > nowMs ? row.grace_until_ms : null

async function stateJson(context: OperationContext, propagation: Propagation, nowMs: number): Promise<StateJson> {
  const row = await getEnforcement(context.db.read)
  const valid = await summarizeValidTokens(context.db.read, nowMs)
  const enabled = row.mode === 'enforce'
  return {
    enabled,
    mode: row.mode,
    grace_until: rfc3339OrNull(graceUntilMs(row, nowMs)),
    epoch: row.epoch,
    changed_at: row.changed_at_ms === null ? null : rfc3339(row.changed_at_ms),
    ...(context.actor.role === 'Viewer'
      ? {}
      : { changed_by: row.changed_by_id === null ? null : { id: row.changed_by_id } }),
    valid_tokens: valid.count,
    next_expiry: rfc3339OrNull(valid.nextExpiryMs),
    propagation,
    warnings: enabled && valid.count === 0 ? ['no_valid_token'] : [],
  }
}
