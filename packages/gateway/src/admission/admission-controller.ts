import type { Clock, Log } from '@penstock/runtime'
import type { TenantRoute } from '../attribution/tenant-route.ts'
import type { Admission, AdmissionRequest, Reason, Verdict } from '../contract/admission.ts'
import { type Refusal, type RefusalKind, refusalTable } from '../contract/refusals.ts'
import { retryAfterSeconds } from '../contract/retry-after.ts'
import type { Snapshot } from '../contract/snapshot.ts'
import type { TokenRecord } from '../contract/token-record.ts'
import type { WrongPathRequest } from '../contract/wrong-path.ts'
import { type AdmissionRules, decideAdmission, snapshotUnavailable } from '../enforcement/admission-decision.ts'
import type { ClientSketch } from '../enforcement/client-sketch.ts'
import type { WrongPaths } from '../enforcement/wrong-paths.ts'
import type { Limiter } from '../limits/limiter.ts'
import type { AccessLog } from '../metrics/access-log.ts'
import type { GateMetrics } from '../metrics/gate-metrics.ts'
import type { Authenticator } from '../tokens/authenticator.ts'

interface AdmissionControllerParts {
  readonly clock: Clock
  readonly log: Log
  /** Returns the current snapshot; `undefined` until the store has been read once. */
  readonly snapshot: () => Snapshot | undefined
  readonly authenticator: Authenticator
  readonly rules: AdmissionRules
  readonly limiter: Limiter
  readonly clientStats: ClientSketch
  readonly wrongPaths: WrongPaths
  readonly metrics: GateMetrics
  readonly accessLog: AccessLog
  readonly route: (token: TokenRecord) => TenantRoute
}

/** An internal error while a request was checked. */
export const checkFailed: Refusal = { kind: 'internal', message: 'The gateway failed to check this request.' }

/** Admits or refuses requests before their body is read. Shared by HTTP, gRPC and forward-auth. */
export class AdmissionController {
  readonly #parts: AdmissionControllerParts

  constructor(parts: AdmissionControllerParts) {
    this.#parts = parts
  }

  /** Decides on a request. Never throws: an internal error becomes a retryable refusal. */
  admit(admissionRequest: AdmissionRequest): Admission {
    try {
      return this.#admit(admissionRequest)
    } catch (error) {
      const { log, rules } = this.#parts
      log.error({ event: 'admission.failed', err: error }, 'the admission check of a request failed')
      return { admitted: false, refusal: { ...checkFailed, retryAfterSeconds: retryAfterSeconds(rules.random) } }
    }
  }

  /** Makes a request on a wrong path visible to the operator if its token is valid. Never throws. */
  recordWrongPath(request: WrongPathRequest): void {
    try {
      this.#recordWrongPath(request)
    } catch (error) {
      this.#parts.log.error(
        { event: 'admission.failed', err: error },
        'a request on a wrong path could not be recorded',
      )
    }
  }

  #recordWrongPath(request: WrongPathRequest): void {
    const { clock, snapshot: currentSnapshot, rules, authenticator, wrongPaths, metrics, accessLog } = this.#parts
    const { credential, transport, suggestion } = request
    if (credential.kind !== 'bearer') return
    const nowMs = clock.nowMs()
    const snapshot = currentSnapshot()
    if (snapshot === undefined || snapshotUnavailable(snapshot, rules) !== undefined) return
    const verdict = authenticator.identify(credential, snapshot, nowMs)
    if (!verdict.allowed) return
    wrongPaths.record(request, verdict.token, nowMs)
    metrics.wrongPath(suggestion.signal, transport, snapshot.mode)
    accessLog.wrongPath(request, verdict.token.id, clock.monotonicMs())
  }

  #admit(admissionRequest: AdmissionRequest): Admission {
    const { clock, snapshot: currentSnapshot, rules, limiter, clientStats, metrics } = this.#parts
    const nowMs = clock.nowMs()
    const snapshot = currentSnapshot()
    const snapshotRefusal = snapshotUnavailable(snapshot, rules)
    if (snapshotRefusal !== undefined) return { admitted: false, refusal: snapshotRefusal }
    const verdict = this.#authenticate(admissionRequest, snapshot!, nowMs)
    const isSampled = clientStats.recordVerdict(admissionRequest, verdict, nowMs)
    const admission = decideAdmission(admissionRequest, verdict, snapshot!, nowMs, rules)
    const { signal, transport } = admissionRequest
    if (verdict.allowed) metrics.decided(signal, transport, snapshot!.mode, 'allow', undefined)
    else {
      const decision = admission.admitted ? 'would_reject' : 'reject'
      metrics.decided(signal, transport, snapshot!.mode, decision, verdict.reason)
      if (verdict.token !== undefined) metrics.tokenRejected(verdict.token, signal, nowMs)
    }
    if (!admission.admitted) {
      this.#recordRefusal(admissionRequest, reasonOf(verdict, admission.refusal), verdict.token, admission.refusal)
      return admission
    }
    const { token } = admission
    if (token === undefined) return isSampled ? { ...admission, sample: admissionRequest } : admission
    const route = this.#parts.route(token)
    if (route.kind === 'forbidden') return this.#refuseToken(admissionRequest, token, route.refusal)
    const over = token.limits && limiter.take(token, signal, admissionRequest.declaredBytes ?? 0, nowMs)
    if (over === undefined) return admission
    metrics.throttled(token, signal, over.limit, nowMs)
    const message = `The ingest token ${token.id} is over its limit ${over.limit}.`
    const retryAfterSeconds = Math.max(1, Math.ceil(over.waitMs / 1_000))
    return this.#refuseToken(admissionRequest, token, { kind: 'over_limit', message, retryAfterSeconds })
  }

  /** Refuses a request with a valid token because of its tenant or its limits. */
  #refuseToken(admissionRequest: AdmissionRequest, token: TokenRecord, refusal: Refusal): Admission {
    this.#recordRefusal(admissionRequest, refusal.kind, token, refusal)
    return { admitted: false, refusal }
  }

  #recordRefusal(
    admissionRequest: AdmissionRequest,
    reason: Reason | RefusalKind,
    token: TokenRecord | undefined,
    { kind }: Refusal,
  ): void {
    const { clock, metrics, accessLog } = this.#parts
    const { transport, declaredBytes } = admissionRequest
    if (transport !== 'forward-auth') metrics.answered('refused', transport)
    const status = refusalTable[kind][transport === 'grpc' ? 'grpc' : 'http']
    const ending = { status, bytes: declaredBytes, upstreamMs: undefined }
    accessLog.refused(admissionRequest, reason, token?.id, ending, clock.monotonicMs())
  }

  #authenticate(admissionRequest: AdmissionRequest, snapshot: Snapshot, nowMs: number): Verdict {
    const { authenticator, metrics } = this.#parts
    if (!metrics.shouldTimeVerification()) return authenticator.authenticate(admissionRequest, snapshot, nowMs)
    const start = performance.now()
    const verdict = authenticator.authenticate(admissionRequest, snapshot, nowMs)
    metrics.verifyDuration((performance.now() - start) / 1_000)
    return verdict
  }
}

const reasonOf = (verdict: Verdict, refusal: Refusal): Reason | RefusalKind =>
  verdict.allowed ? refusal.kind : verdict.reason
