import type { Visibility } from '../access/access-level.ts'

export interface Project {
  readonly kind: 'project'
  readonly id: number
  /** `undefined`: in the namespace of a user. */
  readonly groupId: number | undefined
  readonly ownerId: number | undefined
  readonly path: string
  readonly fullPath: string
  readonly name: string
  readonly description: string | undefined
  readonly visibility: Visibility
  /** Of the groups it lies in, from the root down; empty in the namespace of a user. Roles come from these. */
  readonly groupIds: readonly number[]
  readonly creatorId: number | undefined
  readonly defaultBranch: string | undefined
  /** Nothing in it may be changed. */
  readonly isArchived: boolean
  /** Nothing has been committed to its repository. */
  readonly isEmpty: boolean
  /** Whoever may see it may ask to become a member. */
  readonly requestAccessEnabled: boolean
  readonly createdAtMs: number
  readonly lastActivityAtMs: number
}

/** How one is named in a request: its id, or its full path with at least one `/`. */
export type ProjectRef = number | string
