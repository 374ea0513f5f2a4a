import { expect, test } from 'vitest'
import type { TokenSummary } from '../tokens/token-summaries.ts'
import type { Client } from './client-stats.ts'
import { mergeClientStats } from './merge-client-stats.ts'
import { readinessReport } from './readiness.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 12)
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

const client = (over: Partial<Client> = {}): Client => ({
  network: '192.0.2.0/24',
  userAgent: 'curl',
  signal: 'traces',
  transport: 'http',
  reason: 'missing',
  tokenId: undefined,
  serviceNames: [],
  firstSeenMs: NOW_MS - 3 * MINUTE_MS,
  lastSeenMs: NOW_MS - MINUTE_MS,
  count: 3,
  ...over,
})
const token = (over: Partial<TokenSummary> = {}): TokenSummary => ({
  id: 'a',
  name: 'ci',
  disabled: false,
  expiresAtMs: undefined,
  lastUsedAtMs: NOW_MS - MINUTE_MS,
  ...over,
})
const minute = (minutesAgo: number, requests: number, wouldReject: number) => ({
  startMs: NOW_MS - minutesAgo * MINUTE_MS,
  requests,
  wouldReject,
})
const quiet = { minutes: [minute(5, 10, 0)], clients: [], wrongPaths: [] }

test('is ready if no request would have been refused and a valid token lasts a week', () => {
  expect(readinessReport(quiet, [token()], DAY_MS, NOW_MS)).toEqual({
    ready: true,
    window_seconds: 86_400,
    observed_since: '2026-11-20T12:00:00Z',
    requests: 10,
    would_reject: 0,
    clients: [],
    wrong_paths: [],
    unused_tokens: [],
    expiring_tokens: [],
    blockers: [],
  })
})

test('lists the clients that enforcement would refuse, and counts requests in the window only', () => {
  const clientStats = {
    wrongPaths: [],
    minutes: [minute(1, 5, 2), minute(60, 5, 1), minute(61, 100, 50)],
    clients: [
      client({ count: 1, serviceNames: ['cart'], tokenId: 'b', reason: 'expired' }),
      client(),
      client({ network: '10.0.0.0/24', lastSeenMs: NOW_MS - 61 * MINUTE_MS, count: 99 }),
    ],
  }
  expect(readinessReport(clientStats, [token()], 3_600_000, NOW_MS)).toMatchObject({
    ready: false,
    window_seconds: 3_600,
    observed_since: '2026-11-21T11:00:00Z',
    requests: 10,
    would_reject: 3,
    clients: [
      { reason: 'missing', service_name: null, token_id: null, count: 3, user_agent: 'curl', network: '192.0.2.0/24' },
      {
        reason: 'expired',
        service_name: 'cart',
        token_id: 'b',
        first_seen: '2026-11-21T11:57:00Z',
        last_seen: '2026-11-21T11:59:00Z',
        count: 1,
      },
    ],
    blockers: [{ code: 'would_reject', message: 'Requests that would have been refused in the window: 3.' }],
  })
})

test('lists at most 100 clients, the busiest ones', () => {
  const clients = Array.from({ length: 150 }, (_, count) => client({ network: `10.0.${count}.0/24`, count }))
  const report = readinessReport({ minutes: [], clients, wrongPaths: [] }, [token()], DAY_MS, NOW_MS)
  expect(report.clients).toHaveLength(100)
  expect(report.clients[0]?.count).toBe(149)
  expect(report.clients[99]?.count).toBe(50)
})

test.each([
  { tokens: [], code: 'no_valid_token' },
  { tokens: [token({ disabled: true }), token({ expiresAtMs: NOW_MS })], code: 'no_valid_token' },
  { tokens: [token({ expiresAtMs: NOW_MS + 7 * DAY_MS - 1 })], code: 'valid_tokens_end_soon' },
  { tokens: [token({ expiresAtMs: NOW_MS + 7 * DAY_MS })], code: undefined },
  { tokens: [token({ expiresAtMs: NOW_MS + 1 }), token({ id: 'b' })], code: undefined },
])('$tokens.length tokens give the blocker $code', ({ tokens, code }) => {
  const { blockers, ready } = readinessReport(quiet, tokens, DAY_MS, NOW_MS)
  expect(blockers.map((blocker) => blocker.code)).toEqual(code === undefined ? [] : [code])
  expect(ready).toBe(code === undefined)
})

test('lists valid tokens that are unused and those that expire within a week', () => {
  const tokens = [
    token({ id: 'never', lastUsedAtMs: undefined }),
    token({ id: 'long-ago', lastUsedAtMs: NOW_MS - 2 * DAY_MS }),
    token({ id: 'ended', expiresAtMs: NOW_MS - 1, lastUsedAtMs: undefined }),
    token({ id: 'ends-later', expiresAtMs: NOW_MS + 3 * DAY_MS }),
    token({ id: 'ends-first', expiresAtMs: NOW_MS + DAY_MS }),
  ]
  expect(readinessReport(quiet, tokens, DAY_MS, NOW_MS)).toMatchObject({
    unused_tokens: [
      { id: 'never', name: 'ci', last_used_at: null },
      { id: 'long-ago', name: 'ci', last_used_at: '2026-11-19T12:00:00Z' },
    ],
    expiring_tokens: [
      { id: 'ends-first', name: 'ci', expires_at: '2026-11-22T12:00:00Z' },
      { id: 'ends-later', name: 'ci', expires_at: '2026-11-24T12:00:00Z' },
    ],
  })
})

test('merges the reports of several processes', () => {
  const merged = mergeClientStats([
    {
      minutes: [minute(1, 5, 2), minute(2, 1, 0)],
      clients: [client({ serviceNames: ['cart'] }), client({ signal: 'logs', count: 1 })],
    },
    { minutes: [minute(1, 3, 1)], clients: [client({ firstSeenMs: NOW_MS - DAY_MS, lastSeenMs: NOW_MS, count: 4 })] },
  ])
  expect(merged).toEqual({
    minutes: [minute(1, 8, 3), minute(2, 1, 0)],
    clients: [
      client({ serviceNames: ['cart'], firstSeenMs: NOW_MS - DAY_MS, lastSeenMs: NOW_MS, count: 7 }),
      client({ signal: 'logs', count: 1 }),
    ],
  })
})

test('observed_since is not before the start of the gateway', () => {
  const report = readinessReport(quiet, [token()], DAY_MS, NOW_MS, NOW_MS - 30 * MINUTE_MS)
  expect(report.observed_since).toBe('2026-11-21T11:30:00Z')
})
