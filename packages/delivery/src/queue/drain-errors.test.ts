import { QueueFullError } from '@penstock/db'
import { jsonLog } from '@penstock/runtime'
import { ManualClock } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { Drain } from './drain.ts'
import { drainErrors } from './drain-errors.ts'

test('an outage of an hour has two lines and few queries, and the work continues within seconds', async () => {
  const clock = new ManualClock()
  const lines: Record<string, unknown>[] = []
  const log = jsonLog({ write: (line) => lines.push(JSON.parse(line)) }, () => clock.nowMs())
  let isAway = true
  let rounds = 0
  const listPoisonLanes = async (): Promise<string[]> => {
    rounds += 1
    if (isAway) throw new QueueFullError()
    return []
  }
  const drain = new Drain({
    queue: { listPoisonLanes, listOpenLanes: async () => [], claim: async () => [], settle: async () => [] },
    clock,
    random: () => 0.5,
    newClaim: () => 'claim',
    retry: { baseMs: 1_000, capMs: 30_000, giveUpAfterMs: 60_000 },
    circuit: { failuresToOpen: 3, baseMs: 10_000, capMs: 60_000 },
    leaseMs: 100_000,
    batchSize: 2,
    concurrency: 4,
    laneConcurrency: 2,
    pollMs: 250,
    send: async () => [],
    ...drainErrors({ log, clock, work: 'exports' }, (error) => {
      throw error
    }),
  })
  const stop = new AbortController()
  const ended = drain.run(stop.signal)
  await clock.untilSleeping()
  await clock.advance(3_600_000)
  await clock.untilSleeping()
  expect(rounds).toBeGreaterThan(700)
  expect(rounds).toBeLessThan(730)
  isAway = false
  await clock.advance(5_000)
  await clock.untilSleeping()
  stop.abort()
  await ended
  expect(lines).toMatchObject([
    { level: 'error', event: 'database.unavailable', work: 'exports' },
    { level: 'info', event: 'database.recovered', work: 'exports' },
  ])
})
