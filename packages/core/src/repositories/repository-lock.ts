import type { Core } from '../kit/context.ts'
import { DomainError } from '../kit/domain-error.ts'
import { hasEnded, thisProcess } from './process-identity.ts'
import { findHolding, type Holding, releaseLock, renewLock, tryTakeLock } from './repository-lock-store.ts'
import { WaitingLine } from './waiting-line.ts'

/** Those that wait in one process for one repository; the next one is told to come later. */
const MAX_WAITING = 200
export const MAX_WAIT_MS = 30_000
const POLL_MS = 20
export const RENEWAL_MS = 3_000
/** Without a sign of life for so long, a holder of another machine or container counts as ended. */
export const LEASE_MS = 15_000

/** Per core, by repository: in one process they queue in order and ask the database one at a time. */
const lines = new WeakMap<Core['db'], Map<string, WaitingLine>>()

/**
 * Runs `work` as the only one with this repository, among all processes that share the database.
 *
 * Time is each process's own: a lock is taken over from one whose row has not changed for `LEASE_MS` while we looked. Such a
 * one may wake up again, so that `work` does everything by way of a directory that carries the token.
 *
 * @throws DomainError `conflict` when the turn does not come within `waitMs`
 * @see docs/decisions/0011-locks-of-repositories.md
 */
export async function withRepositoryLock<Result>(
  core: Core,
  name: string,
  work: (token: string) => Promise<Result>,
  { waitMs = MAX_WAIT_MS } = {},
): Promise<Result> {
  const deadlineNs = core.clock.nowNs() + BigInt(waitMs) * 1_000_000n
  const leftMs = () => Number((deadlineNs - core.clock.nowNs()) / 1_000_000n)
  const ofCore = lines.get(core.db) ?? new Map<string, WaitingLine>()
  lines.set(core.db, ofCore)
  const line = ofCore.get(name) ?? new WaitingLine(core.clock, MAX_WAITING)
  ofCore.set(name, line)
  if (!(await line.enter(leftMs()))) throw new DomainError({ code: 'conflict' })
  try {
    const token = await takeLock(core, name, leftMs)
    const ended = new AbortController()
    const renewing = renewUntil(core, token, ended.signal)
    try {
      return await work(token)
    } finally {
      ended.abort()
      await renewing
      await releaseLock(core, token)
    }
  } finally {
    line.leave()
    if (line.isEmpty) ofCore.delete(name)
  }
}

async function takeLock(core: Core, name: string, leftMs: () => number): Promise<string> {
  const { clock, randomBytes } = core
  const mine = { token: Buffer.from(randomBytes(16)).toString('hex'), owner: thisProcess }
  let seen: { holding: Holding; sinceNs: bigint } | undefined
  while (true) {
    const holding = await findHolding(core, name)
    if (seen?.holding.token !== holding?.token || seen?.holding.renewals !== holding?.renewals)
      seen = holding && { holding, sinceNs: clock.nowNs() }
    const isFree = seen === undefined || hasEnded(seen.holding.owner) || isSilent(seen.sinceNs, clock.nowNs())
    if (isFree && (await tryTakeLock(core, name, mine, holding))) return mine.token
    if (leftMs() <= 0) throw new DomainError({ code: 'conflict' })
    await clock.sleep(POLL_MS)
  }
}

const isSilent = (sinceNs: bigint, nowNs: bigint): boolean => nowNs - sinceNs >= BigInt(LEASE_MS) * 1_000_000n

async function renewUntil(core: Core, token: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await core.clock.sleep(RENEWAL_MS, signal).catch(() => {})
    // One that fails is followed by others; when none succeeds, somebody else takes the lock.
    if (!signal.aborted) await renewLock(core, token).catch(() => {})
  }
}
