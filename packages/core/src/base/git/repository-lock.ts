import { DomainError } from '../kit/domain-error.ts'
import { FifoLock } from './fifo-lock.ts'
import { hasEnded, thisProcess } from './process-identity.ts'
import type { RepositoryContext } from './repository-context.ts'
import {
  findLockHolder,
  type LockHolder,
  leaseLeftMs,
  releaseLock,
  renewLock,
  tryTakeLock,
} from './repository-lock-store.ts'

/** The limit of callers in one process that wait for one repository; further ones are rejected. */
const MAX_WAITING = 200
export const MAX_WAIT_MS = 30_000
const POLL_MS = 20
const RENEWAL_MS = 3_000
/** A holder on another machine or in another container is treated as ended if it has not renewed the lock for this long. */
export const LEASE_MS = 15_000

/** Locks of the process by repository: callers queue in order, and only the first one polls the database. */
const localLocks = new WeakMap<RepositoryContext['db'], Map<string, FifoLock>>()

/** A lock while `work` runs. */
interface HeldLock {
  /** Set when a transaction of `work` has released the lock with its last change, which saves a transaction. */
  isReleased: boolean
}

/**
 * Runs `work` exclusively for this repository, among all processes that share the database.
 *
 * A process takes a lock over if it was not renewed for `LEASE_MS`: by the clock of the database, or on SQLite if the process
 * has seen the row unchanged for that time. The former holder may continue later, so `work` writes only through a directory
 * named by the token.
 *
 * @throws DomainError `conflict` if the lock is not acquired within `waitMs`
 * @see docs/contributing/decisions/0011-locks-of-repositories.md
 */
export async function withRepositoryLock<Result>(
  context: RepositoryContext,
  name: string,
  work: (token: string, lock: HeldLock) => Promise<Result>,
  { waitMs = MAX_WAIT_MS } = {},
): Promise<Result> {
  const deadlineNs = context.clock.nowNs() + BigInt(waitMs) * 1_000_000n
  const leftMs = () => Number((deadlineNs - context.clock.nowNs()) / 1_000_000n)
  const locks = localLocks.get(context.db) ?? new Map<string, FifoLock>()
  localLocks.set(context.db, locks)
  const lock = locks.get(name) ?? new FifoLock(context.clock, MAX_WAITING)
  locks.set(name, lock)
  if (!(await lock.acquire(leftMs()))) throw new DomainError({ code: 'conflict' })
  try {
    const token = await takeLock(context, name, leftMs)
    const ended = new AbortController()
    const renewing = renewUntil(context, token, ended.signal)
    const held: HeldLock = { isReleased: false }
    try {
      return await work(token, held)
    } finally {
      ended.abort()
      await renewing
      if (!held.isReleased) await context.db.write((tx) => releaseLock(tx, token))
    }
  } finally {
    lock.release()
    if (lock.isFree) locks.delete(name)
  }
}

async function takeLock(context: RepositoryContext, name: string, leftMs: () => number): Promise<string> {
  const { clock, randomBytes } = context
  const mine = { token: Buffer.from(randomBytes(16)).toString('hex'), owner: thisProcess }
  let seen: { holder: LockHolder; endsAtNs: bigint } | undefined
  while (true) {
    const holder = await findLockHolder(context, name)
    if (seen?.holder.token !== holder?.token || seen?.holder.renewals !== holder?.renewals)
      seen = holder && { holder, endsAtNs: clock.nowNs() + toNs(await leaseLeftMs(context, holder, LEASE_MS)) }
    const isFree = seen === undefined || hasEnded(seen.holder.owner) || clock.nowNs() >= seen.endsAtNs
    if (isFree && (await tryTakeLock(context, name, mine, holder))) return mine.token
    if (leftMs() <= 0) throw new DomainError({ code: 'conflict' })
    await clock.sleep(POLL_MS)
  }
}

const toNs = (ms: number): bigint => BigInt(Math.ceil(ms)) * 1_000_000n

async function renewUntil(context: RepositoryContext, token: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await context.clock.sleep(RENEWAL_MS, signal).catch(() => {})
    // A failed renewal is retried at the next interval. If all fail, another process takes the lock.
    if (!signal.aborted) await renewLock(context, token).catch(() => {})
  }
}
