import { afterEach, expect, test, vi } from 'vitest'
import { findArrival } from './find-arrival.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'

afterEach(() => void vi.unstubAllGlobals())

/** Replaces the service by one with a store of traces, and a token. */
function serve(traces: () => Response, lastUsedAt: string | null): void {
  vi.stubGlobal('fetch', async (path: string) =>
    path.startsWith('/api/v1/observe/traces') ? traces() : Response.json({ last_used_at: lastUsedAt }),
  )
}

const stored =
  (...ids: readonly string[]) =>
  () =>
    Response.json(ids.map((trace_id) => ({ trace_id })))
const unavailable = () =>
  Response.json(
    { error: { code: 'store_unavailable', message: 'No.', details: null, request_id: 'r' } },
    { status: 503 },
  )

test.each([
  { what: 'nothing', traces: stored(), lastUsedAt: null, expected: 'waiting' },
  { what: 'another trace', traces: stored('a'), lastUsedAt: '2026-02-03T04:05:06Z', expected: 'used' },
  { what: 'the trace', traces: stored('a', TRACE_ID), lastUsedAt: null, expected: 'arrived' },
  {
    what: 'something unknown, in a store that fails',
    traces: unavailable,
    lastUsedAt: '2026-02-03T04:05:06Z',
    expected: 'used',
  },
])('a token with which $what has arrived: $expected', async ({ traces, lastUsedAt, expected }) => {
  serve(traces, lastUsedAt)
  expect(await findArrival('id', TRACE_ID)).toBe(expected)
})
