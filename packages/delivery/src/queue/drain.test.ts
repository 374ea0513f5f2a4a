import { QueueFullError } from '@penstock/db'
import { Gate } from '@penstock/testkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Outcome } from '../sending/outcome.ts'
import type { ClaimedDelivery } from './delivery.ts'
import {
  accepted,
  advanceUntil,
  all,
  busy,
  clock,
  db,
  enqueue,
  malformed,
  newQueueForEachTest,
  queue,
  realQueue,
  settledAttempts,
  startDrain,
  unauthorized,
  until,
  untilCounts,
} from './draining.harness.ts'

newQueueForEachTest()

test('delivers one delivery first, then batches, and later ones when it is woken', async () => {
  await enqueue('a', '1', '2', '3')
  const { drain, sent, stop } = startDrain({ send: all(accepted) })
  await untilCounts({ open: 0, dead: 0 })
  expect(sent).toEqual([['a1'], ['a2', 'a3']])
  await enqueue('a', '4', '5')
  drain.wake()
  await untilCounts({ open: 0, dead: 0 })
  await stop()
  expect(sent).toEqual([['a1'], ['a2', 'a3'], ['a4', 'a5']])
})

test('sends failed deliveries again after their wait, and gives up when their time is over', async () => {
  await enqueue('a', '1')
  const { sent, stop } = startDrain({
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

test('gives up a malformed delivery only; the others of its lane continue', async () => {
  await enqueue('a', '1', '2', '3', '4', '5')
  const { stop } = startDrain({
    batchSize: 1,
    send: async (batch, signal) => all(batch[0]!.key === 'a5' ? accepted : malformed)(batch, signal),
  })
  await untilCounts({ open: 0, dead: 4 })
  await stop()
  expect(await queue.find(5)).toMatchObject({ state: 'delivered' })
})

test('settles each delivery of a batch by its own result, and stores its progress', async () => {
  await enqueue('a', '1', '2')
  const seen: ClaimedDelivery[] = []
  const { stop } = startDrain({
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

test('on a stop, settles deliveries in progress, returns unsent ones without counting an attempt, and starts nothing', async () => {
  await enqueue('a', '0', '1', '2', '3')
  const sending = new Gate()
  const { sent, stopper, stop } = startDrain({
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

test('sends a delivery alone if it crashes every process, and gives up when its time is over; the others arrive', async () => {
  await enqueue('a', '1', '2', '3')
  const sent: string[][][] = []
  for (let processes = 0; processes < 6; processes += 1) {
    const ended = new Gate()
    // Never settles, so its deliveries stay claimed until the lease ends.
    const end = () => {
      ended.open()
      return new Promise<never>(() => {})
    }
    const process = startDrain({
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

test('reports an error of the sender, and retries the batch', async () => {
  await enqueue('a', '1')
  const bug = new Error('bug')
  let calls = 0
  const { errors, stop } = startDrain({
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
  expect(errors).toEqual([bug])
})

test('tries an unreachable database again at the next poll', async () => {
  await enqueue('a', '1')
  let isDown = true
  const { errors, stop } = startDrain({
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
  expect(errors).toEqual([new Error('down')])
})

test('keeps a result until it can be settled, and does not send the delivery again', async () => {
  await enqueue('a', '1')
  let failures = 2
  const settled: boolean[] = []
  const { sent, errors, stop } = startDrain({
    send: all(accepted),
    pollMs: 1_000,
    onSettled: (each) => settled.push(...each.map(({ isLost }) => isLost)),
    queue: {
      ...realQueue(),
      settle: (...each) => (failures-- > 0 ? Promise.reject(new QueueFullError()) : queue.settle(...each)),
    },
  })
  await advanceUntil(async () => (await queue.find(1))?.state === 'delivered')
  await clock.advance(100_000)
  await stop()
  expect(sent).toEqual([['a1']])
  expect(settled).toEqual([false])
  expect(errors).toHaveLength(2)
})

test('stops trying to settle at the end of the lease, and soon after a stop', async () => {
  await enqueue('a', '1', '2')
  let tries = 0
  const { sent, stop } = startDrain({
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
  await advanceUntil(async () => sent.length === 2)
  expect(tries).toBeGreaterThan(1)
  expect(tries).toBeLessThanOrEqual(5)
  const ended = stop()
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  await advanceUntil(async () => isOver)
})

test('reports a delivery with a lost lease', async () => {
  await enqueue('a', '1')
  const lost: boolean[] = []
  const { stop } = startDrain({
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

test('delivers each delivery once or gives it up, whatever the receiver answers', async () => {
  const script = fc.array(fc.constantFrom<Outcome>(accepted, busy, malformed, unauthorized), { maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(script, fc.integer({ min: 1, max: 12 }), async (answers, count) => {
      await db.write((tx) => tx.deleteFrom('deliveries').execute())
      await enqueue('a', ...Array.from({ length: count }, (_, index) => String(index)))
      const acceptedKeys: string[] = []
      const { stop } = startDrain({
        retry: { baseMs: 1_000, capMs: 1_000, giveUpAfterMs: 1e9 },
        // The clock advances while the database works.
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
