import type { AccessLevel, Visibility } from '../model/access-level.ts'
import { type CreationLevel, roleOfCreationLevel } from '../model/creation-levels.ts'
import { type FeatureAccess, highestLevel } from '../model/feature-access.ts'
import { type Permission, type PermissionRow, permissionTable, type RoleRule } from './permission-table.ts'

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
  /** The features of the group or project that are restricted. Default: none. */
  readonly features?: FeatureAccess
  /** The levels of the group that replace those of the permission table, by permission. */
  readonly creation?: Readonly<Partial<Record<Permission, CreationLevel>>>
  /** Whether internal groups and projects are hidden from the user, except those in which the user has a role. */
  readonly isExternal?: boolean
}

/** Returns whether the actor may know that the group or project exists. */
export function canSee(standing: Standing): boolean {
  return (
    standing.isAdministrator || standing.level > 0 || isOpenByVisibility(standing) || standing.hasRoleBelow === true
  )
}

/** Returns whether the actor has the permission. */
export const can = (standing: Standing, permission: Permission): boolean =>
  allows(permissionTable[permission], standing, standing.creation?.[permission])

/**
 * Returns whether a row of the permission table gives the actor its permission.
 *
 * @param creation if given, the creation level that decides which roles are sufficient, instead of the row
 */
export function allows(row: PermissionRow, standing: Standing, creation?: CreationLevel): boolean {
  const { visitors, fromBelow, endsWithArchiving, features } = row
  if (endsWithArchiving && standing.isArchived) return false
  const access = features === undefined ? 'enabled' : highestLevel(standing.features ?? {}, features)
  if (access === 'disabled') return false
  if (creation === 'noone') return false
  if (standing.isAdministrator || hasRole(creation === undefined ? row : ruleOf(creation), standing.level)) return true
  if (fromBelow && standing.hasRoleBelow) return true
  if (access === 'private' || visitors === undefined || (visitors === 'signed_in' && !standing.isSignedIn)) return false
  return isOpenByVisibility(standing)
}

const ruleOf = (creation: CreationLevel): RoleRule => {
  const least = roleOfCreationLevel[creation]
  return least === undefined ? { roles: [] } : { least }
}

const hasRole = ({ least, roles }: RoleRule, level: AccessLevel): boolean =>
  roles === undefined ? level >= least : roles.includes(level)

const isOpenByVisibility = ({ visibility, isSignedIn, isExternal }: Standing): boolean =>
  visibility === 'public' || (visibility === 'internal' && isSignedIn && isExternal !== true)

/** Returns whether a caller who can read something may comment on it. If it is locked, only members may. */
export const canComment = (standing: Standing, { isLocked }: { readonly isLocked: boolean }): boolean =>
  can(standing, 'create_note') && (!isLocked || standing.level > 0 || standing.isAdministrator)
