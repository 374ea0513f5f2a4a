import type { Incoming } from '@penstock/http'
import { networkOf } from '@penstock/runtime'
import { ApiError, type ApiErrorCode } from '../operations/api-error.ts'
import { insertAuditEvent } from '../operations/audit-event.ts'
import type { Actor } from '../operations/operation-context.ts'
import type { OperationName } from '../operations/roles.ts'
import type { SessionEnd } from '../sessions/session-end.ts'
import { DenialBudget } from './denial-budget.ts'
import type { ManagementDeps } from './management-context.ts'

/** The wrong keys allowed per network before further ones are answered with 429. A valid key is never limited. */
const wrongKeys = { burst: 20, perMinute: 20, names: 4_096 }
/** The refusals that are audited per caller, and for all unauthenticated callers together, so that they cannot fill the disk. */
const auditedDenials = { burst: 60, perMinute: 60, names: 1_024 }
/** The sign-ins allowed per API key, each of which adds up to two audit events. */
const signIns = { burst: 60, perMinute: 60, names: 1_024 }
const UNAUTHENTICATED_CALLERS = ''

/** Limits and audits the refusals of the management API, and limits its sign-ins. Calls and sign-ins share one budget of wrong keys. */
export class Denials {
  readonly #deps: Pick<ManagementDeps, 'db' | 'log' | 'nowMs' | 'monotonicMs'>
  readonly #wrongKeyBudget = new DenialBudget(wrongKeys)
  readonly #auditBudget = new DenialBudget(auditedDenials)
  readonly #signInBudget = new DenialBudget(signIns)

  constructor(deps: Pick<ManagementDeps, 'db' | 'log' | 'nowMs' | 'monotonicMs'>) {
    this.#deps = deps
  }

  /** Returns the error for a caller without a valid credential: `unauthenticated`, or `rate_limited` beyond the budget. */
  async unauthenticated(incoming: Incoming, operation: OperationName, message: string): Promise<ApiError> {
    const waitMs = this.#takeWrongKey(incoming)
    if (waitMs > 0) return rateLimited('Too many requests without a valid key from this network.', waitMs)
    await this.audit(undefined, incoming, operation, 'unauthenticated')
    return new ApiError('unauthenticated', message)
  }

  /**
   * Returns `unauthenticated` for a caller that sends only a cookie of no valid session. It is counted as a wrong key, but is
   * answered the same beyond the budget: a page must learn that its session has ended, even if others in its network guess
   * keys, and the secret of a session is too long to be guessed.
   */
  async withoutValidSession(
    incoming: Incoming,
    operation: OperationName,
    message: string,
    details: { readonly session_ended: SessionEnd } | undefined,
  ): Promise<ApiError> {
    if (this.#takeWrongKey(incoming) === 0) await this.audit(undefined, incoming, operation, 'unauthenticated')
    return new ApiError('unauthenticated', message, details)
  }

  /** Throws `rate_limited` if a key has signed in too often. */
  limitSignIns(keyId: string): void {
    const waitMs = this.#signInBudget.take(keyId, this.#deps.monotonicMs())
    if (waitMs > 0) throw rateLimited('Too many sign-ins with this API key.', waitMs)
  }

  #takeWrongKey({ source }: Incoming): number {
    return this.#wrongKeyBudget.take(networkOf(source), this.#deps.monotonicMs())
  }

  async audit(
    actor: Actor | undefined,
    { source, requestId }: Incoming,
    operation: OperationName,
    code: ApiErrorCode,
  ): Promise<void> {
    const { db, log, nowMs, monotonicMs } = this.#deps
    if (this.#auditBudget.take(actor?.id ?? UNAUTHENTICATED_CALLERS, monotonicMs()) > 0) return
    const event = { event: 'api.denied', subjectId: undefined, after: { operation, code } } as const
    try {
      await db.write((tx) => insertAuditEvent(tx, { actor, source, requestId }, event, nowMs()))
    } catch (error) {
      // The refusal stands without its record, and the refused caller is not informed about the store.
      const { message } = error as Error
      log.error({ event: 'audit.failed', request_id: requestId, error: message }, 'A refusal could not be recorded')
    }
  }
}

const rateLimited = (message: string, waitMs: number): ApiError =>
  new ApiError('rate_limited', message, { retry_after_seconds: Math.ceil(waitMs / 1000) })
