import type { Insights } from './answers.ts'
import { getJson, type Query } from './client.ts'

/** Returns the statistics of the runs of a range. Days are those of the viewer's zone. */
export function getInsights(query: Query, signal?: AbortSignal): Promise<Insights> {
  const offset = -new Date().getTimezoneOffset()
  return getJson<Insights>('/api/v1/observe/insights', { ...query, timezone_offset_minutes: offset }, signal)
}
