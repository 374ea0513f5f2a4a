import type { Visibility } from '../access/access-level.ts'

export interface Group {
  readonly kind: 'group'
  readonly id: number
  readonly parentId: number | undefined
  /** Last segment of `fullPath`. */
  readonly path: string
  readonly fullPath: string
  readonly name: string
  /** Names from the root down, joined with ` / `. */
  readonly fullName: string
  readonly description: string
  readonly visibility: Visibility
  /** Its own and those of the groups above it, from the root down. Roles come from these. */
  readonly groupIds: readonly number[]
  /** Whoever may see it may ask to become a member. */
  readonly requestAccessEnabled: boolean
  readonly createdAtMs: number
}

/** How one is named in a request: its id, or its full path. @see spec/rest-part2-details.md 1.2 */
export type GroupRef = number | string

const openness = { private: 0, internal: 1, public: 2 } as const

/** Whether more people may see `a` than `b`. */
export const isMoreOpen = (a: Visibility, b: Visibility): boolean => openness[a] > openness[b]
