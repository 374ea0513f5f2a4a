import type { Incoming } from '@penstock/http'
import { authenticateApiKey } from '../accounts/api-key-operations.ts'
import { ApiError } from '../operations/api-error.ts'
import type { Actor } from '../operations/operation-context.ts'
import { type OperationName, requireRole } from '../operations/roles.ts'
import { isPlainSecret } from '../secrets/token-format.ts'
import { findSession, hasCsrfToken, type Session } from '../sessions/session.ts'
import { findSessionEnd } from '../sessions/session-end.ts'
import type { Denials } from './denials.ts'
import type { ManagementContext, ManagementDeps } from './management-context.ts'
import { sessionSecretOf } from './session-cookie.ts'

export const CSRF_HEADER = 'X-Penstock-CSRF'

/**
 * Returns the access check of a route: it requires a valid API key or a session, then the role. If the request has an
 * API key, its cookie is ignored.
 */
export function callerGuard(deps: ManagementDeps, denials: Denials) {
  async function callerOf(incoming: Incoming, operation: OperationName): Promise<Actor> {
    const { rawHeaders } = incoming.raw
    const hasKey = hasKeyHeader(rawHeaders)
    const session = hasKey ? undefined : await sessionIn(deps, incoming)
    if (session !== undefined) {
      if (!isRead(incoming.method)) await requireCsrfToken(denials, incoming, operation, session)
      return session.actor
    }
    const key = singleApiKey(rawHeaders)
    const actor = key === undefined ? undefined : await authenticateApiKey(deps, key, deps.nowMs())
    if (actor !== undefined) return actor
    const message = 'Send one valid API key in the header OBS-API-KEY.'
    throw hasKey
      ? await denials.unauthenticated(incoming, operation, message)
      : await sessionDenial(deps, denials, incoming, operation, message)
  }

  return async (incoming: Incoming, operation: OperationName): Promise<ManagementContext> => {
    const actor = await callerOf(incoming, operation)
    try {
      requireRole(actor, operation)
    } catch (error) {
      await denials.audit(actor, incoming, operation, 'forbidden')
      throw error
    }
    const { log: _log, version: _version, ...rest } = deps
    return { ...rest, actor, source: incoming.source, requestId: incoming.requestId }
  }
}

/** Returns the valid session of a request, or `undefined`. */
export async function sessionIn(deps: ManagementDeps, { raw }: Incoming): Promise<Session | undefined> {
  const secret = sessionSecretOf(raw, deps)
  return secret === undefined ? undefined : await findSession(deps, secret, deps.nowMs())
}

/** Returns the error for a request without an API key and without a valid session. Its details say why a session has ended. */
export async function sessionDenial(
  deps: Pick<ManagementDeps, 'db' | 'nowMs' | 'externalUrl'>,
  denials: Denials,
  incoming: Incoming,
  operation: OperationName,
  message: string,
): Promise<ApiError> {
  const secret = sessionSecretOf(incoming.raw, deps)
  if (secret === undefined || !isPlainSecret(secret)) return await denials.unauthenticated(incoming, operation, message)
  const end = await findSessionEnd(deps.db, secret, deps.nowMs())
  return await denials.withoutValidSession(incoming, operation, message, end && { session_ended: end })
}

/** Throws `csrf_token_required` unless the request proves that it comes from a page that can read the API's answers. */
export async function requireCsrfToken(
  denials: Denials,
  incoming: Incoming,
  operation: OperationName,
  session: Session,
): Promise<void> {
  const sent = incoming.raw.headers[CSRF_HEADER.toLowerCase()]
  if (typeof sent === 'string' && hasCsrfToken(session, sent)) return
  await denials.audit(session.actor, incoming, operation, 'csrf_token_required')
  throw new ApiError(
    'csrf_token_required',
    `Changes in a session need the header ${CSRF_HEADER} with the csrf_token of GET /api/v1/session.`,
  )
}

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD'

const hasKeyHeader = (rawHeaders: readonly string[]): boolean =>
  rawHeaders.some((name, index) => index % 2 === 0 && isKeyHeader(name))

/** Returns the API key of a request, or `undefined` if it is repeated. Node joins repeated headers, so the raw list is used. */
function singleApiKey(rawHeaders: readonly string[]): string | undefined {
  const keys = rawHeaders.filter((_value, index) => index % 2 === 1 && isKeyHeader(rawHeaders[index - 1]))
  return keys.length === 1 ? keys[0]?.trim() : undefined
}

const isKeyHeader = (name: string | undefined): boolean => name?.toLowerCase() === 'obs-api-key'
