import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { OperationContext } from '../../base/operations/context.ts'
import type { NoteableType } from './note.ts'

/** The issue, merge request, snippet or commit that notes are about. */
export interface Noteable {
  readonly type: NoteableType
  readonly projectId: number
  /** `undefined` for a commit, which has a `sha`. */
  readonly id: number | undefined
  readonly sha: string | undefined
  readonly iid: number | undefined
  readonly authorId: number | undefined
  /** Whether only members may comment. */
  readonly isLocked: boolean
}

/** The context of an operation on a project. */
export type There = ReadContext & OperationContext & { readonly subject: Project }
