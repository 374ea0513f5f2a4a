import { type ObjectOf, oneOf } from '../kit/field-table.ts'
import { type AccessLevel, accessLevels } from './access-level.ts'

/**
 * GitLab's names for the levels that decide who may create something in a group. `noone` excludes administrators too.
 */
const creationLevels = ['noone', 'administrator', 'owner', 'maintainer', 'developer'] as const
export type CreationLevel = (typeof creationLevels)[number]

/** The lowest roles that may create projects and groups in a group. They replace the roles in the permission table. */
export const creationLevelFields = {
  projectCreationLevel: oneOf('project_creation_level', creationLevels).default('developer'),
  subgroupCreationLevel: oneOf('subgroup_creation_level', ['owner', 'maintainer']).default('maintainer'),
}
export interface CreationLevels extends ObjectOf<typeof creationLevelFields> {}

/** The role for each creation level. No role is sufficient for the levels that are missing here. */
export const roleOfCreationLevel: Readonly<Partial<Record<CreationLevel, AccessLevel>>> = {
  owner: accessLevels.owner,
  maintainer: accessLevels.maintainer,
  developer: accessLevels.developer,
}
