import { type ObjectOf, oneOf } from '../kit/field-table.ts'
import { type AccessLevel, accessLevels } from './access-level.ts'

/** The names that GitLab has for who may create something in a group. `noone` excludes administrators too. */
export const creationLevels = ['noone', 'administrator', 'owner', 'maintainer', 'developer'] as const
export type CreationLevel = (typeof creationLevels)[number]

/** The least role for creating projects and groups in a group, which replaces that of the permission. */
export const creationLevelFields = {
  projectCreationLevel: oneOf('project_creation_level', creationLevels).default('developer'),
  subgroupCreationLevel: oneOf('subgroup_creation_level', ['owner', 'maintainer']).default('maintainer'),
}
export interface CreationLevels extends ObjectOf<typeof creationLevelFields> {}

/** The roles by those names; no role suffices for the others. */
export const roleOfCreationLevel: Readonly<Partial<Record<CreationLevel, AccessLevel>>> = {
  owner: accessLevels.owner,
  maintainer: accessLevels.maintainer,
  developer: accessLevels.developer,
}
