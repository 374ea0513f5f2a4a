import { type Db, migrate, openDatabase } from '@penstock/db'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type DeliveryTables, deliveryMigrations } from './deliveries.ts'
import type { NewDelivery } from './delivery.ts'
import { DeliveryQueue } from './queue.ts'

const LEASE_MS = 1_000

/**
 * Defines the tests that the queue must pass on every database. `newPlace` returns an empty database that can be opened
 * several times.
 */
export function describeQueue(
  name: string,
  newPlace: () => Promise<{ location: string; remove(): Promise<void> }>,
): void {
  describe(name, () => {
    let place: { location: string; remove(): Promise<void> }
    let db: Db<DeliveryTables>
    let queue: DeliveryQueue

    beforeEach(async () => {
      place = await newPlace()
      db = openDatabase<DeliveryTables>(place.location)
      await migrate(db, deliveryMigrations)
      queue = new DeliveryQueue(db, 'export')
    })
    afterEach(async () => {
      await db.close()
      await place.remove()
    })

    const numbered = (count: number, lane = 'a', from = 1): NewDelivery[] =>
      Array.from({ length: count }, (_, index) => ({
        key: `${lane}${from + index}`,
        lane,
        subject: `record ${from + index}`,
      }))
    const enqueue = (deliveries: readonly NewDelivery[], nowMs = 0, into = queue) =>
      db.write((tx) => into.enqueue(tx, deliveries, nowMs))
    const claim = (limit: number, nowMs: number, claimed = 'c1', lane = 'a') =>
      queue.claim(lane, { claim: claimed, limit, leaseMs: LEASE_MS }, nowMs)
    const keys = (deliveries: readonly NewDelivery[]) => deliveries.map(({ key }) => key)
    const delivered = { kind: 'delivered', message: '' } as const

    describe('enqueueing', () => {
      test('accepts a key once per queue, even after its delivery', async () => {
        expect(await enqueue(numbered(2))).toBe(2)
        expect(await enqueue(numbered(3))).toBe(1)
        const [first] = await claim(1, 0)
        await queue.settle([{ delivery: first!, settlement: delivered }], 0)
        expect(await enqueue(numbered(1))).toBe(0)
        expect(await enqueue(numbered(1), 0, new DeliveryQueue(db, 'hooks'))).toBe(1)
        expect(keys(await claim(10, 0))).toEqual(['a2', 'a3'])
      })

      test('belongs to the transaction of the caller', async () => {
        const failing = db.write(async (tx) => {
          await queue.enqueue(tx, numbered(2), 0)
          throw new Error('no')
        })
        await expect(failing).rejects.toThrow('no')
        expect(await queue.counts()).toEqual({ open: 0, dead: 0 })
      })

      test('enqueues more rows than fit into one statement', async () => {
        expect(await enqueue(numbered(2_345))).toBe(2_345)
        expect(await queue.counts()).toEqual({ open: 2_345, dead: 0 })
      })

      test('accepts an empty list', async () => {
        expect(await enqueue([])).toBe(0)
      })
    })

    describe('claiming', () => {
      test('claims the oldest first, and each delivery once', async () => {
        await enqueue(numbered(2, 'a', 3), 5)
        await enqueue(numbered(2, 'a', 1), 3)
        expect(keys(await claim(3, 10))).toEqual(['a1', 'a2', 'a3'])
        expect(keys(await claim(3, 10, 'c2'))).toEqual(['a4'])
        expect(await claim(3, 10, 'c3')).toEqual([])
      })

      test('returns what the sender needs', async () => {
        await enqueue(numbered(1), 7)
        const [delivery] = await claim(1, 7)
        expect(delivery).toEqual({
          id: expect.any(Number),
          key: 'a1',
          lane: 'a',
          subject: 'record 1',
          claim: 'c1',
          enqueuedAtMs: 7,
          attemptsMade: 0,
          abandoned: 0,
          progress: '',
        })
      })

      test('does not claim a delivery before it is due', async () => {
        await enqueue(numbered(1), 100)
        expect(await claim(1, 99)).toEqual([])
        expect(await claim(1, 100)).toHaveLength(1)
      })

      test('does not claim from other lanes and queues', async () => {
        await enqueue(numbered(1, 'b'))
        await enqueue(numbered(1), 0, new DeliveryQueue(db, 'hooks'))
        expect(await claim(10, 0)).toEqual([])
        expect(keys(await claim(10, 0, 'c1', 'b'))).toEqual(['b1'])
      })

      test('claims a delivery again after its lease, with its attempt counted and its progress', async () => {
        await enqueue(numbered(1))
        const [lost] = await claim(1, 0)
        expect(await queue.saveProgress(lost!, 'half', 500 + LEASE_MS)).toBe(true)
        expect(await claim(1, 499 + LEASE_MS, 'c2')).toEqual([])
        const [found] = await claim(1, 500 + LEASE_MS, 'c2')
        expect(found).toMatchObject({ key: 'a1', attemptsMade: 1, progress: 'half' })
        expect(await queue.saveProgress(lost!, 'more', 9_000)).toBe(false)
        expect(await queue.settle([{ delivery: lost!, settlement: delivered }], 0)).toEqual([lost])
        expect(await queue.settle([{ delivery: found!, settlement: delivered }], 0)).toEqual([])
      })

      test('treats a repeatedly abandoned delivery as poison until it is settled, and leaves it out of ordinary claims', async () => {
        await enqueue(numbered(2))
        for (const nowMs of [0, 1, 2].map((round) => round * LEASE_MS)) {
          expect(await queue.listPoisonLanes(nowMs)).toEqual([])
          const [first, second] = await claim(2, nowMs, `c${nowMs}`)
          expect([first?.abandoned, second?.abandoned]).toEqual([nowMs / LEASE_MS, 0])
          await queue.settle([{ delivery: second!, settlement: { kind: 'unsent' } }], nowMs)
        }
        expect(await queue.listPoisonLanes(3 * LEASE_MS - 1)).toEqual([])
        expect(await queue.listPoisonLanes(3 * LEASE_MS)).toEqual(['a'])
        expect(keys(await claim(2, 3 * LEASE_MS, 'c4'))).toEqual(['a2'])
        const options = { claim: 'c5', limit: 2, leaseMs: LEASE_MS, poison: true }
        const [suspect] = await queue.claim('a', options, 3 * LEASE_MS)
        expect(suspect).toMatchObject({ key: 'a1', abandoned: 3 })
        const settlement = { kind: 'retry', atMs: 4 * LEASE_MS, reason: 'HTTP 503', progress: '' } as const
        await queue.settle([{ delivery: suspect!, settlement }], 3 * LEASE_MS)
        expect(await claim(1, 4 * LEASE_MS, 'c6')).toMatchObject([{ key: 'a1', abandoned: 0 }])
      })

      test('gives each delivery to only one of several concurrent claims', async () => {
        await enqueue(numbered(100))
        const others = [1, 2, 3, 4].map(() => openDatabase<DeliveryTables>(place.location))
        const claimed = await Promise.all(
          others.flatMap((other, index) =>
            [1, 2, 3].map((round) =>
              new DeliveryQueue(other, 'export').claim(
                'a',
                { claim: `${index}.${round}`, limit: 7, leaseMs: LEASE_MS },
                0,
              ),
            ),
          ),
        )
        for (const other of others) await other.close()
        const all = keys(claimed.flat())
        expect([all.length, new Set(all).size]).toEqual([84, 84])
      })
    })

    describe('listOpenLanes', () => {
      test('lists each lane once, with the time when its first delivery falls due', async () => {
        await enqueue([...numbered(3, 'b'), ...numbered(2, 'a')], 5)
        await enqueue(numbered(1, 'c'), 90)
        await claim(3, 10, 'c1', 'b')
        expect(await queue.listOpenLanes({ limit: 10 })).toEqual([
          { lane: 'a', dueMs: 5 },
          { lane: 'b', dueMs: 10 + LEASE_MS },
          { lane: 'c', dueMs: 90 },
        ])
      })

      test('lists lanes by page', async () => {
        await enqueue(['a', 'b', 'c', 'd'].flatMap((lane) => numbered(2, lane)))
        const names = async (after?: string) =>
          (await queue.listOpenLanes({ limit: 2, ...(after !== undefined && { after }) })).map(({ lane }) => lane)
        expect([await names(), await names('b'), await names('d')]).toEqual([['a', 'b'], ['c', 'd'], []])
      })

      test('leaves out lanes without open deliveries', async () => {
        await enqueue(numbered(1))
        const [delivery] = await claim(1, 0)
        await queue.settle([{ delivery: delivery!, settlement: delivered }], 0)
        expect(await queue.listOpenLanes({ limit: 10 })).toEqual([])
      })
    })

    describe('settling', () => {
      test.each([
        { settlement: { kind: 'delivered', message: '2 refused' }, state: 'delivered', reason: '2 refused' },
        { settlement: { kind: 'dead', reason: 'HTTP 400', progress: 'p' }, state: 'dead', reason: 'HTTP 400' },
        {
          settlement: { kind: 'retry', atMs: 77, reason: 'HTTP 503', progress: 'p' },
          state: 'open',
          reason: 'HTTP 503',
        },
        { settlement: { kind: 'unsent' }, state: 'open', reason: '' },
      ] as const)('$settlement.kind', async ({ settlement, state, reason }) => {
        await enqueue(numbered(1))
        const [delivery] = await claim(1, 0)
        await queue.settle([{ delivery: delivery!, settlement }], 50)
        expect(await queue.find(delivery!.id)).toMatchObject({
          state,
          reason,
          attemptsMade: settlement.kind === 'unsent' ? 0 : 1,
          settledAtMs: state === 'open' ? undefined : 50,
        })
      })

      test('claims a retry when it is due, with its progress', async () => {
        await enqueue(numbered(1))
        const [delivery] = await claim(1, 0)
        const settlement = { kind: 'retry', atMs: 77, reason: 'HTTP 503', progress: '1 of 2' } as const
        await queue.settle([{ delivery: delivery!, settlement }], 50)
        expect(await claim(1, 76)).toEqual([])
        expect(await claim(1, 77)).toMatchObject([{ key: 'a1', attemptsMade: 1, progress: '1 of 2', enqueuedAtMs: 0 }])
      })
    })

    describe('dead deliveries', () => {
      const bury = async (count: number) => {
        await enqueue(numbered(count))
        const batch = await claim(count, 0)
        const settlement = { kind: 'dead', reason: 'HTTP 401', progress: 'half' } as const
        await queue.settle(
          batch.map((delivery) => ({ delivery, settlement })),
          50,
        )
        return batch.map(({ id }) => id)
      }

      test('are listed by page, the latest first', async () => {
        const ids = await bury(3)
        expect((await queue.list('dead', { limit: 2 })).map(({ id }) => id)).toEqual([ids[2], ids[1]])
        const page = await queue.list('dead', { beforeId: ids[2]!, limit: 1 })
        expect(page).toMatchObject([{ id: ids[1], key: 'a2', state: 'dead', reason: 'HTTP 401', settledAtMs: 50 }])
        expect(await queue.counts()).toEqual({ open: 0, dead: 3 })
      })

      test('are open again after a replay, with their full time and their progress', async () => {
        const [id] = await bury(1)
        expect([await queue.replay(id!, 900), await queue.replay(id!, 901)]).toEqual([true, false])
        expect(await claim(1, 900)).toMatchObject([{ id, enqueuedAtMs: 900, attemptsMade: 0, progress: 'half' }])
      })

      test('can be dropped; an open one only if open ones are requested, and then its claim is lost', async () => {
        const [id] = await bury(1)
        await enqueue(numbered(1, 'b'))
        const [open] = await queue.list('open', { limit: 10 })
        expect([await queue.drop(id!), await queue.drop(id!), await queue.drop(open!.id)]).toEqual([true, false, false])
        expect(await queue.find(id!)).toBeUndefined()
        const [claimed] = await claim(1, 900, 'c2', 'b')
        expect([await queue.drop(open!.id, 'open'), await queue.drop(open!.id, 'open')]).toEqual([true, false])
        expect(await queue.settle([{ delivery: claimed!, settlement: delivered }], 901)).toEqual([claimed])
      })

      test('of another queue are not affected', async () => {
        const [id] = await bury(1)
        const hooks = new DeliveryQueue(db, 'hooks')
        expect([await hooks.find(id!), await hooks.replay(id!, 0), await hooks.drop(id!)]).toEqual([
          undefined,
          false,
          false,
        ])
      })
    })

    test('prune deletes only old delivered or dead deliveries', async () => {
      await enqueue(numbered(4))
      const batch = await claim(3, 0)
      await queue.settle([{ delivery: batch[0]!, settlement: delivered }], 10)
      await queue.settle([{ delivery: batch[1]!, settlement: delivered }], 20)
      await queue.settle([{ delivery: batch[2]!, settlement: { kind: 'dead', reason: '', progress: '' } }], 10)
      expect([await queue.prune(20), await queue.prune(20)]).toEqual([1, 0])
      expect(await queue.counts()).toEqual({ open: 1, dead: 1 })
      expect(await enqueue(numbered(2))).toBe(1)
      expect([await queue.prune(10, 5, 'dead'), await queue.prune(11, 5, 'dead')]).toEqual([0, 1])
      expect(await queue.counts()).toEqual({ open: 2, dead: 0 })
    })
  })
}
