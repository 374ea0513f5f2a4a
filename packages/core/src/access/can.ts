import type { AccessLevel, Visibility } from './access-level.ts'
import { type Permission, type PermissionRow, permissionTable } from './permission-table.ts'

/** How an actor stands to a group or project. */
export interface Standing {
  /** The highest role, inherited ones included; 0 for none. */
  readonly level: AccessLevel
  readonly visibility: Visibility
  readonly isSignedIn: boolean
  readonly isAdministrator: boolean
  /** Has a role in something below the group, though perhaps none in the group itself. */
  readonly hasRoleBelow?: boolean
  /** Of a project: nobody changes what is in it, administrators included. */
  readonly isArchived?: boolean
}

/** Whether there is such a group or project, as far as the actor is concerned. */
export function canSee({ level, visibility, isSignedIn, isAdministrator, hasRoleBelow }: Standing): boolean {
  return (
    isAdministrator ||
    level > 0 ||
    visibility === 'public' ||
    (visibility === 'internal' && isSignedIn) ||
    hasRoleBelow === true
  )
}

export function can(standing: Standing, permission: Permission): boolean {
  const { least, visitors, fromBelow, endsWithArchiving }: PermissionRow = permissionTable[permission]
  if (endsWithArchiving && standing.isArchived) return false
  if (standing.isAdministrator || standing.level >= least) return true
  if (fromBelow && standing.hasRoleBelow) return true
  if (visitors === undefined || (visitors === 'signed_in' && !standing.isSignedIn)) return false
  return standing.visibility === 'public' || (standing.visibility === 'internal' && standing.isSignedIn)
}
