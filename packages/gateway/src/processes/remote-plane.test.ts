import { EventEmitter } from 'node:events'
import { ManualClock } from '@penstock/testkit'
import { expect, test } from 'vitest'
import type { IngestPlane, PlaneReport } from './ingest-plane.ts'
import { type Channel, RemotePlane, servePlane } from './remote-plane.ts'

/** Returns two ends of a channel that copies messages, as a process boundary does. */
function pipe(): { primary: Channel & EventEmitter; worker: Channel & EventEmitter } {
  const ends = [new EventEmitter(), new EventEmitter()] as const
  const end = (own: EventEmitter, other: EventEmitter) =>
    Object.assign(own, {
      send: (message: object) => {
        const copy: unknown = JSON.parse(JSON.stringify(message))
        queueMicrotask(() => other.emit('message', copy))
      },
    })
  return { primary: end(ends[0], ends[1]), worker: end(ends[1], ends[0]) }
}

const report: PlaneReport = {
  metrics: { series: [] } as unknown as PlaneReport['metrics'],
  clientStats: { clients: [] } as unknown as PlaneReport['clientStats'],
  wrongPaths: [],
  state: 'ready',
  startedMs: 0,
  isStoreFailing: false,
}

const clock = new ManualClock()

function planeOf(more: Partial<IngestPlane> = {}): IngestPlane {
  return { refresh: async () => {}, report: async () => report, drain: async () => {}, ...more }
}

test('calls the plane at the other end, and returns its results and failures', async () => {
  const { primary, worker } = pipe()
  const delays: number[] = []
  servePlane(
    worker,
    planeOf({
      refresh: async () => {
        throw new Error('the store cannot be read')
      },
      drain: async (delayMs) => void delays.push(delayMs),
    }),
  )
  const remote = new RemotePlane(primary, clock)
  expect(await remote.report()).toEqual(report)
  await remote.drain(250)
  expect(delays).toEqual([250])
  await expect(remote.refresh()).rejects.toThrow('the store cannot be read')
})

test('matches replies to their calls, in any order', async () => {
  const { primary, worker } = pipe()
  const finish: ((value: PlaneReport) => void)[] = []
  servePlane(worker, planeOf({ report: () => new Promise((resolve) => finish.push(resolve)) }))
  const remote = new RemotePlane(primary, clock)
  const [first, second] = [remote.report(), remote.report()]
  await expect.poll(() => finish).toHaveLength(2)
  finish[1]!({ ...report, state: 'draining' })
  finish[0]!({ ...report, state: 'starting' })
  expect((await first).state).toBe('starting')
  expect((await second).state).toBe('draining')
})

test('a call to a worker that hangs fails after 5 s, but a drain has no timeout', async () => {
  const { primary } = pipe()
  const remote = new RemotePlane(primary, clock)
  const refreshed = remote.refresh().catch((error: Error) => error.message)
  let drained = 'not yet'
  const draining = remote.drain(0).catch((error: Error) => {
    drained = error.message
  })
  await clock.advance(5_000)
  expect(await refreshed).toBe('no refresh in time')
  await clock.advance(60_000)
  expect(drained).toBe('not yet')
  primary.emit('disconnect')
  await draining
  expect(drained).toBe('the worker has ended')
})

test('calls to a worker that has ended fail immediately', async () => {
  const { primary } = pipe()
  const remote = new RemotePlane(primary, clock)
  const waiting = remote.report()
  primary.emit('disconnect')
  await expect(waiting).rejects.toThrow('the worker has ended')
  await expect(remote.report()).rejects.toThrow('the worker has ended')
})

test('other messages on the channel are ignored', async () => {
  const { primary, worker } = pipe()
  const said: unknown[] = []
  primary.on('message', (message) => said.push(message))
  servePlane(worker, planeOf())
  for (const stray of [null, 'report', 7, {}, { penstock: 'listening' }]) worker.emit('message', stray)
  await new Promise<void>((resolve) => setImmediate(resolve))
  expect(said).toEqual([])
})
