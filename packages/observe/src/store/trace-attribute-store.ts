import { sql, type Transaction } from 'kysely'
import { inChunks } from '../schema/chunks.ts'
import type { ObserveTables } from '../schema/tables.ts'
import { fromBytes, toBytes } from './attribute-pairs.ts'

type Tx = Transaction<ObserveTables>

/** Traces with more attributes have no set; a search reads their spans. */
const MAX_PAIRS_PER_TRACE = 20_000

/** The attributes of the spans of one request in one trace. */
export interface TraceAttributes {
  readonly traceId: string
  readonly pairs: Iterable<number>
}

/**
 * Adds to the attributes that searches look up before they read spans. Call it before the spans are added to `trace_parts`: a
 * trace that is there without a set has spans that were stored earlier, so its set would be incomplete.
 */
export async function addTraceAttributes(
  tx: Tx,
  sliceId: number,
  additions: readonly TraceAttributes[],
): Promise<void> {
  const pairsByTrace = new Map<string, Set<number>>()
  for (const { traceId, pairs } of additions) {
    const known = pairsByTrace.get(traceId) ?? new Set()
    pairsByTrace.set(traceId, known)
    for (const pair of pairs) known.add(pair)
  }
  await inChunks([...pairsByTrace.keys()], async (traceIds) => {
    const stored = await tx
      .selectFrom('trace_parts as part')
      .leftJoin('trace_attributes as attributes', 'attributes.trace_id', 'part.trace_id')
      .select(['part.trace_id', 'attributes.pairs', 'attributes.trace_id as set_of'])
      .where('part.trace_id', 'in', traceIds)
      .where('part.service_id', '=', 0)
      .execute()
    const incomplete = new Set(
      stored.filter(({ set_of, pairs }) => set_of === null || pairs === null).map(({ trace_id }) => trace_id),
    )
    for (const { trace_id, pairs } of stored) {
      if (pairs !== null) for (const pair of fromBytes(pairs)) pairsByTrace.get(trace_id)!.add(pair)
    }
    const rows = traceIds
      .filter((traceId) => !incomplete.has(traceId))
      .map((traceId) => {
        const pairs = pairsByTrace.get(traceId)!
        return {
          trace_id: traceId,
          pairs: pairs.size > MAX_PAIRS_PER_TRACE ? null : toBytes(pairs),
          used_slice_id: sliceId,
        }
      })
    if (rows.length === 0) return
    await tx
      .insertInto('trace_attributes')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .column('trace_id')
          .doUpdateSet({ pairs: sql`excluded.pairs`, used_slice_id: sql`excluded.used_slice_id` }),
      )
      .execute()
  })
}
