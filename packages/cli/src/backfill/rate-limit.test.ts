import { expect, test } from 'vitest'
import { rateLimitWaitMs } from './rate-limit.ts'

/** 2026-02-11T09:20:00Z */
const nowMs = 1_770_801_600_000
const nowSeconds = nowMs / 1_000

test.each([
  { status: 200, headers: {}, waitMs: 0 },
  { status: 200, headers: { 'retry-after': '30' }, waitMs: 0 },
  { status: 200, headers: { 'ratelimit-remaining': '1', 'ratelimit-reset': `${nowSeconds + 40}` }, waitMs: 0 },
  { status: 200, headers: { 'ratelimit-remaining': '0', 'ratelimit-reset': `${nowSeconds + 40}` }, waitMs: 40_000 },
  { status: 200, headers: { 'ratelimit-remaining': '0', 'ratelimit-reset': '40' }, waitMs: 40_000 },
  { status: 200, headers: { 'ratelimit-remaining': '0', 'ratelimit-reset': `${nowSeconds - 1}` }, waitMs: 0 },
  { status: 200, headers: { 'ratelimit-remaining': '0' }, waitMs: 0 },
  { status: 200, headers: { 'ratelimit-remaining': '0', 'ratelimit-reset': 'soon' }, waitMs: 0 },
  { status: 429, headers: { 'retry-after': '30' }, waitMs: 30_000 },
  { status: 429, headers: { 'retry-after': 'Wed, 11 Feb 2026 09:20:30 GMT' }, waitMs: 30_000 },
  { status: 429, headers: { 'retry-after': '30', 'ratelimit-reset': `${nowSeconds + 50}` }, waitMs: 30_000 },
  { status: 429, headers: { 'ratelimit-reset': `${nowSeconds + 50}` }, waitMs: 50_000 },
  { status: 429, headers: { 'retry-after': '0' }, waitMs: 60_000 },
  { status: 429, headers: { 'retry-after': '0', 'ratelimit-reset': '0' }, waitMs: 60_000 },
  { status: 429, headers: {}, waitMs: 60_000 },
  { status: 429, headers: { 'retry-after': '999999' }, waitMs: 3_600_000 },
  { status: 200, headers: { 'ratelimit-remaining': '0', 'ratelimit-reset': '999999' }, waitMs: 3_600_000 },
])('$status $headers: $waitMs ms', ({ status, headers, waitMs }) => {
  expect(rateLimitWaitMs({ status, headers: headers as Record<string, string> }, nowMs)).toBe(waitMs)
})
