import { expect, test } from 'vitest'
import { parseRange } from './range.ts'

const now = Date.parse('2026-11-22T12:00:00Z')
const of = (query: string) => parseRange(new URLSearchParams(query), now)

test('the default is the last 7 days', () => {
  expect(of('')).toMatchObject({ name: '7d', query: { since: '2026-11-15T12:00:00.000Z' } })
  expect(of('range=toString').name).toBe('7d')
})

test('a named range ends now, so that it has no until', () => {
  expect(of('range=24h').query).toEqual({ since: '2026-11-21T12:00:00.000Z' })
})

test('since and until go before range', () => {
  const since = `${BigInt(now - 3_600_000)}000000`
  expect(of(`range=30d&since=${since}&until=2026-11-22T11:30:00Z`)).toMatchObject({
    name: null,
    query: { since: '2026-11-22T11:00:00.000Z', until: '2026-11-22T11:30:00.000Z' },
  })
})

test('values that are wrong are ignored', () => {
  expect(of('since=yesterday&range=6h').name).toBe('6h')
})
