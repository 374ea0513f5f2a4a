import { expect, test } from 'vitest'
import { ingestToken, NOW_MS } from './management.harness.ts'
import {
  bytesText,
  limitLines,
  restrictions,
  signalsText,
  toExpiry,
  tokensSummary,
  toReasonRow,
} from './token-model.ts'

test.each([
  [{ expires_at: null }, { text: 'Never' }],
  [{ expires_at: '2026-06-07T12:00:00Z' }, { text: 'in 89 d' }],
  [
    { expires_at: '2026-03-16T12:00:00Z', expires_soon: true },
    { text: 'in 6 d', tone: 'warning' },
  ],
  [
    { expires_at: '2026-03-10T09:00:00Z', status: 'expired' as const },
    { text: 'Expired 3 h ago', tone: 'failed' },
  ],
  [
    { expires_at: null, status: 'disabled' as const },
    { text: 'Disabled', tone: 'warning' },
  ],
])('describes the expiry of %j', (changes, expiry) => {
  expect(toExpiry(ingestToken(changes), NOW_MS)).toEqual(expiry)
})

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_400, '1.4 kB'],
  [42_300_000, '42 MB'],
  [5e15, '5,000 TB'],
])('writes %d bytes as %s', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text)
})

test('lists each limit with its signal and window', () => {
  expect(limitLines(null)).toEqual([])
  const limits = { traces: { second: { requests: 100 } }, all: { day: { requests: 5_000, bytes: 2_000_000 } } }
  expect(limitLines(limits)).toEqual([
    'traces: 100 requests a second',
    'all signals: 5,000 requests a day',
    'all signals: 2 MB a day',
  ])
})

test('lists only the restrictions that a token has', () => {
  expect(restrictions(ingestToken())).toEqual([])
  const token = ingestToken({
    tenant: 'shop',
    tags: { team: 'web' },
    allow_query: true,
    allowed_origins: ['https://a'],
  })
  expect(restrictions(token).map(({ name }) => name)).toEqual(['Tenant', 'Tags', 'Origins', 'Query'])
})

test('sums up signals, reasons and tokens in words', () => {
  expect(signalsText(ingestToken())).toBe('all')
  expect(signalsText({ signals: ['logs', 'traces'] })).toBe('logs, traces')
  expect(toReasonRow({ reason: 'missing' })).toEqual({ text: 'no token', tone: 'warning' })
  expect(toReasonRow({ reason: 'constructor' }).text).toBe('constructor')
  expect(tokensSummary([ingestToken(), ingestToken({ status: 'expired' })])).toBe('2 tokens, 1 valid')
})
