import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Db, migrate, openSqlite } from '@penstock/db'
import { ManualClock } from '@penstock/testkit'
import { afterEach, beforeEach } from 'vitest'
import type { Outcome } from '../sending/outcome.ts'
import { type DeliveryTables, deliveryMigrations } from './deliveries.ts'
import { Drain, type DrainOptions, type Send } from './drain.ts'
import { DeliveryQueue } from './queue.ts'

/** Outcomes for the tests. Each test has a drain on a new queue. */
export const accepted: Outcome = { kind: 'delivered', rejectedItems: 0, message: '' }
export const busy: Outcome = { kind: 'retry', retryAfterMs: 0, reason: 'HTTP 503' }
export const unauthorized: Outcome = { kind: 'dead', reason: 'HTTP 401', authentication: true }
export const malformed: Outcome = { kind: 'dead', reason: 'HTTP 400', authentication: false }

let home: string
export let db: Db<DeliveryTables>
export let queue: DeliveryQueue
export let clock: ManualClock

/** Gives each test of the calling file a new queue. Files share this module, so each must call it. */
export function newQueueForEachTest(): void {
  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'penstock-drain-'))
    db = openSqlite<DeliveryTables>(join(home, 'queue.db'))
    await migrate(db, deliveryMigrations)
    queue = new DeliveryQueue(db, 'export')
    clock = new ManualClock()
  })
  afterEach(async () => {
    await db.close()
    rmSync(home, { recursive: true })
  })
}

export const enqueue = (lane: string, ...names: string[]) =>
  db.write((tx) =>
    queue.enqueue(
      tx,
      names.map((name) => ({ key: `${lane}${name}`, lane, subject: name })),
      clock.nowMs(),
    ),
  )
export const realQueue = (): DrainOptions['queue'] => ({
  listOpenLanes: (page) => queue.listOpenLanes(page),
  listPoisonLanes: (nowMs) => queue.listPoisonLanes(nowMs),
  claim: (...claim) => queue.claim(...claim),
  settle: (...settled) => queue.settle(...settled),
})
export const all =
  (outcome: Outcome): Send =>
  async (batch) =>
    batch.map(() => ({ outcome, progress: '' }))

/** Starts a drain that runs until it has to wait for the clock. */
export function startDrain(options: Partial<DrainOptions> & Pick<DrainOptions, 'send'>) {
  const sent: string[][] = []
  const errors: unknown[] = []
  const { send, ...others } = options
  let claims = 0
  const drain = new Drain({
    queue,
    clock,
    random: () => 0.5,
    newClaim: () => `claim ${claims++}`,
    retry: { baseMs: 1_000, capMs: 30_000, giveUpAfterMs: 60_000 },
    circuit: { failuresToOpen: 3, baseMs: 10_000, capMs: 60_000 },
    leaseMs: 100_000,
    batchSize: 2,
    concurrency: 4,
    laneConcurrency: 2,
    pollMs: 600_000,
    onError: (error) => errors.push(error),
    send: (batch, signal) => {
      sent.push(batch.map(({ key }) => key))
      return send(batch, signal)
    },
    ...others,
  })
  const stopper = new AbortController()
  const ended = drain.run(stopper.signal)
  const stop = () => {
    stopper.abort()
    return ended
  }
  return { drain, sent, errors, stop, stopper }
}

export const untilCounts = (counts: { open: number; dead: number }) =>
  until(async () => {
    const now = await queue.counts()
    return now.open === counts.open && now.dead === counts.dead
  })

/** Resolves when a delivery has had this many attempts and waits for the next one. */
export const settledAttempts = (attempts: number) =>
  until(async () =>
    (await queue.list('open', { limit: 10 })).some(
      ({ attemptsMade, reason }) => attemptsMade === attempts && reason !== '',
    ),
  )

/** Checks the condition after every turn of the event loop, until it holds or the test times out. */
export async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve))
}

/**
 * Moves the clock by seconds until the condition holds, but only when the drain waits for it: while the database works, time
 * stands still, or leases would end on a slow machine.
 */
export async function advanceUntil(holds: () => Promise<boolean>): Promise<void> {
  await until(async () => {
    if (clock.wakeTimesMs.length > 0) await clock.advance(1_000)
    return holds()
  })
}
