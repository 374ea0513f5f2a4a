import type { OperationContext, Tx } from '../../base/operations/context.ts'
import { newDiscussionId } from './discussion-id.ts'
import { insertNote, noteableColumns } from './note-store.ts'

/** The fields of an issue or merge request that notes describe. */
interface Noted {
  readonly id: number
  readonly projectId: number
  readonly labels: readonly string[]
  readonly state: string
}

/** The sentences that describe changes. Each function returns `undefined` if nothing of its kind changed. */
const sentences: readonly ((before: Noted, after: Noted, via: string) => string | undefined)[] = [
  (before, after, via) => (before.state === after.state ? undefined : `${wordOfState[after.state]}${via}`),
  (before, after) => labelsSentence(without(after.labels, before.labels), without(before.labels, after.labels)),
]

const wordOfState: Readonly<Record<string, string>> = { closed: 'closed', opened: 'reopened', merged: 'merged' }

/**
 * Adds the notes that describe how the state and the labels of an issue or merge request have changed.
 *
 * @param how what changed the state, if it was not the actor alone: `merge request !1`
 */
export async function addSystemNotes(
  tx: Tx & OperationContext,
  type: 'issue' | 'merge_request',
  before: Noted,
  after: Noted,
  how?: { readonly via: string },
): Promise<void> {
  for (const sentence of sentences) {
    const body = sentence(before, after, how === undefined ? '' : ` via ${how.via}`)
    if (body !== undefined) await addSystemNote(tx, type, after, body)
  }
}

/** Adds a note that says what the actor did with an issue or merge request. */
export async function addSystemNote(
  tx: Tx & OperationContext,
  type: 'issue' | 'merge_request',
  { id, projectId }: Pick<Noted, 'id' | 'projectId'>,
  body: string,
): Promise<void> {
  await insertNote(tx, {
    ...noteableColumns({ type, id, projectId, sha: undefined }),
    discussionId: newDiscussionId(tx.core),
    kind: 'individual',
    body,
    authorId: tx.actor?.id,
    updatedById: undefined,
    isSystem: true,
    isInternal: false,
    position: undefined,
    resolvedById: undefined,
    resolvedAtMs: undefined,
    createdAtMs: tx.nowMs,
    updatedAtMs: tx.nowMs,
  })
}

const without = (names: readonly string[], others: readonly string[]) => names.filter((name) => !others.includes(name))

/** Returns `added ~bug and removed ~"help wanted" labels`. */
function labelsSentence(added: readonly string[], removed: readonly string[]): string | undefined {
  const parts = [partOf('added', added), partOf('removed', removed)].filter((part) => part !== undefined)
  if (parts.length === 0) return undefined
  return `${parts.join(' and ')} ${added.length + removed.length === 1 ? 'label' : 'labels'}`
}

const partOf = (verb: string, names: readonly string[]): string | undefined =>
  names.length === 0 ? undefined : `${verb} ${names.map(labelReference).join(' ')}`

const labelReference = (name: string): string => (/^[\w-]+$/.test(name) ? `~${name}` : `~"${name}"`)
