import type { Core } from '../kit/context.ts'
import { isAlive, type ProcessIdentity, thisProcess } from './process-identity.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    repository_locks: RepositoryLocksTable
  }
}

interface RepositoryLocksTable {
  /** `5`, `snippets/31` */
  repository: string
  /** Of this one holding. */
  token: string
  pid: number
  process_started: string
  taken_at_ms: number
}

/** Holdings of this process, so that one that could not be given back is known to have ended. */
const held = new Set<string>()

/**
 * Takes the lock, also from a process that has ended, and gives it back with `releaseLock`. `undefined`: another holds it.
 *
 * A row and not a file: two who find a lock file of a dead process cannot both remove and create it without one of them
 * removing the other's; a row changes hands in one statement that says whose it was.
 */
export async function tryTakeLock({ db, clock, randomBytes }: Core, repository: string): Promise<string | undefined> {
  const token = Buffer.from(randomBytes(16)).toString('hex')
  const mine = { token, pid: thisProcess.pid, process_started: thisProcess.started, taken_at_ms: clock.nowMs() }
  const former = await db.read
    .selectFrom('repository_locks')
    .selectAll()
    .where('repository', '=', repository)
    .executeTakeFirst()
  if (former !== undefined && isHeld(former.token, { pid: former.pid, started: former.process_started }))
    return undefined
  const taken = await db.write((tx) =>
    former === undefined
      ? tx
          .insertInto('repository_locks')
          .values({ repository, ...mine })
          .onConflict((conflict) => conflict.column('repository').doNothing())
          .returning('token')
          .executeTakeFirst()
      : tx
          .updateTable('repository_locks')
          .set(mine)
          .where('repository', '=', repository)
          .where('token', '=', former.token)
          .returning('token')
          .executeTakeFirst(),
  )
  if (taken === undefined) return undefined
  held.add(token)
  return token
}

export async function releaseLock({ db }: Core, token: string): Promise<void> {
  held.delete(token)
  await db.write((tx) => tx.deleteFrom('repository_locks').where('token', '=', token).execute())
}

function isHeld(token: string, owner: ProcessIdentity): boolean {
  const isOurs = owner.pid === thisProcess.pid && owner.started === thisProcess.started
  return isOurs ? held.has(token) : isAlive(owner)
}
