import { listTraces } from '../../api/traces.ts'
import { getToken } from './management-api.ts'
import { EXAMPLE_SERVICE } from './sender-settings.ts'

/** The progress of the example of a new token: nothing arrived, the token was used, or the trace is stored. */
export type Arrived = 'waiting' | 'used' | 'arrived'

/** The clock of the sender may be slow. */
const CLOCK_SLACK_MS = 3_600_000

/** Returns what has arrived with a token. @param traceId the trace of the example; null if it cannot be found in a store */
export async function findArrival(tokenId: string, traceId: string | null): Promise<Arrived> {
  // A store that fails does not hide that the token was used.
  if (traceId !== null && (await isStored(traceId).catch(() => false))) return 'arrived'
  const { data } = await getToken(tokenId)
  return data.last_used_at === null ? 'waiting' : 'used'
}

async function isStored(traceId: string): Promise<boolean> {
  const since = new Date(Date.now() - CLOCK_SLACK_MS).toISOString()
  const { items } = await listTraces({ service: EXAMPLE_SERVICE, since, limit: 100 })
  return items.some(({ trace_id }) => trace_id === traceId)
}

/** Returns a random id of a trace. */
export function newTraceId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
