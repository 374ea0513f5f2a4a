import { z } from 'zod'
import type { Permission } from '../../base/access/permission-table.ts'
import type { Subject } from '../../base/access/subject.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CallContext, Tx } from '../../base/operations/context.ts'
import {
  type BatchQuery,
  batchQuery,
  type Caller,
  command,
  type Operation,
  query,
} from '../../base/operations/operation.ts'
import { getGroup } from '../groups/group-store.ts'
import { getProject } from '../projects/project-store.ts'

/** The parameter that names the group or project; spread it into the inputs of an area. */
export const parentInput = { parent: namespaceRef }

const inputOnParent = z.object(parentInput)
type InputOnParent = z.ZodType<z.output<typeof inputOnParent>>

/** The context of an operation on a group or project, which is `subject`. */
export type OnParent<Context> = CallContext & Context & { readonly subject: Subject }

/** Returns the group or project. @throws DomainError `not_found` */
export const getParent = (context: ReadContext, kind: Subject['kind'], ref: number | string): Promise<Subject> =>
  kind === 'group' ? getGroup(context, ref) : getProject(context, ref)

interface AreaOnParents {
  /** The noun in the names of operations: `Label` for `listGroupLabels`. */
  readonly noun: string
  /** Who may call `list` and `get`. Default: `signed_in`. */
  readonly readers?: Caller
  /** The permissions, or the one that all operations need. */
  readonly permissions: (kind: Subject['kind']) => AreaPermissions | Permission
  /** Set if `remove` calls `requireUnmodified`. */
  readonly isConditional?: boolean
}

interface AreaPermissions {
  /** For `list`, `listEach` and `get`. */
  readonly read: Permission
  /** For `create`, `update` and `remove`. */
  readonly write: Permission
  /** For `remove`, if it differs. */
  readonly remove?: Permission
}

type Define<Context> = <Input extends InputOnParent, Result>(
  input: Input,
  run: (context: OnParent<Context>, input: z.output<Input>) => Promise<Result>,
) => Operation<Input, Result>

/** Defines the usual operations, each with its name, permission and subject. */
interface DefineOnParent {
  readonly list: Define<ReadContext>
  readonly get: Define<ReadContext>
  readonly create: Define<Tx>
  readonly update: Define<Tx>
  readonly remove: Define<Tx>
  /** Defines a list for many groups, or for many projects. */
  readonly listEach: <Input extends z.ZodType<object>, Result>(
    input: Input,
    run: BatchQuery<Input, Subject, Result>['run'],
  ) => BatchQuery<Input, Subject, Result | undefined>
}

/** Returns the operations of an area, once for groups and once for projects. They differ in name, permission and subject. */
export function onGroupsAndProjects<Operations>(
  area: AreaOnParents,
  define: (on: DefineOnParent) => Operations,
): { readonly group: Operations; readonly project: Operations } {
  return { group: define(definitionsOf(area, 'group')), project: define(definitionsOf(area, 'project')) }
}

function definitionsOf(
  { noun, readers, permissions, isConditional = false }: AreaOnParents,
  kind: Subject['kind'],
): DefineOnParent {
  const needed = permissions(kind)
  const { read, write, remove = write } = typeof needed === 'string' ? { read: needed, write: needed } : needed
  const owned = `${kind === 'group' ? 'Group' : 'Project'}${noun}`
  const subject = (context: ReadContext, { parent }: z.output<InputOnParent>) => getParent(context, kind, parent)
  const reads = { permission: read, subject, ...(readers && { caller: readers }) }
  return {
    list: (input, run) => query({ name: `list${owned}s`, input, ...reads }, run),
    get: (input, run) => query({ name: `get${owned}`, input, ...reads }, run),
    create: (input, run) => command({ name: `create${owned}`, input, permission: write, subject }, run),
    update: (input, run) => command({ name: `update${owned}`, input, permission: write, subject }, run),
    remove: (input, run) => command({ name: `remove${owned}`, input, permission: remove, subject, isConditional }, run),
    listEach: (input, run) => batchQuery({ name: `list${owned}sOfEach`, input, permission: read }, run),
  }
}
