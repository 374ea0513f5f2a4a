import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Db, migrate, openSqlite, QueueFullError } from '@penstock/db'
import { Gate, ManualClock } from '@penstock/testkit'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type DeliveryTables, deliveryMigrations } from './deliveries.ts'
import { Drain, type DrainOptions, type Send } from './drain.ts'
import type { Outcome } from './outcome.ts'
import { type ClaimedDelivery, DeliveryQueue } from './queue.ts'

const accepted: Outcome = { kind: 'delivered', rejectedItems: 0, message: '' }
const busy: Outcome = { kind: 'retry', retryAfterMs: 0, reason: 'HTTP 503' }
const unauthorized: Outcome = { kind: 'dead', reason: 'HTTP 401', authentication: true }
const malformed: Outcome = { kind: 'dead', reason: 'HTTP 400', authentication: false }

let home: string
let db: Db<DeliveryTables>
let queue: DeliveryQueue
let clock: ManualClock

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

const enqueue = (lane: string, ...names: string[]) =>
  db.write((tx) =>
    queue.enqueue(
      tx,
      names.map((name) => ({ key: `${lane}${name}`, lane, subject: name })),
      clock.nowMs(),
    ),
  )
const realQueue = (): DrainOptions['queue'] => ({
  lanes: (page) => queue.lanes(page),
  suspectLanes: (nowMs) => queue.suspectLanes(nowMs),
  claim: (...claim) => queue.claim(...claim),
  settle: (...settled) => queue.settle(...settled),
})
const all =
  (outcome: Outcome): Send =>
  async (batch) =>
    batch.map(() => ({ outcome, progress: '' }))

/** Runs until there is nothing to be done without time passing: then it sleeps. */
function drainOf(options: Partial<DrainOptions> & Pick<DrainOptions, 'send'>) {
  const sent: string[][] = []
  const troubles: unknown[] = []
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
    onTrouble: (error) => troubles.push(error),
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
  return { drain, sent, troubles, stop, stopper }
}

test('delivers what is there, one first and then by batches, and what comes later when it is woken', async () => {
  await enqueue('a', '1', '2', '3')
  const { drain, sent, stop } = drainOf({ send: all(accepted) })
  await untilCounts({ open: 0, dead: 0 })
  expect(sent).toEqual([['a1'], ['a2', 'a3']])
  await enqueue('a', '4', '5')
  drain.wake()
  await untilCounts({ open: 0, dead: 0 })
  await stop()
  expect(sent).toEqual([['a1'], ['a2', 'a3'], ['a4', 'a5']])
})

test('a backlog whose receiver is down when the process begins is tried by single ones, not by batches', async () => {
  await enqueue('a', ...Array.from({ length: 200 }, (_, index) => String(index)))
  const { sent, stop } = drainOf({
    send: all(busy),
    batchSize: 64,
    retry: { baseMs: 1e6, capMs: 1e6, giveUpAfterMs: 1e9 },
  })
  await until(async () => clock.wakeTimesMs.includes(10_000))
  await stop()
  expect(sent).toEqual([['a0'], ['a1'], ['a2']])
})

test('a lane that hangs holds up no other, and gets no more than its share', async () => {
  await enqueue('a', '0', '1', '2', '3', '4', '5', '6')
  const hanging = new Gate()
  const { drain, sent, stop } = drainOf({
    send: async (batch, signal) => {
      if (batch[0]!.lane === 'a' && batch[0]!.key !== 'a0') await hanging.opened
      return all(accepted)(batch, signal)
    },
  })
  await until(async () => sent.length === 3)
  await enqueue('b', '1')
  drain.wake()
  await until(async () => (await queue.find(8))?.state === 'delivered')
  expect(sent).toEqual([['a0'], ['a1', 'a2'], ['a3', 'a4'], ['b1']])
  hanging.open()
  await untilCounts({ open: 0, dead: 0 })
  await stop()
})

test('lanes that are not served stay open, for whoever serves them', async () => {
  await enqueue('a', '1')
  await enqueue('b', '1')
  await enqueue('c', '1')
  const { sent, stop } = drainOf({ send: all(accepted), serves: (lane) => lane !== 'b' })
  await untilCounts({ open: 1, dead: 0 })
  await stop()
  expect(sent).toEqual([['a1'], ['c1']])
  const other = drainOf({ send: all(accepted), serves: (lane) => lane === 'b' })
  await untilCounts({ open: 0, dead: 0 })
  await other.stop()
  expect(other.sent).toEqual([['b1']])
})

test('several lanes that hang leave a place for the others', async () => {
  for (const lane of ['a', 'b', 'c']) await enqueue(lane, '1', '2', '3', '4')
  await enqueue('z', '1', '2', '3', '4')
  const hanging = new Gate()
  const { stop } = drainOf({
    batchSize: 1,
    concurrency: 8,
    laneConcurrency: 4,
    send: async (batch, signal) => {
      if (batch[0]!.lane !== 'z') await hanging.opened
      return all(accepted)(batch, signal)
    },
  })
  await until(async () => (await queue.list('delivered', { limit: 10 })).length === 4)
  hanging.open()
  await untilCounts({ open: 0, dead: 0 })
  await stop()
})

test('what goes wrong here is not held against the receiver: others of the lane are sent meanwhile', async () => {
  await enqueue('a', '1')
  const { drain, sent, stop } = drainOf({
    retry: { baseMs: 2, capMs: 2, giveUpAfterMs: 1e9 },
    circuit: { failuresToOpen: 1, baseMs: 1e6, capMs: 1e6 },
    send: async (batch, signal) => {
      if (batch.some(({ key }) => key === 'a1')) throw new Error('a bug')
      return all(accepted)(batch, signal)
    },
  })
  await settledAttempts(1)
  await enqueue('a', '2')
  drain.wake()
  await until(async () => (await queue.find(2))?.state === 'delivered')
  await stop()
  expect(sent).toEqual([['a1'], ['a2']])
})

test('busy lanes in front starve none behind', async () => {
  for (const lane of ['a', 'b', 'z']) await enqueue(lane, '1', '2', '3', '4')
  const { sent, stop } = drainOf({ send: all(accepted), batchSize: 1, concurrency: 1, laneConcurrency: 1 })
  await untilCounts({ open: 0, dead: 0 })
  await stop()
  expect(sent.flat()).toEqual(['a1', 'b1', 'z1', 'a2', 'b2', 'z2', 'a3', 'b3', 'z3', 'a4', 'b4', 'z4'])
})

test('what failed is sent again after its wait, and buried when its time is over', async () => {
  await enqueue('a', '1')
  const { sent, stop } = drainOf({
    send: all(busy),
    retry: { baseMs: 1_000, capMs: 1_000, giveUpAfterMs: 1_400 },
    circuit: { failuresToOpen: 99, baseMs: 0, capMs: 0 },
  })
  await settledAttempts(1)
  await clock.untilSleeping()
  await clock.advance(499)
  expect(sent).toHaveLength(1)
  await clock.advance(1)
  await settledAttempts(2)
  await clock.untilSleeping()
  await clock.advance(500)
  await untilCounts({ open: 0, dead: 1 })
  await stop()
  expect(await queue.find(1)).toMatchObject({ state: 'dead', reason: 'gave up after 3 attempts: HTTP 503' })
})

test.each([
  { name: 'busy', outcome: busy, dead: 0 },
  { name: 'refuses the credential', outcome: unauthorized, dead: 3 },
])('a receiver that $name: after three failures one is tried at a time, with pauses', async ({ outcome, dead }) => {
  await enqueue('a', '1', '2', '3', '4', '5')
  let answer: Outcome = outcome
  const { sent, stop } = drainOf({
    send: (batch, signal) => all(answer)(batch, signal),
    batchSize: 1,
    laneConcurrency: 1,
    retry: { baseMs: 1_000_000, capMs: 1_000_000, giveUpAfterMs: 10_000_000 },
  })
  await until(async () => sent.length === 3 && clock.wakeTimesMs.includes(10_000))
  expect(await queue.counts()).toEqual({ open: 5 - dead, dead })
  answer = accepted
  await clock.advance(10_000)
  await until(async () => sent.length === 5)
  await stop()
  expect(sent.flat()).toEqual(['a1', 'a2', 'a3', 'a4', 'a5'])
})

test('what the receiver finds malformed is buried by itself: the others of its lane go on', async () => {
  await enqueue('a', '1', '2', '3', '4', '5')
  const { stop } = drainOf({
    batchSize: 1,
    send: async (batch, signal) => all(batch[0]!.key === 'a5' ? accepted : malformed)(batch, signal),
  })
  await untilCounts({ open: 0, dead: 4 })
  await stop()
  expect(await queue.find(5)).toMatchObject({ state: 'delivered' })
})

test('a batch whose parts fare differently; what was achieved is given back', async () => {
  await enqueue('a', '1', '2')
  const seen: ClaimedDelivery[] = []
  const { stop } = drainOf({
    send: async (batch) => {
      seen.push(...batch)
      return batch.map(({ key, progress }) => ({
        outcome: key === 'a1' || progress !== '' ? accepted : busy,
        progress: 'half',
      }))
    },
  })
  await settledAttempts(1)
  await until(async () => clock.wakeTimesMs.length > 0)
  await clock.advance(1_000)
  await untilCounts({ open: 0, dead: 0 })
  await stop()
  expect(seen.map(({ key, attemptsMade, progress }) => [key, attemptsMade, progress])).toEqual([
    ['a1', 0, ''],
    ['a2', 0, ''],
    ['a2', 1, 'half'],
  ])
})

test('told to stop: what is under way is settled, what was not sent is given back uncounted, nothing new begins', async () => {
  await enqueue('a', '0', '1', '2', '3')
  const sending = new Gate()
  const { sent, stopper, stop } = drainOf({
    laneConcurrency: 1,
    send: async (batch, signal) => {
      if (batch[0]!.key === 'a0') return all(accepted)(batch, signal)
      sending.open()
      await new Promise((resolve) => stopper.signal.addEventListener('abort', resolve))
      return [{ outcome: accepted, progress: '' }, ...batch.slice(1).map(() => undefined)]
    },
  })
  await sending.opened
  await stop()
  expect(sent).toEqual([['a0'], ['a1', 'a2']])
  expect([await queue.find(2), await queue.find(3)]).toMatchObject([
    { state: 'delivered' },
    { state: 'open', attemptsMade: 0 },
  ])
  expect(await queue.claim('a', { claim: 'next', limit: 9, leaseMs: 1 }, 0)).toHaveLength(2)
})

test('what ends every process that sends it is soon sent alone, and buried when its time is over; its neighbours arrive', async () => {
  await enqueue('a', '1', '2', '3')
  const sent: string[][][] = []
  for (let processes = 0; processes < 6; processes += 1) {
    const ended = new Gate()
    // Settles nothing: what it had stays claimed until the lease is over.
    const end = () => {
      ended.open()
      return new Promise<never>(() => {})
    }
    const process = drainOf({
      concurrency: 1,
      retry: { baseMs: 1_000, capMs: 30_000, giveUpAfterMs: 450_000 },
      send: async (batch, signal) => (batch.some(({ key }) => key === 'a1') ? end() : all(accepted)(batch, signal)),
    })
    await Promise.race([ended.opened, untilCounts({ open: 0, dead: 1 })])
    process.stopper.abort()
    sent.push(process.sent)
    clock.advance(100_000)
  }
  expect(sent).toEqual([[['a1']], [['a2'], ['a1', 'a3']], [['a1']], [['a1']], [['a1']], [['a3']]])
  expect((await queue.list('dead', { limit: 9 })).map(({ key, reason }) => [key, reason])).toEqual([
    ['a1', 'gave up after 6 attempts: each time the process that was sending it ended'],
  ])
})

test('a bug of the sender is told, and what it may have sent is tried again', async () => {
  await enqueue('a', '1')
  const bug = new Error('bug')
  let calls = 0
  const { troubles, stop } = drainOf({
    send: async (batch, signal) => {
      calls += 1
      if (calls === 1) throw bug
      return all(accepted)(batch, signal)
    },
  })
  await settledAttempts(1)
  await until(async () => clock.wakeTimesMs.length > 0)
  await clock.advance(1_000)
  await untilCounts({ open: 0, dead: 0 })
  await stop()
  expect(troubles).toEqual([bug])
})

test('a database that is not to be had is asked again at the next poll', async () => {
  await enqueue('a', '1')
  let isDown = true
  const { troubles, stop } = drainOf({
    send: all(accepted),
    queue: {
      ...realQueue(),
      lanes: (page) => (isDown ? Promise.reject(new Error('down')) : queue.lanes(page)),
    },
  })
  await clock.untilSleeping()
  isDown = false
  await clock.advance(600_000)
  await untilCounts({ open: 0, dead: 0 })
  await stop()
  expect(troubles).toEqual([new Error('down')])
})

test('an answer that cannot be settled at once is kept, and the delivery not sent again', async () => {
  await enqueue('a', '1')
  let failures = 2
  const settled: boolean[] = []
  const { sent, troubles, stop } = drainOf({
    send: all(accepted),
    pollMs: 1_000,
    onSettled: (each) => settled.push(...each.map(({ isLost }) => isLost)),
    queue: {
      ...realQueue(),
      settle: (...each) => (failures-- > 0 ? Promise.reject(new QueueFullError()) : queue.settle(...each)),
    },
  })
  await until(async () => {
    await clock.advance(1_000)
    return (await queue.find(1))?.state === 'delivered'
  })
  await clock.advance(100_000)
  await stop()
  expect(sent).toEqual([['a1']])
  expect(settled).toEqual([false])
  expect(troubles).toHaveLength(2)
})

test('a database that stays away is left alone at the end of the lease, and soon after being told to stop', async () => {
  await enqueue('a', '1', '2')
  let tries = 0
  const { sent, stop } = drainOf({
    send: all(accepted),
    leaseMs: 3_000,
    pollMs: 1_000,
    queue: {
      ...realQueue(),
      settle: async () => {
        tries += 1
        throw new QueueFullError()
      },
    },
  })
  await until(async () => {
    await clock.advance(1_000)
    return sent.length === 2
  })
  expect(tries).toBeGreaterThan(1)
  expect(tries).toBeLessThanOrEqual(5)
  const ended = stop()
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  await until(async () => {
    await clock.advance(1_000)
    return isOver
  })
})

test('thousands of lanes are looked through with turns for others in between', async () => {
  await db.write((tx) =>
    queue.enqueue(
      tx,
      Array.from({ length: 2_000 }, (_, index) => ({ key: `${index}`, lane: `lane ${index}`, subject: '' })),
      // Not due.
      1_000,
    ),
  )
  let looks = 0
  let turns = 0
  const { stop } = drainOf({
    send: all(accepted),
    queue: {
      ...realQueue(),
      lanes: (page) => {
        looks += 1
        setImmediate(() => {
          turns += looks === 1 ? 0 : 1
        })
        return queue.lanes(page)
      },
    },
  })
  await clock.untilSleeping()
  expect(looks).toBeGreaterThan(7)
  expect(turns).toBeGreaterThan(5)
  await stop()
})

test('who has lost the lease is told so', async () => {
  await enqueue('a', '1')
  const lost: boolean[] = []
  const { stop } = drainOf({
    leaseMs: 10,
    send: async (batch, signal) => {
      await queue.claim('a', { claim: 'another', limit: 1, leaseMs: 50 }, 10)
      return all(accepted)(batch, signal)
    },
    onSettled: (settled) => lost.push(...settled.map(({ isLost }) => isLost)),
  })
  await until(async () => lost.length > 0)
  await stop()
  expect(lost).toEqual([true])
})

test('whatever the receiver answers, each is accepted once or buried, and none is forgotten', async () => {
  const script = fc.array(fc.constantFrom<Outcome>(accepted, busy, malformed, unauthorized), { maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(script, fc.integer({ min: 1, max: 12 }), async (answers, count) => {
      await db.write((tx) => tx.deleteFrom('deliveries').execute())
      await enqueue('a', ...Array.from({ length: count }, (_, index) => String(index)))
      const acceptedKeys: string[] = []
      const { stop } = drainOf({
        retry: { baseMs: 1_000, capMs: 1_000, giveUpAfterMs: 1e9 },
        // The clock runs on while the database takes its turns of the event loop.
        leaseMs: 1e9,
        send: async (batch) =>
          batch.map(({ key }) => {
            const outcome = answers.shift() ?? accepted
            if (outcome.kind === 'delivered') acceptedKeys.push(key)
            return { outcome, progress: '' }
          }),
      })
      await until(async () => {
        await clock.advance(20_000)
        return (await queue.counts()).open === 0
      })
      await stop()
      const { dead } = await queue.counts()
      expect(new Set(acceptedKeys).size).toBe(acceptedKeys.length)
      expect(acceptedKeys.length + dead).toBe(count)
    }),
    { numRuns: 30 },
  )
})

const untilCounts = (counts: { open: number; dead: number }) =>
  until(async () => {
    const now = await queue.counts()
    return now.open === counts.open && now.dead === counts.dead
  })

/** That many attempts of some delivery are over, and it waits for the next one. */
const settledAttempts = (attempts: number) =>
  until(async () =>
    (await queue.list('open', { limit: 10 })).some(
      ({ attemptsMade, reason }) => attemptsMade === attempts && reason !== '',
    ),
  )

/** Looks after every turn of the event loop; the runner's own limit ends it. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve))
}
