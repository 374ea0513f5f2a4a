import type { User } from '../../base/model/user.ts'

/** The wish of a user for a role in one group or project. It gives no rights. */
export interface AccessRequest {
  readonly id: number
  readonly user: User
  readonly requestedAtMs: number
}
