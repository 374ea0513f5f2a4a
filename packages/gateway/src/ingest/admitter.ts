import type { Clock, Log } from '@penstock/runtime'
import type { Route } from '../attribution/tenant-route.ts'
import { snapshotUnavailable, type AdmissionRules, decideAdmission } from '../enforcement/admission-decision.ts'
import type { ClientStats } from '../enforcement/client-stats.ts'
import type { Limiting } from '../limits/limiting.ts'
import type { AccessLog } from '../metrics/access-log.ts'
import type { GateMetrics } from '../metrics/gate-metrics.ts'
import type { Authenticator } from '../tokens/authenticator.ts'
import type { Snapshot } from '../tokens/snapshot.ts'
import type { TokenRecord } from '../tokens/token-record.ts'
import { retryAfterSeconds } from '../upstream/status-codes.ts'
import type { Admission, Presented, Reason, Verdict } from './admission.ts'
import { type Refusal, type RefusalKind, refusalTable } from './refusals.ts'

export interface AdmitterParts {
  readonly clock: Clock
  readonly log: Log
  /** `undefined` until the store has been read once. */
  readonly snapshot: () => Snapshot | undefined
  readonly authenticator: Authenticator
  readonly rules: AdmissionRules
  readonly limiter: Limiting
  readonly clientStats: ClientStats
  readonly metrics: GateMetrics
  readonly accessLog: AccessLog
  readonly route: (token: TokenRecord) => Route
}

/** Lets a request in, or says why not, on what it shows before its body. The same for HTTP, gRPC and forward-auth. */
export class Admitter {
  readonly #parts: AdmitterParts

  constructor(parts: AdmitterParts) {
    this.#parts = parts
  }

  /** Never throws: a fault of ours is a retryable refusal (spec/otlp-gateway.md 1.3, last row). */
  admit(presented: Presented): Admission {
    try {
      return this.#admit(presented)
    } catch (error) {
      const { log, rules } = this.#parts
      log.error({ event: 'admission.failed', err: error }, 'a request could not be judged')
      const message = 'The gateway has failed to judge this request.'
      const refusal: Refusal = { kind: 'internal', message, retryAfterSeconds: retryAfterSeconds(rules.random) }
      return { admitted: false, refusal }
    }
  }

  #admit(presented: Presented): Admission {
    const { clock, snapshot: currentSnapshot, rules, limiter, clientStats, metrics } = this.#parts
    const nowMs = clock.nowMs()
    const snapshot = currentSnapshot()
    const blind = snapshotUnavailable(snapshot, nowMs, rules)
    if (blind !== undefined) return { admitted: false, refusal: blind }
    const verdict = this.#judge(presented, snapshot!, nowMs)
    const isSampled = clientStats.recordVerdict(presented, verdict, nowMs)
    const admission = decideAdmission(presented, verdict, snapshot!, nowMs, rules)
    const { signal, transport } = presented
    if (verdict.allowed) metrics.decided(signal, transport, snapshot!.mode, 'allow', undefined)
    else {
      const decision = admission.admitted ? 'would_reject' : 'reject'
      metrics.decided(signal, transport, snapshot!.mode, decision, verdict.reason)
      if (verdict.token !== undefined) metrics.tokenRejected(verdict.token, signal, nowMs)
    }
    if (!admission.admitted) {
      this.#refused(presented, reasonOf(verdict, admission.refusal), verdict.token, admission.refusal, nowMs)
      return admission
    }
    const { token } = admission
    if (token === undefined) return isSampled ? { ...admission, sample: presented } : admission
    const route = this.#parts.route(token)
    if (route.kind === 'forbidden') return this.#turnedAway(presented, token, route.refusal, nowMs)
    const over = token.limits && limiter.take(token, signal, presented.declaredBytes ?? 0, nowMs)
    if (over === undefined) return admission
    metrics.throttled(token, signal, over.limit, nowMs)
    const message = `The ingest token ${token.id} is over its limit ${over.limit}.`
    const retryAfterSeconds = Math.max(1, Math.ceil(over.waitMs / 1_000))
    return this.#turnedAway(presented, token, { kind: 'over_limit', message, retryAfterSeconds }, nowMs)
  }

  /** Of a token that is good, but not for this. */
  #turnedAway(presented: Presented, token: TokenRecord, refusal: Refusal, nowMs: number): Admission {
    this.#refused(presented, refusal.kind, token, refusal, nowMs)
    return { admitted: false, refusal }
  }

  #refused(
    presented: Presented,
    reason: Reason | RefusalKind,
    token: TokenRecord | undefined,
    { kind }: Refusal,
    nowMs: number,
  ): void {
    const { metrics, accessLog } = this.#parts
    const { transport, declaredBytes } = presented
    if (transport !== 'forward-auth') metrics.answered('refused', transport)
    const status = refusalTable[kind][transport === 'grpc' ? 'grpc' : 'http']
    const ending = { status, bytes: declaredBytes, upstreamMs: undefined }
    accessLog.refused(presented, reason, token?.id, ending, nowMs)
  }

  #judge(presented: Presented, snapshot: Snapshot, nowMs: number): Verdict {
    const { authenticator, metrics } = this.#parts
    if (!metrics.shouldTimeVerification()) return authenticator.authenticate(presented, snapshot, nowMs)
    const start = performance.now()
    const verdict = authenticator.authenticate(presented, snapshot, nowMs)
    metrics.verifyDuration((performance.now() - start) / 1_000)
    return verdict
  }
}

const reasonOf = (verdict: Verdict, refusal: Refusal): Reason | RefusalKind =>
  verdict.allowed ? refusal.kind : verdict.reason
