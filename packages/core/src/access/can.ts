import type { AccessLevel, Visibility } from '../model/access-level.ts'
import { type Permission, type PermissionRow, permissionTable } from './permission-table.ts'

/** The facts about an actor and a group or project that decide what the actor may do. */
export interface Standing {
  /** The highest role, inherited ones included; 0 for none. */
  readonly level: AccessLevel
  readonly visibility: Visibility
  readonly isSignedIn: boolean
  readonly isAdministrator: boolean
  /** Whether the actor has a role in something below the group, even if it has none in the group itself. */
  readonly hasRoleBelow?: boolean
  /** Whether it is an archived project, which not even administrators may change. */
  readonly isArchived?: boolean
}

/** Tells whether the actor may know that the group or project exists. */
export function canSee({ level, visibility, isSignedIn, isAdministrator, hasRoleBelow }: Standing): boolean {
  return (
    isAdministrator ||
    level > 0 ||
    visibility === 'public' ||
    (visibility === 'internal' && isSignedIn) ||
    hasRoleBelow === true
  )
}

/** Tells whether the actor has the permission. */
export function can(standing: Standing, permission: Permission): boolean {
  const { least, visitors, fromBelow, endsWithArchiving }: PermissionRow = permissionTable[permission]
  if (endsWithArchiving && standing.isArchived) return false
  if (standing.isAdministrator || standing.level >= least) return true
  if (fromBelow && standing.hasRoleBelow) return true
  if (visitors === undefined || (visitors === 'signed_in' && !standing.isSignedIn)) return false
  return standing.visibility === 'public' || (standing.visibility === 'internal' && standing.isSignedIn)
}
