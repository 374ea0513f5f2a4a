import type { AccessLevel } from '../../base/model/access-level.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'

/** A project with its related data, as responses show it. */
export interface ProjectView {
  readonly project: Project
  readonly namespace: Namespace
  /** Set for a project in the namespace of a user. */
  readonly owner: User | undefined
  readonly topics: readonly string[]
  /** The number of open issues; `undefined` if the actor may not read them. */
  readonly openIssuesCount: number | undefined
  readonly starCount: number
  readonly canCreateMergeRequest: boolean
  /** The names from the root group to the project, joined with ` / `. */
  readonly nameWithNamespace: string
  /** The actor's direct role in the project, and the highest in the groups above; `undefined` for anonymous users. */
  readonly roles: { readonly project: AccessLevel; readonly group: AccessLevel } | undefined
}

/**
 * The namespace of a project, which is that of a group or of a user. The namespace of a group has the id of the group.
 */
export interface Namespace {
  readonly id: number
  readonly kind: 'group' | 'user'
  readonly name: string
  readonly path: string
  readonly fullPath: string
  readonly parentId: number | undefined
  /** The path of its picture below the external URL. */
  readonly avatarPath: string | undefined
}
