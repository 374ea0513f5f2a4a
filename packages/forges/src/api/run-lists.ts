import type { JsonObject } from '../body/fields.ts'
import { askPage, type NumberedList, requirePage } from './answers.ts'
import { listChanging } from './listing.ts'
import type { Ask, ListedRun, RunPage } from './rest-api.ts'

/** The maximum number of runs of a project. */
export const MAX_RUNS = 2_000_000

interface RunList extends NumberedList {
  /** Returns the run, and its earlier attempts. */
  readonly toRuns: (item: JsonObject) => readonly ListedRun[]
  /** Set for a list that begins with the newest run: it is read until all runs of a page are older. */
  readonly sinceNs?: bigint | undefined
}

/** Yields the runs of a list with numbered pages, even if it changes during reading. */
export async function* listNumbered(ask: Ask, list: RunList): AsyncGenerator<RunPage> {
  const fetch = async (number: number) => requirePage(list.path, await askPage(ask, list, number))
  for await (const page of listChanging({ path: list.path, fetch, maxItems: MAX_RUNS })) {
    const runs = page.items.flatMap(({ value }) => list.toRuns(value))
    const { sinceNs } = list
    yield { runs, total: sinceNs === undefined ? page.total : undefined, bytes: page.bytes }
    if (sinceNs !== undefined && runs.length > 0 && runs.every((run) => isOlder(run, sinceNs))) return
  }
}

export const isOlder = ({ createdAtNs }: Pick<ListedRun, 'createdAtNs'>, sinceNs: bigint): boolean =>
  createdAtNs !== undefined && createdAtNs < sinceNs

/** Returns a time in seconds or milliseconds since 1970 as nanoseconds; 0 is absent. */
export function unixTimeNs(value: unknown, unitsPerSecond: 1 | 1_000): bigint | undefined {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value <= 0) return undefined
  return BigInt(value) * (1_000_000_000n / BigInt(unitsPerSecond))
}

/** Returns a time as texts of an API have it, such as 2026-02-11T09:20:00.000Z; it is rounded down to milliseconds. */
export const isoTime = (timeNs: bigint): string => new Date(Number(timeNs / 1_000_000n)).toISOString()
/** Returns a time as `isoTime`, rounded down to seconds. */
export const isoSeconds = (timeNs: bigint): string => isoTime(timeNs).replace(/\.\d+/, '')
