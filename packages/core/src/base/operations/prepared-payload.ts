import type { Project } from '../model/project.ts'
import type { Core, EventListener } from './context.ts'
import type { DomainEvent, PreparedPayloads } from './event.ts'

/** The length above which a payload is prepared before the transaction. */
const LARGE_CHARACTERS = 64 * 1024

export const isLargePayload = (payload: string): boolean => payload.length > LARGE_CHARACTERS

/** Returns what the listeners of an event prepare from its payload. */
export async function preparePayload(
  core: Core,
  type: DomainEvent['type'],
  project: Project,
  payload: string,
): Promise<PreparedPayloads> {
  const prepared = new Map<EventListener, unknown>()
  for (const listener of core.listeners ?? []) {
    if (!listener.types.has(type) || listener.prepare === undefined) continue
    prepared.set(listener, await listener.prepare(core, project, payload))
  }
  return prepared
}
