import type { Reason, Verdict } from '../contract/admission.ts'
import type { StoredSnapshot } from '../contract/snapshot.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import { parseInput } from '../operations/operation-input.ts'
import { requireRole } from '../operations/roles.ts'
import { KeyedHash } from '../secrets/keyed-hash.ts'
import { parseSecretText } from '../secrets/token-format.ts'
import { isOriginAllowed } from './allowed-origins.ts'
import { Authenticator } from './authenticator.ts'
import { toTokenRecord } from './load-snapshot.ts'
import { verifyTokenInput } from './token-input.ts'
import { findTokenRow, findTokenRowByMac } from './token-store.ts'

export interface TokenCheck {
  readonly valid: boolean
  readonly reason: Reason | null
  /** `null` unless the secret is right. */
  readonly id: string | null
}

/** Checks a token against the store and returns the verdict that the gate would reach. */
export async function verifyToken(context: OperationContext, body: unknown): Promise<TokenCheck> {
  requireRole(context.actor, 'verifyToken')
  const { token: value, signal, origin } = parseInput(verifyTokenInput, body)
  const nowMs = context.nowMs()
  const snapshot = await loadSnapshotFor(context, value)
  const verdict = new Authenticator(context.peppers).identify({ value }, snapshot, nowMs)
  const reason = verdict.allowed ? scopeFailure(verdict) : verdict.reason
  return { valid: reason === null, reason, id: verdict.token?.id ?? null }

  function scopeFailure({ token }: Verdict & { allowed: true }): Reason | null {
    if (signal !== undefined && !token.signals.has(signal)) return 'signal'
    if (origin !== undefined && !isOriginAllowed(token.allowedOrigins, origin)) return 'origin'
    return null
  }
}

/** Loads a snapshot that contains only the token to which the value may belong. */
async function loadSnapshotFor({ db, peppers }: OperationContext, value: string): Promise<StoredSnapshot> {
  const parsed = parseSecretText('ingest', value)
  const row = parsed
    ? await findTokenRow(db.read, parsed.id)
    : await findTokenRowByMac(db.read, new KeyedHash(peppers).allMacs(value))
  const record = row && toTokenRecord(row)
  return {
    epoch: 0,
    mode: 'off',
    graceUntilMs: undefined,
    byId: new Map(record && [[record.id, record]]),
    byMac: new Map(record && row?.imported === 1 ? [[row.mac.toString('hex'), record]] : []),
  }
}
