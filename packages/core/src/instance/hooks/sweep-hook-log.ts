import type { Core } from '../../base/operations/context.ts'
import { deleteCallsOfHook, deleteOldHookCalls, idsOfRemovedHooks, listCalledHookIds } from './hook-log-store.ts'

/** The limit of one transaction, because other writers wait until it ends: the data of one call may have a megabyte. */
const CALLS_PER_TRANSACTION = 200
const HOOKS_PER_QUERY = 500

/** Deletes the calls that are older than the log, and those of hooks that have been removed, also with their project. */
export async function sweepHookLog(core: Core): Promise<void> {
  const deleteOld = () =>
    core.db.write((db) => deleteOldHookCalls({ db, nowMs: core.clock.nowMs() }, CALLS_PER_TRANSACTION))
  while ((await deleteOld()) === CALLS_PER_TRANSACTION);
  for (let after = 0; ; ) {
    const ids = await listCalledHookIds({ db: core.db.read }, { after, limit: HOOKS_PER_QUERY })
    for (const id of await idsOfRemovedHooks({ db: core.db.read }, ids)) {
      while (
        (await core.db.write((db) => deleteCallsOfHook({ db }, id, CALLS_PER_TRANSACTION))) === CALLS_PER_TRANSACTION
      );
    }
    if (ids.length < HOOKS_PER_QUERY) return
    after = ids.at(-1)!
  }
}
