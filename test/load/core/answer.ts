import { deepStrictEqual } from 'node:assert'
import type { WrkRequest } from '../gateway/wrk.ts'

/** The headers that differ with every answer of every server. */
const changing = new Set([
  'date',
  'ratelimit-observed',
  'ratelimit-remaining',
  'ratelimit-reset',
  'x-request-id',
  'x-runtime',
  'x-svc-meta',
])

/** Requires that both requests have the same answer, so that the compared servers do the same work. */
export async function requireSameAnswer(one: WrkRequest, other: WrkRequest): Promise<void> {
  deepStrictEqual(await answerOf(one), await answerOf(other))
}

async function answerOf({ port, path, headers }: WrkRequest) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
  const sent = [...response.headers].map(([name, value]) => [name, changing.has(name) ? '' : value])
  return { status: response.status, headers: Object.fromEntries(sent), body: await response.text() }
}
