import { expect, test } from 'vitest'
import { readRateLimit } from './rate-limit.ts'

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
  const names = { remaining: 'ratelimit-remaining', reset: 'ratelimit-reset' }
  const limit = readRateLimit({ status, headers: headers as Record<string, string> }, names, nowMs)
  expect(limit).toEqual({ isRefused: status === 429, waitMs })
})

const names = { remaining: 'x-ratelimit-remaining', reset: 'x-ratelimit-reset' }

test.each([
  { headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${nowSeconds + 40}` }, waitMs: 40_000 },
  { headers: { 'x-ratelimit-remaining': '4000', 'retry-after': '7' }, waitMs: 7_000 },
  { headers: {}, body: '{"message":"You have exceeded a secondary rate limit."}', waitMs: 60_000 },
])('403 $headers $body is a refusal for the rate limit', ({ headers, body = '', waitMs }) => {
  const reply = { status: 403, headers: headers as Record<string, string>, body: Buffer.from(body) }
  expect(readRateLimit(reply, names, nowMs)).toEqual({ isRefused: true, waitMs })
})

test('a 403 with requests left is a refusal for another reason', () => {
  const reply = {
    status: 403,
    headers: { 'x-ratelimit-remaining': '12' },
    body: Buffer.from('{"message":"No access"}'),
  }
  expect(readRateLimit(reply, names, nowMs)).toEqual({ isRefused: false, waitMs: 0 })
})
