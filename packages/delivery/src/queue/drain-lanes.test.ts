import { Gate } from '@penstock/testkit'
import { expect, test } from 'vitest'
import type { Outcome } from '../sending/outcome.ts'
import {
  accepted,
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

test('tries a backlog one delivery at a time if the receiver is down when the process starts', async () => {
  await enqueue('a', ...Array.from({ length: 200 }, (_, index) => String(index)))
  const { sent, stop } = startDrain({
    send: all(busy),
    batchSize: 64,
    retry: { baseMs: 1e6, capMs: 1e6, giveUpAfterMs: 1e9 },
  })
  await until(async () => clock.wakeTimesMs.includes(10_000))
  await stop()
  expect(sent).toEqual([['a0'], ['a1'], ['a2']])
})

test('a hanging lane does not block others, and gets no more than its share', async () => {
  await enqueue('a', '0', '1', '2', '3', '4', '5', '6')
  const hanging = new Gate()
  const { drain, sent, stop } = startDrain({
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

test('leaves lanes that it does not serve to other processes', async () => {
  await enqueue('a', '1')
  await enqueue('b', '1')
  await enqueue('c', '1')
  const { sent, stop } = startDrain({ send: all(accepted), serves: (lane) => lane !== 'b' })
  await untilCounts({ open: 1, dead: 0 })
  await stop()
  expect(sent).toEqual([['a1'], ['c1']])
  const other = startDrain({ send: all(accepted), serves: (lane) => lane === 'b' })
  await untilCounts({ open: 0, dead: 0 })
  await other.stop()
  expect(other.sent).toEqual([['b1']])
})

test('several hanging lanes leave room for others', async () => {
  for (const lane of ['a', 'b', 'c']) await enqueue(lane, '1', '2', '3', '4')
  await enqueue('z', '1', '2', '3', '4')
  const hanging = new Gate()
  const { stop } = startDrain({
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

test('a local failure does not pause the lane', async () => {
  await enqueue('a', '1')
  const { drain, sent, stop } = startDrain({
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

test('busy lanes do not starve later ones', async () => {
  for (const lane of ['a', 'b', 'z']) await enqueue(lane, '1', '2', '3', '4')
  const { sent, stop } = startDrain({ send: all(accepted), batchSize: 1, concurrency: 1, laneConcurrency: 1 })
  await untilCounts({ open: 0, dead: 0 })
  await stop()
  expect(sent.flat()).toEqual(['a1', 'b1', 'z1', 'a2', 'b2', 'z2', 'a3', 'b3', 'z3', 'a4', 'b4', 'z4'])
})

test.each([
  { name: 'busy', outcome: busy, dead: 0 },
  { name: 'refuses the credential', outcome: unauthorized, dead: 3 },
])(
  'tries one delivery at a time with pauses after three failures of a receiver that $name',
  async ({ outcome, dead }) => {
    await enqueue('a', '1', '2', '3', '4', '5')
    let answer: Outcome = outcome
    const { sent, stop } = startDrain({
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
  },
)

test('lets other work run while it looks through thousands of lanes', async () => {
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
  const { stop } = startDrain({
    send: all(accepted),
    queue: {
      ...realQueue(),
      listOpenLanes: (page) => {
        looks += 1
        setImmediate(() => {
          turns += looks === 1 ? 0 : 1
        })
        return queue.listOpenLanes(page)
      },
    },
  })
  await clock.untilSleeping()
  expect(looks).toBeGreaterThan(7)
  expect(turns).toBeGreaterThan(5)
  await stop()
})

test('tries one delivery at a time until the receiver has accepted one; unsent ones do not count', async () => {
  await enqueue('a', '1', '2', '3', '4', '5')
  const { sent, stop } = startDrain({
    send: (batch, signal) => all(batch[0]!.key < 'a3' ? { ...malformed, isLocal: true } : accepted)(batch, signal),
  })
  await untilCounts({ open: 0, dead: 2 })
  await stop()
  expect(sent).toEqual([['a1'], ['a2'], ['a3'], ['a4', 'a5']])
})

test('lanes of slow receivers have half of the places together, and a quick batch ends that', async () => {
  const slow = ['a', 'b', 'c']
  for (const lane of slow) await enqueue(lane, '1')
  let gate: Gate | undefined
  const { drain, sent, stop } = startDrain({
    slowMs: 1_000,
    send: async (batch, signal) => {
      if (slow.includes(batch[0]!.lane)) {
        if (gate === undefined) await clock.advance(1_000)
        else await gate.opened
      }
      return all(accepted)(batch, signal)
    },
  })
  await untilCounts({ open: 0, dead: 0 })
  gate = new Gate()
  for (const lane of slow) await enqueue(lane, '2')
  drain.wake()
  await until(async () => sent.length === 5)
  await enqueue('z', '1')
  drain.wake()
  await until(async () => (await queue.list('delivered', { limit: 1 }))[0]?.key === 'z1')
  expect(sent.slice(3)).toEqual([['a2'], ['b2'], ['z1']])
  gate.open()
  await untilCounts({ open: 0, dead: 0 })
  gate = new Gate()
  for (const lane of slow) await enqueue(lane, '3')
  drain.wake()
  await until(async () => sent.length === 10)
  gate.open()
  await stop()
})
