import { ApiError } from './api-error.ts'
import type { Actor, Role } from './operation-context.ts'

const everyRole = ['Viewer', 'Editor', 'Admin'] as const
const editors = ['Editor', 'Admin'] as const
const admins = ['Admin'] as const

const rows = {
  createToken: editors,
  listTokens: everyRole,
  getToken: everyRole,
  updateToken: editors,
  rotateToken: editors,
  revokeToken: editors,
  verifyToken: editors,
  importToken: editors,
  getState: everyRole,
  setState: editors,
  getReadiness: everyRole,
  listProcesses: editors,
  observe: everyRole,
  listAudit: admins,
  createApiKey: admins,
  listApiKeys: admins,
  revokeApiKey: admins,
  createSession: everyRole,
  getSession: everyRole,
  endSession: everyRole,
  createSignInCode: admins,
} as const satisfies Record<string, readonly Role[]>
export type OperationName = keyof typeof rows

/** The roles that may run each operation. API keys and the audit log are for Admins. */
const operationRoles: Readonly<Record<OperationName, readonly Role[]>> = rows

/**
 * Throws `forbidden` unless the actor's role may run the operation. Call it before the input is validated, so that a
 * Viewer learns nothing from field errors.
 */
export function requireRole(actor: Actor, operation: OperationName): void {
  const needed = operationRoles[operation]
  if (needed.includes(actor.role)) return
  throw new ApiError('forbidden', `The role ${actor.role} may not do this; it requires ${needed.join(' or ')}.`, {
    role: actor.role,
    needed,
  })
}
