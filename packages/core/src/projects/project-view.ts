import type { AccessLevel } from '../access/access-level.ts'
import type { User } from '../users/user.ts'
import type { Project } from './project.ts'

/** A project with what is told of it beside its own. */
export interface ProjectView {
  readonly project: Project
  readonly namespace: Namespace
  /** Of a project in the namespace of a user. */
  readonly owner: User | undefined
  /** Names from the root down, joined with ` / `. */
  readonly nameWithNamespace: string
  /** Of whoever asks: roles of the project's own and of the groups above; `undefined` when nobody has signed in. */
  readonly roles: { readonly project: AccessLevel; readonly group: AccessLevel } | undefined
}

/** Where a project lies: in a group, whose id it then has, or in what belongs to a user. */
export interface Namespace {
  readonly id: number
  readonly kind: 'group' | 'user'
  readonly name: string
  readonly path: string
  readonly fullPath: string
  readonly parentId: number | undefined
}
