import type { AccessLevel } from '../../base/model/access-level.ts'
import type { User } from '../../base/model/user.ts'

/** A user's role in one group or project. */
export interface Member {
  /** The id of the membership. */
  readonly id: number
  readonly user: User
  readonly level: AccessLevel
  /** `YYYY-MM-DD`; the role ends at the beginning of that day. */
  readonly expiresAt: string | undefined
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly createdBy: User | undefined
  /** The group or project in which the role was given; exactly one is set. */
  readonly groupId: number | undefined
  readonly projectId: number | undefined
}

/** The names of roles in GitLab's error messages. */
export const roleNames: Readonly<Record<AccessLevel, string>> = {
  0: 'No access',
  5: 'Minimal Access',
  10: 'Guest',
  15: 'Planner',
  20: 'Reporter',
  25: 'Security Manager',
  30: 'Developer',
  40: 'Maintainer',
  50: 'Owner',
}
