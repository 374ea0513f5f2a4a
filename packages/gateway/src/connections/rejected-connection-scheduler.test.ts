import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RejectedConnectionScheduler, type SchedulableConnection } from './rejected-connection-scheduler.ts'

class TestConnection implements SchedulableConnection {
  rejections = 0
  isPaused = false
  resumes = 0
  pauseReading(): void {
    this.isPaused = true
  }
  resumeReading(): void {
    this.isPaused = false
    this.resumes += 1
  }
}

/** Resolves after the callbacks that are already queued with `setImmediate`. */
const turn = () => new Promise(setImmediate)

function refuse(scheduler: RejectedConnectionScheduler, connections: readonly TestConnection[], times: number): void {
  for (const connection of connections) for (let at = 0; at < times; at += 1) scheduler.recordRejection(connection)
}

test('T-12: pauses no connection while few are rejected in a turn', async () => {
  const scheduler = new RejectedConnectionScheduler()
  const connections = Array.from({ length: 8 }, () => new TestConnection())
  refuse(scheduler, connections, 1)
  await turn()
  expect(connections.map(({ isPaused }) => isPaused)).toEqual(Array(8).fill(false))
})

test('T-12: resumes as many connections in each turn as account for eight rejections', async () => {
  const scheduler = new RejectedConnectionScheduler()
  const connections = Array.from({ length: 6 }, () => new TestConnection())
  refuse(scheduler, connections, 4)
  const pausedPerTurn: number[] = []
  for (let at = 0; at < 3; at += 1) {
    await turn()
    pausedPerTurn.push(connections.filter(({ isPaused }) => isPaused).length)
  }
  expect(pausedPerTurn).toEqual([4, 2, 0])
})

test('T-12: resumes a connection that was rejected more often than the budget of one turn', async () => {
  const scheduler = new RejectedConnectionScheduler()
  const [frequent, second] = [new TestConnection(), new TestConnection()]
  refuse(scheduler, [frequent, second], 1_000)
  await turn()
  expect([frequent.isPaused, second.isPaused]).toEqual([false, true])
  await turn()
  expect(second.isPaused).toBe(false)
})

test('resumes every connection in the end, however often it was rejected', async () => {
  const rounds = fc.array(fc.array(fc.record({ index: fc.nat(4_000), times: fc.integer({ min: 1, max: 40 }) })), {
    minLength: 1,
    maxLength: 20,
  })
  await fc.assert(
    fc.asyncProperty(rounds, async (allRounds) => {
      const scheduler = new RejectedConnectionScheduler()
      const connections = new Map<number, TestConnection>()
      let rejections = 0
      for (const round of allRounds) {
        for (const { index, times } of round) {
          const known = connections.get(index) ?? new TestConnection()
          connections.set(index, known)
          // A paused connection delivers no requests.
          if (known.isPaused) continue
          refuse(scheduler, [known], times)
          rejections += times
        }
        await turn()
      }
      for (let at = 0; at <= rejections; at += 1) await turn()
      for (const connection of connections.values()) {
        expect(connection.isPaused).toBe(false)
        expect(connection.rejections).toBe(0)
      }
    }),
    { numRuns: 50 },
  )
})
