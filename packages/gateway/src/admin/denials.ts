import type { Incoming } from '@penstock/http'
import { networkOf } from '@penstock/runtime'
import { ApiError, type ApiErrorCode } from '../operations/api-error.ts'
import { insertAuditEvent } from '../operations/audit-event.ts'
import type { Actor } from '../operations/operation-context.ts'
import type { OperationName } from '../operations/roles.ts'
import { DenialBudget } from './denial-budget.ts'
import type { ManagementDeps } from './management-context.ts'

/** The wrong keys allowed per network before further ones are answered with 429. A valid key is never limited. */
const wrongKeys = { burst: 20, perMinute: 20, names: 4_096 }
/** The refusals that are audited per caller, and for all unauthenticated callers together, so that they cannot fill the disk. */
const auditedDenials = { burst: 60, perMinute: 60, names: 1_024 }
const UNAUTHENTICATED_CALLERS = ''

/** Limits and audits the refusals of the management API. Calls and sign-ins share one budget. */
export class Denials {
  readonly #deps: Pick<ManagementDeps, 'db' | 'log' | 'nowMs'>
  readonly #wrongKeyBudget = new DenialBudget(wrongKeys)
  readonly #auditBudget = new DenialBudget(auditedDenials)

  constructor(deps: Pick<ManagementDeps, 'db' | 'log' | 'nowMs'>) {
    this.#deps = deps
  }

  /** Returns the error for a caller without a valid credential: `unauthenticated`, or `rate_limited` beyond the budget. */
  async unauthenticated(incoming: Incoming, operation: OperationName, message: string): Promise<ApiError> {
    const waitMs = this.#wrongKeyBudget.take(networkOf(incoming.source), this.#deps.nowMs())
    if (waitMs > 0) return tooManyWrongKeys(waitMs)
    await this.audit(undefined, incoming, operation, 'unauthenticated')
    return new ApiError('unauthenticated', message)
  }

  async audit(
    actor: Actor | undefined,
    { source, requestId }: Incoming,
    operation: OperationName,
    code: ApiErrorCode,
  ): Promise<void> {
    const { db, log } = this.#deps
    const nowMs = this.#deps.nowMs()
    if (this.#auditBudget.take(actor?.id ?? UNAUTHENTICATED_CALLERS, nowMs) > 0) return
    const event = { event: 'api.denied', subjectId: undefined, after: { operation, code } } as const
    try {
      await db.write((tx) => insertAuditEvent(tx, { actor, source, requestId }, event, nowMs))
    } catch (error) {
      // The refusal stands without its record, and the refused caller is not informed about the store.
      const { message } = error as Error
      log.error({ event: 'audit.failed', request_id: requestId, error: message }, 'A refusal could not be recorded')
    }
  }
}

function tooManyWrongKeys(waitMs: number): ApiError {
  const seconds = Math.ceil(waitMs / 1000)
  return new ApiError('rate_limited', 'Too many requests without a valid key from this network.', {
    retry_after_seconds: seconds,
  })
}
