import type { Visibility } from './access-level.ts'
import type { ProjectFeatures } from './feature-access.ts'
import type { ProjectSettings } from './project-settings.ts'

export interface Project {
  readonly kind: 'project'
  readonly id: number
  /** `undefined` for a project in the namespace of a user. */
  readonly groupId: number | undefined
  readonly ownerId: number | undefined
  readonly path: string
  readonly fullPath: string
  readonly name: string
  readonly description: string | undefined
  readonly visibility: Visibility
  /** The groups above it from the root down, from which roles are inherited; empty in the namespace of a user. */
  readonly groupIds: readonly number[]
  readonly creatorId: number | undefined
  readonly defaultBranch: string | undefined
  /** An archived project is read-only. */
  readonly isArchived: boolean
  /** True until the first commit. */
  readonly isEmpty: boolean
  /** Whether users who can see it may request membership. */
  readonly requestAccessEnabled: boolean
  readonly features: ProjectFeatures
  readonly settings: ProjectSettings
  /** The file name of its picture. */
  readonly avatar: string | undefined
  readonly createdAtMs: number
  readonly lastActivityAtMs: number
}

/** Identifies a project in a request: its id, or its full path with at least one `/`. */
export type ProjectRef = number | string
