import { deepStrictEqual } from 'node:assert'
import type { WrkRequest } from '../gateway/wrk.ts'

/** Other with every answer, whoever gives it. */
const changing = new Set([
  'date',
  'ratelimit-observed',
  'ratelimit-remaining',
  'ratelimit-reset',
  'x-request-id',
  'x-runtime',
  'x-svc-meta',
])

/** That both say the same: what is compared is to do the same work. */
export async function requireSameAnswer(one: WrkRequest, other: WrkRequest): Promise<void> {
  deepStrictEqual(await answerOf(one), await answerOf(other))
}

async function answerOf({ port, path, headers }: WrkRequest) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
  const sent = [...response.headers].map(([name, value]) => [name, changing.has(name) ? '' : value])
  return { status: response.status, headers: Object.fromEntries(sent), body: await response.text() }
}
