import type { Visibility } from './access-level.ts'
import type { CreationLevels } from './creation-levels.ts'
import type { GroupFeatures } from './feature-access.ts'
import type { GroupSettings } from './group-settings.ts'

export interface Group {
  readonly kind: 'group'
  readonly id: number
  readonly parentId: number | undefined
  /** The last segment of `fullPath`. */
  readonly path: string
  readonly fullPath: string
  readonly name: string
  /** The names from the root down, joined with ` / `. */
  readonly fullName: string
  readonly description: string
  readonly visibility: Visibility
  /** The ids of the group and of the groups above it, from the root down. Roles in all of them count. */
  readonly groupIds: readonly number[]
  /** Whether users who can see the group may request to become members. */
  readonly requestAccessEnabled: boolean
  readonly features: GroupFeatures
  readonly settings: GroupSettings
  /** Who may create projects and groups in it. */
  readonly creation: CreationLevels
  /** The default branch of new projects directly in the group. */
  readonly defaultBranch: string | undefined
  /** The file name of its picture. */
  readonly avatar: string | undefined
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** A reference to a group in a request: its id or its full path. */
export type GroupRef = number | string

const openness = { private: 0, internal: 1, public: 2 } as const

/** Returns whether visibility `a` admits more people than `b`. */
export const isMoreOpen = (a: Visibility, b: Visibility): boolean => openness[a] > openness[b]
