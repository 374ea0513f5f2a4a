import { z } from 'zod'
import { requirePermission } from '../../base/access/subject.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { CallLimit } from '../../base/operations/call-limit.ts'
import type { StepsContext } from '../../base/operations/operation.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import type { NotesTx } from '../notes/note-changes.ts'
import type { Noteable, There } from '../notes/noteable.ts'
import type { NoteableKind, OnProject } from './noteable-kinds.ts'

const NOTES_PER_MINUTE = 300
/** One count for all notes of a user, replies included. */
export const noteLimits: readonly CallLimit<object>[] = [
  { name: 'notes_create', per: ['user'], periodSeconds: 60, count: NOTES_PER_MINUTE },
]

/** Returns what the operations on the notes and discussions of one type of thing have in common. */
export function onNoteable(kind: NoteableKind) {
  const find = (context: There, input: OnProject) => kind.find(context, input)
  return {
    /** Returns the beginning of an operation on something that the caller can read. */
    head: <More extends z.ZodRawShape>(name: string, more: More) => ({
      name,
      // The parameter that identifies the thing is known only to its `find`.
      input: z.object({ project: namespaceRef, ...kind.key, ...more }) as unknown as z.ZodType<
        OnProject & z.output<z.ZodObject<More>>
      >,
      permission: kind.read,
      subject: (context: ReadContext, { project }: OnProject) => getProject(context, project),
    }),
    find,
    /** Runs a change of notes in a transaction, in which the project and the thing are loaded again. */
    async change<Result>(
      context: StepsContext & { readonly subject: Project },
      input: OnProject,
      work: (tx: NotesTx, noteable: Noteable) => Promise<Result>,
    ): Promise<Result> {
      // A commit is found in the repository, which takes long.
      const found = kind.isInRepository ? await find(context, input) : undefined
      return context.write(async (tx) => {
        const there = { ...tx, subject: await getProject(tx, context.subject.id) }
        await requirePermission(tx, there.subject, kind.read)
        return work(there, found ?? (await find(there, input)))
      })
    },
  }
}
