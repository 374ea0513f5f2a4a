import type { Incoming } from '@penstock/http'
import { networkOf } from '@penstock/runtime'
import { authenticateApiKey } from '../accounts/api-key-operations.ts'
import { ApiError } from '../operations/api-error.ts'
import { insertAuditEvent } from '../operations/audit-event.ts'
import type { Actor } from '../operations/operation-context.ts'
import { type OperationName, requireRole } from '../operations/roles.ts'
import { DenialBudget } from './denial-budget.ts'
import type { ManagementContext, ManagementDeps } from './management-context.ts'

/** The wrong keys allowed per network before further ones are answered with 429. A valid key is never limited. */
const wrongKeys = { burst: 20, perMinute: 20, names: 4_096 }
/** The refusals that are audited per caller, and for all unauthenticated callers together, so that they cannot fill the disk. */
const auditedDenials = { burst: 60, perMinute: 60, names: 1_024 }
const UNAUTHENTICATED_CALLERS = ''

/** Returns the access check of a route: it requires a valid API key, then its role. */
export function keyGuard(deps: ManagementDeps) {
  const wrongKeyBudget = new DenialBudget(wrongKeys)
  const auditBudget = new DenialBudget(auditedDenials)

  async function audit(
    actor: Actor | undefined,
    { source, requestId }: Incoming,
    operation: OperationName,
    code: string,
  ) {
    const nowMs = deps.nowMs()
    if (auditBudget.take(actor?.id ?? UNAUTHENTICATED_CALLERS, nowMs) > 0) return
    const event = { event: 'api.denied', subjectId: undefined, after: { operation, code } } as const
    try {
      await deps.db.write((tx) => insertAuditEvent(tx, { actor, source, requestId }, event, nowMs))
    } catch (error) {
      // The refusal stands without its record, and the refused caller is not informed about the store.
      const { message } = error as Error
      deps.log.error(
        { event: 'audit.failed', request_id: requestId, error: message },
        'A refusal could not be recorded',
      )
    }
  }

  return async (incoming: Incoming, operation: OperationName): Promise<ManagementContext> => {
    const key = singleApiKey(incoming.raw.rawHeaders)
    const actor = key === undefined ? undefined : await authenticateApiKey(deps, key, deps.nowMs())
    if (actor === undefined) {
      const waitMs = wrongKeyBudget.take(networkOf(incoming.source), deps.nowMs())
      if (waitMs > 0) throw tooManyWrongKeys(waitMs)
      await audit(undefined, incoming, operation, 'unauthenticated')
      throw new ApiError('unauthenticated', 'Send one valid API key in the header OBS-API-KEY.')
    }
    try {
      requireRole(actor, operation)
    } catch (error) {
      await audit(actor, incoming, operation, 'forbidden')
      throw error
    }
    const { log: _log, version: _version, ...rest } = deps
    return { ...rest, actor, source: incoming.source, requestId: incoming.requestId }
  }
}

/** Returns the API key of a request, or `undefined` if it is repeated. Node joins repeated headers, so the raw list is used. */
function singleApiKey(rawHeaders: readonly string[]): string | undefined {
  const keys = rawHeaders.filter((_value, index) => index % 2 === 1 && isKeyHeader(rawHeaders[index - 1]))
  return keys.length === 1 ? keys[0]?.trim() : undefined
}

const isKeyHeader = (name: string | undefined): boolean => name?.toLowerCase() === 'obs-api-key'

function tooManyWrongKeys(waitMs: number): ApiError {
  const seconds = Math.ceil(waitMs / 1000)
  return new ApiError('rate_limited', 'Too many requests without a valid key from this network.', {
    retry_after_seconds: seconds,
  })
}
