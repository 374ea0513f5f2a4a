import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ProcessGateway } from '../gateway/process-gateway.ts'
import {
  type CallOrder,
  type CallOutcome,
  type LateUpstream,
  type Library,
  libraries,
  orderOf,
  spanIdsIn,
  startCallClient,
  startLateUpstream,
} from './concurrent-calls.ts'
import { CountingRelay } from './counting-relay.ts'
import { describeWithClients } from './prepared.ts'

const OK = 0
const CANCELLED = 1
const DEADLINE_EXCEEDED = 4

const readers = [
  { reader: 'PENSTOCK_FAST_PATH unset', env: {} },
  { reader: 'PENSTOCK_FAST_PATH=false', env: { PENSTOCK_FAST_PATH: 'false' } },
]
const compressions = ['identity', 'gzip'] as const

/** The calls that each client starts at once, with a pause after each group. */
const groups = [200, 30, 30, 30, 30, 30, 30]
const PAUSE_MS = 600
const KEEPALIVE_MS = 200
const LATEST_ANSWER_MS = 1_000
const AMPLE_MS = 60_000

describeWithClients('many gRPC calls over one connection', () => {
  for (const { reader, env } of readers) {
    test.each(libraries)(
      `X-8: each arrives once, although connections end in between (${reader}, %s)`,
      async (library) => {
        const upstream = await startLateUpstream(() => Math.random() * LATEST_ANSWER_MS)
        await using gateway = await startGateway(upstream, { ...env, PENSTOCK_MAX_CONNECTION_AGE_MS: '1000' })
        const { token } = await gateway.token()
        await gateway.enforce(true)
        const runs = await Promise.all(
          compressions.map(async (compression) => {
            const relay = await CountingRelay.start(gateway.ports.grpc)
            const port = Number(new URL(relay.url).port)
            const client = await startCallClient(library, {
              port,
              token,
              compression,
              keepaliveMs: keepaliveMsOf(library),
            })
            const orders = groups.map((count) => Array.from({ length: count }, (_, index) => randomOrder(index)))
            const outcomes: Promise<CallOutcome>[] = []
            for (const group of orders) {
              outcomes.push(...group.map((order) => client.call(order)))
              await sleep(PAUSE_MS)
            }
            return { relay, orders: orders.flat(), outcomes: await Promise.all(outcomes) }
          }),
        )
        const orders = runs.flatMap((run) => run.orders)
        const outcomes = runs.flatMap((run) => run.outcomes)
        expect(outcomes.filter((outcome, index) => !possibleCodes(orders[index]!).includes(outcome.code))).toEqual([])
        expect(new Set(outcomes.map(({ code }) => code))).toEqual(new Set([OK, CANCELLED, DEADLINE_EXCEEDED]))
        for (const { relay } of runs) expect(relay.connections).toBeGreaterThan(1)
        expectArrivals(upstream, orders, outcomes)
      },
    )

    test(`P-26: keepalive pings are answered while a call waits (${reader})`, async () => {
      // grpc-go pings only after ten seconds without traffic.
      const upstream = await startLateUpstream(() => 12_000)
      await using gateway = await startGateway(upstream, env)
      const { token } = await gateway.token()
      const runs = await Promise.all(
        libraries.map(async (library) => {
          const relay = await CountingRelay.start(gateway.ports.grpc)
          const port = Number(new URL(relay.url).port)
          const client = await startCallClient(library, {
            port,
            token,
            compression: 'identity',
            keepaliveMs: KEEPALIVE_MS,
          })
          const order = orderOf(randomId(), 'late', AMPLE_MS)
          return { library, relay, order, outcome: await client.call(order) }
        }),
      )
      expect(runs.map(({ outcome, relay }) => [outcome.code, relay.connections])).toEqual(runs.map(() => [OK, 1]))
      expect(runs.filter(({ relay }) => relay.pings === 0)).toEqual([])
      expectArrivals(
        upstream,
        runs.map(({ order }) => order),
        runs.map(({ outcome }) => outcome),
      )
    })
  }
})

/** grpc-js 1.14 drops all calls of a connection when it has to ping after GOAWAY, because Node refuses to send the ping. */
const keepaliveMsOf = (library: Library): number => (library === 'grpc-js' ? AMPLE_MS : KEEPALIVE_MS)

const startGateway = (upstream: LateUpstream, env: Readonly<Record<string, string>>) =>
  ProcessGateway.start({ upstream: upstream.url, env })

const randomId = (): string => randomBytes(8).toString('hex')

/** Returns an order with a body of 0.1 to 300 KB. Of ten, one is cancelled, and one has a deadline before most answers. */
function randomOrder(index: number): CallOrder {
  const bytes = Math.round(100 * 3_000 ** Math.random())
  const padding = randomBytes(bytes / 2).toString('hex')
  const soonMs = Math.round(Math.random() * 400)
  if (index % 10 === 3) return orderOf(randomId(), padding, AMPLE_MS, soonMs)
  return orderOf(randomId(), padding, index % 10 === 7 ? 20 + soonMs : AMPLE_MS)
}

function possibleCodes({ deadlineMs, cancelAfterMs }: CallOrder): number[] {
  if (cancelAfterMs !== undefined) return [OK, CANCELLED]
  return deadlineMs < AMPLE_MS ? [OK, DEADLINE_EXCEEDED] : [OK]
}

/**
 * Checks that the upstream got the bytes of each successful call once and those of the others at most once. A body can
 * contain several messages, because small ones are coalesced.
 */
function expectArrivals(upstream: LateUpstream, orders: readonly CallOrder[], outcomes: readonly CallOutcome[]): void {
  const sent = new Map(orders.map(({ id, body }) => [id, Buffer.from(body, 'base64')]))
  const arrivals = new Map<string, number>()
  for (const body of upstream.bodies) {
    const ids = spanIdsIn(body)
    for (const id of ids) arrivals.set(id, (arrivals.get(id) ?? 0) + 1)
    const expected = Buffer.concat(ids.map((id) => sent.get(id) ?? Buffer.from('unknown')))
    expect(body.equals(expected), `a body with the spans ${ids}`).toBe(true)
  }
  expect([...arrivals].filter(([, count]) => count > 1)).toEqual([])
  expect(outcomes.filter(({ id, code }) => code === OK && !arrivals.has(id))).toEqual([])
}
