import { join } from 'node:path'
import { type Clock, systemClock } from '@penstock/runtime'
import { Gate, refusedUrl, type ScriptedReply } from '@penstock/testkit'
import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import type { RunningGateway } from '../gateway/running-gateway.ts'
import { until } from '../gateway/until.ts'
import type { ClientId } from './stock-clients.ts'

const DAY_MS = 86_400_000

/**
 * The reaction of a client to a failed request.
 *
 * - `drops`: the export fails after one request
 * - `retries`: the next request comes in time, and the data arrives when the situation is over
 * - `retries in vain`: the client retries, but gives up before the data has arrived
 */
export type Behaviour = 'drops' | 'retries' | 'retries in vain'

/** An answer of the gateway (P-27), and how a stock client receives it. */
export interface Situation {
  readonly id: string
  readonly row: string
  readonly http: number
  readonly grpc: number
  readonly retryable: boolean
  /** The largest delay in RetryInfo, in seconds. Over HTTP, the test reads the answer itself. */
  readonly grpcWaitSeconds?: number
  /** The clients that behave otherwise than the row requires, and why. */
  readonly otherwise?: Partial<Record<ClientId, Behaviour>>
  /** The settings of the gateway. */
  readonly env?: () => Promise<Record<string, string>>
  readonly clock?: Clock
  /** The fields of the token of each client. */
  readonly token?: object
  readonly credential?: 'none' | 'unknown' | 'revoked'
  /** The reply of upstream to the first request of each client. It accepts the others. */
  readonly firstReply?: ScriptedReply
  readonly padding?: number
  /** The timeout of one export. Default 10 s, as in the SDKs. */
  readonly timeoutMs?: { readonly http: number; readonly grpc: number }
  /** Runs before the clients begin. The returned function is called when each client has had its first answer. */
  readonly begin?: (world: World) => Promise<() => Promise<void>>
  /** Set if the situation does not end, so that only a retry can be observed. */
  readonly isEndless?: true
}

export interface World {
  readonly gateway: RunningGateway
  readonly tokens: readonly string[]
  /** Exports JSON of about `bytes` bytes, and returns the status of the answer. */
  send(token: string, bytes: number): Promise<number>
  /**
   * Delays the answers of upstream to bodies above 100 KB until the promise resolves. The returned promise resolves when
   * upstream has received such a body.
   */
  hold(until: Promise<void>): Promise<void>
}

/** gRPC clients stop at their own deadline, which is also sent upstream. Only the collector's deadline is for one attempt, not for all. */
const ownDeadline = { 'python-grpc': 'drops', 'go-grpc': 'drops' } as const

/**
 * The answers of the gateway (P-27). The following ones are missing, because no stock client receives these answers:
 *
 * - Inspected body is not valid gzip or not framed protobuf: exporters send neither. The tests with raw bodies are in
 *   packages/gateway/src/attribution and src/ingest.
 * - Draining: the gateway still serves requests and asks its clients to reconnect, so that no request is refused; see
 *   draining.test.ts.
 * - Any unexpected exception of ours: there is none we know how to cause; a client would see the 503 and 14 of other rows.
 */
export const situations: readonly Situation[] = [
  { id: 'no-token', row: 'No token', http: 401, grpc: 16, retryable: false, credential: 'none' },
  { id: 'unknown-token', row: 'Unknown token', http: 401, grpc: 16, retryable: false, credential: 'unknown' },
  { id: 'revoked-token', row: 'Revoked token', http: 401, grpc: 16, retryable: false, credential: 'revoked' },
  {
    id: 'forbidden',
    row: 'Valid token, signal not allowed',
    http: 403,
    grpc: 7,
    retryable: false,
    token: { signals: ['profiles'] },
  },
  {
    id: 'grace-hold',
    row: 'No valid token, during the grace period (E-6)',
    http: 503,
    grpc: 14,
    retryable: true,
    credential: 'unknown',
    async begin({ gateway }) {
      await gateway.enforce(true, { grace_seconds: 3_600 })
      return () => gateway.enforce(false)
    },
  },
  {
    id: 'body-too-large',
    row: 'Body too large',
    http: 413,
    grpc: 8,
    retryable: false,
    env: async () => ({ PENSTOCK_MAX_BODY_BYTES: '2048' }),
    padding: 4_000,
    otherwise: { 'python-grpc': 'retries in vain' },
  },
  {
    id: 'over-rate',
    row: 'Token over its rate',
    http: 429,
    grpc: 14,
    retryable: true,
    grpcWaitSeconds: 3,
    token: { limits: { all: { second: { bytes: 1_000 } } } },
    // A body above the limit is accepted once; the next requests must wait until the rate has recovered.
    async begin({ tokens, send }) {
      await Promise.all(tokens.map((token) => send(token, 3_000)))
      return async () => {}
    },
  },
  {
    id: 'over-quota',
    row: 'Token over its daily quota',
    http: 429,
    grpc: 14,
    retryable: true,
    token: { limits: { all: { day: { bytes: 100 } } } },
    // In the last minutes of a day the quota is back soon, and those that drop would wait for it.
    clock: atNoon(Date.now()),
    async begin({ tokens, send }) {
      await Promise.all(tokens.map((token) => send(token, 100)))
      return async () => {}
    },
    isEndless: true,
    // An hour, or until midnight, is longer than any of them keeps its data; only one has not understood how long it is.
    otherwise: {
      'js-http-json': 'drops',
      'js-http-protobuf': 'drops',
      'python-http': 'drops',
      'go-http': 'drops',
      'go-grpc': 'drops',
      'collector-json': 'drops',
      'collector-proto': 'drops',
      'collector-grpc': 'drops',
    },
  },
  {
    id: 'overloaded',
    row: 'Gateway over its in-flight bytes',
    http: 503,
    grpc: 14,
    retryable: true,
    env: async () => ({ PENSTOCK_IN_FLIGHT_BYTES: String(1024 ** 2) }),
    async begin({ gateway, send, hold }) {
      const gate = new Gate()
      const arrived = hold(gate.opened)
      const { token } = await gateway.token({ name: 'holder' })
      const held = send(token, 1024 ** 2 - 10)
      // A body that is still arriving would give way to the requests below.
      await arrived
      await until('the gateway is full', async () => (await send(token, 100)) === 503)
      return async () => {
        gate.open()
        await held
      }
    },
  },
  {
    id: 'store-unreadable',
    row: 'Token store unreadable and snapshot too old (T-14)',
    http: 503,
    grpc: 14,
    retryable: true,
    env: async () => ({ PENSTOCK_MAX_STALE_MS: '2500' }),
    async begin({ gateway, tokens, send }) {
      const store = new Database(join(gateway.dataDir, 'gateway.db'))
      onTestFinished(() => void store.close())
      store.exec('ALTER TABLE enforcement RENAME TO enforcement_away')
      await until('the snapshot is too old', async () => (await send(tokens[0]!, 100)) === 503)
      return async () => void store.exec('ALTER TABLE enforcement_away RENAME TO enforcement')
    },
  },
  {
    id: 'credential',
    row: 'Upstream refuses our credential',
    http: 503,
    grpc: 14,
    retryable: true,
    env: async () => ({ PENSTOCK_UPSTREAM_AUTHORIZATION: 'Bearer of-the-gateway' }),
    firstReply: { play: 'reply', status: 401 },
  },
  {
    id: 'unreachable',
    row: 'Upstream cannot be reached',
    http: 503,
    grpc: 14,
    retryable: true,
    env: async () => ({ PENSTOCK_UPSTREAM: await refusedUrl() }),
    isEndless: true,
  },
  {
    id: 'broke',
    row: 'Upstream broke after bytes were sent',
    http: 502,
    grpc: 14,
    retryable: true,
    grpcWaitSeconds: 0,
    firstReply: { play: 'reset' },
  },
  {
    id: 'slow-behind',
    row: 'Upstream too slow, says a proxy before it',
    http: 504,
    grpc: 4,
    retryable: true,
    grpcWaitSeconds: 0,
    firstReply: { play: 'reply', status: 504 },
  },
  {
    id: 'slow',
    row: 'Upstream too slow',
    http: 504,
    grpc: 4,
    retryable: true,
    grpcWaitSeconds: 0,
    firstReply: { play: 'silence' },
    // Over HTTP upstream has 30 s: a client with less patience never hears of it.
    timeoutMs: { http: 45_000, grpc: 5_000 },
    otherwise: ownDeadline,
  },
]

/** A day that does not end while the test runs. */
function atNoon(nowMs: number): Clock {
  const aheadMs = DAY_MS / 2 - (nowMs % DAY_MS)
  return {
    nowMs: () => systemClock.nowMs() + aheadMs,
    nowNs: () => systemClock.nowNs() + BigInt(aheadMs) * 1_000_000n,
    monotonicMs: () => systemClock.monotonicMs(),
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
  }
}
