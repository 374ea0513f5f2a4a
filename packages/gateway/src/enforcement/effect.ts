import { networkOf, type Random } from '@penstock/runtime'
import type { Admission, AdmissionRequest, Admitted, Reason, Verdict } from '../ingest/admission.ts'
import { reasons } from '../ingest/admission.ts'
import type { Refusal } from '../ingest/refusals.ts'
import { rfc3339 } from '../store/rfc3339.ts'
import type { Snapshot } from '../tokens/snapshot.ts'
import type { TokenRecord } from '../tokens/token-record.ts'
import { retryAfterSeconds } from '../upstream/status-codes.ts'
import { malformedHeader, type RefusalText, refusalTexts } from './refusal-texts.ts'
import type { WarningMemory } from './warning-memory.ts'

export interface EffectRules {
  /** A snapshot the store has not confirmed for longer opens and refuses nothing (T-14). */
  readonly maxStaleMs: number
  /** Also tells clients inside their replies that their token ends soon (O-9). */
  readonly warnOfExpiry: boolean
  readonly warned: WarningMemory
  readonly random: Random
}

/** From here on clients are told when their token ends (O-9). */
const EXPIRES_SOON_MS = 7 * 86_400_000

/**
 * Why nobody can be judged now, whatever they present; to be asked before a credential is looked at.
 *
 * @see spec/otlp-gateway.md 2 T-14, 4 E-10
 */
export function blindness(snapshot: Snapshot | undefined, nowMs: number, rules: EffectRules): Refusal | undefined {
  if (snapshot !== undefined && nowMs - snapshot.confirmedAtMs <= rules.maxStaleMs) return undefined
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
 * What a verdict leads to under the snapshot it was reached from. The verdict itself is the same in every mode (E-1),
 * and nothing but the snapshot can change the mode (E-7).
 *
 * @see spec/otlp-gateway.md 4
 */
export function effectOf(
  presented: AdmissionRequest,
  verdict: Verdict,
  snapshot: Snapshot,
  nowMs: number,
  rules: EffectRules,
): Admission {
  const blind = blindness(snapshot, nowMs, rules)
  if (blind !== undefined) return { admitted: false, refusal: blind }
  if (verdict.allowed) return admissionOf(verdict.token, presented, nowMs, rules)
  switch (snapshot.mode) {
    case 'off':
      return offAdmissions[verdict.reason]
    case 'report':
      return unverifiedAdmissions[verdict.reason]
    case 'warn': {
      const admission = unverifiedAdmissions[verdict.reason]
      if (!mayWarn(presented, nowMs, rules)) return admission
      const { message } = refusalOf(presented, verdict.reason, verdict.token)
      return { ...admission, warning: `This export will be refused once ingest enforcement is on. ${message}` }
    }
    case 'enforce': {
      const refusal = refusalOf(presented, verdict.reason, verdict.token)
      const graceLeftMs = snapshot.graceUntilMs === undefined ? 0 : snapshot.graceUntilMs - nowMs
      return { admitted: false, refusal: graceLeftMs > 0 ? heldRefusal(refusal, graceLeftMs, rules.random) : refusal }
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

const offAdmissions = admittedWithoutToken('off')
const unverifiedAdmissions = admittedWithoutToken('unverified')

/** One object per token, as nearly every request of a token is admitted in the same words. */
const admissions = new WeakMap<TokenRecord, Admitted>()
const endingAdmissions = new WeakMap<TokenRecord, Admitted>()

function admissionOf(token: TokenRecord, presented: AdmissionRequest, nowMs: number, rules: EffectRules): Admitted {
  const endsAtMs = token.expiresAtMs
  if (endsAtMs === undefined || endsAtMs - nowMs >= EXPIRES_SOON_MS)
    return rememberedAdmission(admissions, token, undefined)
  const admission = rememberedAdmission(endingAdmissions, token, endsAtMs)
  if (!rules.warnOfExpiry || !mayWarn(presented, nowMs, rules)) return admission
  return {
    ...admission,
    warning: `The ingest token ${token.id} expires at ${admission.expiresAt}. Replace it before then.`,
  }
}

function rememberedAdmission(
  known: WeakMap<TokenRecord, Admitted>,
  token: TokenRecord,
  endsAtMs: number | undefined,
): Admitted {
  const remembered = known.get(token)
  if (remembered !== undefined) return remembered
  const admission: Admitted = {
    admitted: true,
    token,
    auth: 'verified',
    wouldReject: undefined,
    warning: undefined,
    expiresAt: endsAtMs === undefined ? undefined : rfc3339(endsAtMs),
    sample: undefined,
  }
  known.set(token, admission)
  return admission
}

function mayWarn({ source, signal }: AdmissionRequest, nowMs: number, { warned }: EffectRules): boolean {
  return warned.take(`${networkOf(source)} ${signal}`, nowMs)
}

/** The refusal of the table 1.3, as enforcement would have it without grace. */
export function refusalOf(presented: AdmissionRequest, reason: Reason, token: TokenRecord | undefined): Refusal {
  const text =
    reason === 'malformed' && presented.credential.kind === 'malformed' ? malformedHeader : refusalTexts[reason]
  if (token === undefined || text.ofToken === undefined) {
    return strangerRefusals.get(text) ?? withChallenge(text, text.message, presented.signal)
  }
  return withChallenge(text, `The ingest token ${token.id} ${text.ofToken}`, presented.signal)
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

/** A flood of bad credentials shall not make garbage; only a scope depends on the request. */
const strangerRefusals: ReadonlyMap<RefusalText, Refusal> = new Map(
  [malformedHeader, ...Object.values(refusalTexts)]
    .filter(({ error }) => error !== 'insufficient_scope')
    .map((text) => [text, withChallenge(text, text.message, '')]),
)

/** Retryable until grace ends; a client sent away for longer than that would find itself refused for good (E-6). */
function heldRefusal({ message }: Refusal, leftMs: number, random: Random): Refusal {
  return {
    kind: 'grace_hold',
    message: `Ingest enforcement has just been switched on; soon this export will be refused for good. ${message}`,
    retryAfterSeconds: Math.max(1, Math.min(retryAfterSeconds(random), Math.floor(leftMs / 1_000))),
  }
}
