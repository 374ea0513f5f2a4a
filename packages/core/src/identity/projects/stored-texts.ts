import type { EventListener } from '../../base/operations/context.ts'
import type { Changes, DomainEvent } from '../../base/operations/event.ts'
import { findProjectStorage, storageFull, totalBytes } from './storage-store.ts'

const nouns = ['label', 'milestone', 'note', 'release', 'issue', 'merge_request']
/** The size that the triggers count for a row without its text. */
const ROW_BYTES = 256
const types: DomainEvent['type'][] = nouns.flatMap((noun) => [`${noun}.created` as const, `${noun}.updated` as const])
/** The names of the long texts in the changes of these things. */
const textNames = ['description', 'body']

/**
 * Refuses a change that makes the stored texts of a project longer than its storage allows. Triggers have counted the texts by
 * then.
 */
export const storedTextLimit: EventListener = {
  types: new Set(types),
  async onEvent({ db, core }, { type, projectId, changes = {} }) {
    const { projectStorageBytes } = core.settings
    if (projectId === undefined || projectStorageBytes === 0) return
    const neededBytes = (type.endsWith('.created') ? ROW_BYTES : 0) + addedBytes(changes)
    if (neededBytes <= 0) return
    const bytes = totalBytes(await findProjectStorage({ db }, projectId))
    if (bytes > projectStorageBytes) throw storageFull(core, bytes - neededBytes, neededBytes)
  },
}

/** Returns by how many bytes a change made the texts longer. */
function addedBytes(changes: Changes): number {
  const lengths = textNames.map((name) => {
    const { previous, current } = changes[name] ?? {}
    return textBytes(current) - textBytes(previous)
  })
  return lengths.reduce((sum, length) => sum + length, 0)
}

const textBytes = (value: unknown): number => (typeof value === 'string' ? Buffer.byteLength(value) : 0)
