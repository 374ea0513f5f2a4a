import type { Core, OperationContext, Tx } from './context.ts'
import { type DomainEvent, insertEvents } from './event.ts'
import { noRequest } from './request-facts.ts'

/** Returns the context of a change that the service makes itself, not for a caller. */
export const serviceContext = (core: Core): OperationContext => ({ core, actor: undefined, request: noRequest })

/**
 * Runs `work` in one transaction, with the time at which it began. Its events are stored, and their listeners called, in the
 * same transaction.
 */
export async function inTransaction<Context extends OperationContext, Result>(
  context: Context,
  work: (tx: Context & Tx) => Promise<Result>,
): Promise<Result> {
  const { core, actor } = context
  const afterwards = new Set<(core: Core) => Promise<void>>()
  const result = await core.db.write((db) => {
    // The clock is read inside the transaction, so that later transactions have later times.
    const nowMs = core.clock.nowMs()
    const tx: Context & Tx = {
      ...context,
      db,
      nowMs,
      recordEvent: (event) => insertAndPublish(tx, [{ actorId: actor?.id, ...event }]),
      recordEvents: (events) =>
        insertAndPublish(
          tx,
          events.map((event) => ({ actorId: actor?.id, ...event })),
        ),
      afterCommit: (each) => void afterwards.add(each),
    }
    return work(tx)
  })
  // The sweep repeats work that fails here, and logs it if it fails again.
  await Promise.allSettled([...afterwards].map((each) => each(core)))
  return result
}

async function insertAndPublish(tx: OperationContext & Tx, events: readonly DomainEvent[]): Promise<void> {
  await insertEvents(tx, events)
  for (const listener of tx.core.listeners ?? []) {
    const own = events.filter(({ type }) => listener.types.has(type))
    if (own.length > 1 && listener.onEvents !== undefined) await listener.onEvents(tx, own)
    else for (const event of own) await listener.onEvent(tx, event)
  }
}
