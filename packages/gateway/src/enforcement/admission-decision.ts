import { networkOf, type Random } from '@penstock/runtime'
import type { Admission, AdmissionRequest, Admitted, Reason, Verdict } from '../contract/admission.ts'
import { reasons } from '../contract/admission.ts'
import type { Refusal } from '../contract/refusals.ts'
import { retryAfterSeconds } from '../contract/retry-after.ts'
import { rfc3339 } from '../contract/rfc3339.ts'
import type { Snapshot } from '../contract/snapshot.ts'
import type { TokenRecord } from '../contract/token-record.ts'
import { malformedCredential, type RefusalText, refusalTexts } from './refusal-texts.ts'
import type { WarningMemory } from './warning-memory.ts'

export interface AdmissionRules {
  /** The maximum age of a snapshot since the store last confirmed it (T-14). */
  readonly maxStaleMs: number
  /** Also warns clients in their replies that their token expires soon (O-9). */
  readonly warnOfExpiry: boolean
  readonly warned: WarningMemory
  readonly monotonicMs: () => number
  readonly random: Random
}

/** The time before the expiry at which clients are warned (O-9). */
const EXPIRES_SOON_MS = 7 * 86_400_000

/**
 * Returns the refusal for every request while no usable snapshot exists (E-10, T-14), else `undefined`. Call it before the
 * credential is checked.
 */
export function snapshotUnavailable(snapshot: Snapshot | undefined, rules: AdmissionRules): Refusal | undefined {
  if (snapshot !== undefined && rules.monotonicMs() - snapshot.confirmedAtMs <= rules.maxStaleMs) return undefined
  return {
    kind: 'store_unreadable',
    message:
      snapshot === undefined
        ? 'The gateway is starting and has not read its tokens yet.'
        : 'The gateway cannot read its token store.',
    retryAfterSeconds: retryAfterSeconds(rules.random),
  }
}

/**
 * Decides whether a request is admitted, from the verdict on its credential and the snapshot of that verdict. The verdict
 * is the same in every mode (E-1); only the snapshot determines the mode (E-7).
 */
export function decideAdmission(
  presented: AdmissionRequest,
  verdict: Verdict,
  snapshot: Snapshot,
  nowMs: number,
  rules: AdmissionRules,
): Admission {
  const unavailable = snapshotUnavailable(snapshot, rules)
  if (unavailable !== undefined) return { admitted: false, refusal: unavailable }
  if (verdict.allowed) return admissionFor(verdict.token, presented, nowMs, rules)
  switch (snapshot.mode) {
    case 'off':
      return admissionsWhenOff[verdict.reason]
    case 'report':
      return admissionsUnverified[verdict.reason]
    case 'warn': {
      const admission = admissionsUnverified[verdict.reason]
      if (!mayWarn(presented, rules)) return admission
      const { message } = refusalFor(presented, verdict.reason, verdict.token)
      return { ...admission, warning: `This export will be refused once ingest enforcement is on. ${message}` }
    }
    case 'enforce': {
      const refusal = refusalFor(presented, verdict.reason, verdict.token)
      const graceLeftMs = snapshot.graceUntilMs === undefined ? 0 : snapshot.graceUntilMs - nowMs
      return { admitted: false, refusal: graceLeftMs > 0 ? graceRefusal(refusal, graceLeftMs, rules.random) : refusal }
    }
  }
}

function admittedWithoutToken(auth: 'off' | 'unverified'): Readonly<Record<Reason, Admitted>> {
  const rows = reasons.map((reason): [Reason, Admitted] => [
    reason,
    {
      admitted: true,
      token: undefined,
      auth,
      wouldReject: reason,
      warning: undefined,
      expiresAt: undefined,
      sample: undefined,
    },
  ])
  return Object.fromEntries(rows) as Record<Reason, Admitted>
}

const admissionsWhenOff = admittedWithoutToken('off')
const admissionsUnverified = admittedWithoutToken('unverified')

/** One admission per token, because nearly all requests of a token are admitted identically. */
const admissions = new WeakMap<TokenRecord, Admitted>()
const expiringAdmissions = new WeakMap<TokenRecord, Admitted>()

function admissionFor(token: TokenRecord, presented: AdmissionRequest, nowMs: number, rules: AdmissionRules): Admitted {
  const endsAtMs = token.expiresAtMs
  if (endsAtMs === undefined || endsAtMs - nowMs >= EXPIRES_SOON_MS)
    return cachedAdmission(admissions, token, undefined)
  const admission = cachedAdmission(expiringAdmissions, token, endsAtMs)
  if (!rules.warnOfExpiry || !mayWarn(presented, rules)) return admission
  return {
    ...admission,
    warning: `The ingest token ${token.id} expires at ${admission.expiresAt}. Replace it before then.`,
  }
}

function cachedAdmission(
  cache: WeakMap<TokenRecord, Admitted>,
  token: TokenRecord,
  endsAtMs: number | undefined,
): Admitted {
  const cached = cache.get(token)
  if (cached !== undefined) return cached
  const admission: Admitted = {
    admitted: true,
    token,
    auth: 'verified',
    wouldReject: undefined,
    warning: undefined,
    expiresAt: endsAtMs === undefined ? undefined : rfc3339(endsAtMs),
    sample: undefined,
  }
  cache.set(token, admission)
  return admission
}

function mayWarn({ source, signal }: AdmissionRequest, { warned, monotonicMs }: AdmissionRules): boolean {
  return warned.take(`${networkOf(source)} ${signal}`, monotonicMs())
}

/** Returns the refusal for a reason, as enforcement gives it after the grace period. */
function refusalFor(presented: AdmissionRequest, reason: Reason, token: TokenRecord | undefined): Refusal {
  const text =
    reason === 'malformed' && presented.credential.kind === 'malformed' ? malformedCredential : refusalTexts[reason]
  if (token === undefined || text.tokenSuffix === undefined) {
    return anonymousRefusals.get(text) ?? withChallenge(text, text.message, presented.signal)
  }
  return withChallenge(text, `The ingest token ${token.id} ${text.tokenSuffix}`, presented.signal)
}

function withChallenge({ kind, error }: RefusalText, message: string, signal: string): Refusal {
  if (error === 'none') return { kind, message }
  return { kind, message, challenge: `Bearer realm="otlp"${challengeParameters(error, message, signal)}` }
}

function challengeParameters(error: Exclude<RefusalText['error'], 'none'>, message: string, signal: string): string {
  switch (error) {
    case undefined:
      return ''
    case 'invalid_request':
      return ', error="invalid_request"'
    case 'invalid_token':
      return `, error="invalid_token", error_description="${message}"`
    case 'insufficient_scope':
      return `, error="insufficient_scope", scope="${signal}"`
  }
}

/**
 * Precomputed refusals, so that a flood of bad credentials allocates nothing. Refusals because of a missing scope are
 * not among them, because they depend on the request.
 */
const anonymousRefusals: ReadonlyMap<RefusalText, Refusal> = new Map(
  [malformedCredential, ...Object.values(refusalTexts)]
    .filter(({ error }) => error !== 'insufficient_scope')
    .map((text) => [text, withChallenge(text, text.message, '')]),
)

/** Returns a retryable refusal. Its Retry-After never exceeds the grace period, after which the client would be rejected (E-6). */
function graceRefusal({ message }: Refusal, leftMs: number, random: Random): Refusal {
  return {
    kind: 'grace_hold',
    message: `Ingest enforcement has just been enabled; this export will soon be rejected permanently. ${message}`,
    retryAfterSeconds: Math.max(1, Math.min(retryAfterSeconds(random), Math.floor(leftMs / 1_000))),
  }
}
