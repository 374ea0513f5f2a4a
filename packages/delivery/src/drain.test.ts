import { QueueFullError } from '@penstock/db'
import { Gate } from '@penstock/testkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  accepted,
  all,
  busy,
  clock,
  db,
  drainOf,
  enqueue,
  malformed,
  queue,
  realQueue,
  settledAttempts,
  unauthorized,
  until,
  untilCounts,
} from './draining.case.ts'
import type { Outcome } from './outcome.ts'
import type { ClaimedDelivery } from './queue.ts'

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
    ['a1', 'gave up after 6 attempts: the process ended during each attempt'],
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
      listOpenLanes: (page) => (isDown ? Promise.reject(new Error('down')) : queue.listOpenLanes(page)),
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
