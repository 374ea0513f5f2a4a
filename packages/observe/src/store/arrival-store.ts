import { type Insertable, sql, type Transaction } from 'kysely'
import { writePipelineSpans } from '../runs/pipeline-row-store.ts'
import { inChunks } from '../schema/chunks.ts'
import type { ObserveTables, TracePartTable } from '../schema/tables.ts'
import {
  type Arrival,
  countRows,
  type Document,
  type ItemContext,
  type SeriesDraft,
  type SpanDraft,
} from './arrival.ts'
import { addTraceAttributes } from './trace-attribute-store.ts'

type Tx = Transaction<ObserveTables>

/** A slice ends after a minute, or when it has this many rows, so that retention deletes little at a time. */
const SLICE_MS = 60_000
const SLICE_ROWS = 10_000

/** The service id of the row that represents the whole trace. */
export const WHOLE_TRACE = 0

export async function insertArrivals(tx: Tx, arrivals: readonly Arrival[], nowMs: number): Promise<void> {
  const rows = arrivals.reduce((sum, arrival) => sum + countRows(arrival), 0)
  if (rows === 0) return
  const sliceId = await sliceFor(tx, nowMs, rows)
  const spans = arrivals.flatMap((arrival) => arrival.spans)
  const logRecords = arrivals.flatMap((arrival) => arrival.logRecords)
  const points = arrivals.flatMap((arrival) => arrival.points)
  const series = distinct(points.map((point) => point.series))
  const contexts = new Set([...spans, ...logRecords, ...series.values()].map(({ context }) => context))
  const columnsOf = await contextColumns(tx, sliceId, contexts)

  const firstSpanRowId = (await lastSpanRowId(tx)) + 1
  const numberedSpans = spans.map((span, index) => ({ ...span, rowId: firstSpanRowId + index }))
  await inChunks(numberedSpans, (chunk) =>
    tx
      .insertInto('spans')
      .values(
        chunk.map((span) => ({
          id: span.rowId,
          slice_id: sliceId,
          ...columnsOf(span.context),
          trace_id: span.traceId,
          parent_span_id: span.parentSpanId,
          name: span.name,
          status_code: span.statusCode,
          start_ns: span.startNs,
          json: span.json,
        })),
      )
      .execute(),
  )
  await addTraceAttributes(
    tx,
    sliceId,
    spans.flatMap(({ traceId, context, attributePairs }) => [
      { traceId, pairs: attributePairs },
      { traceId, pairs: context.resource.attributePairs },
    ]),
  )
  await addToTraces(
    tx,
    tracePartsOf(spans, sliceId, (span) => columnsOf(span.context).service_id),
  )
  await writePipelineSpans(
    tx,
    numberedSpans.flatMap(({ context, pipelineSpan, rowId }) =>
      pipelineSpan === undefined
        ? []
        : [{ span: pipelineSpan, serviceId: columnsOf(context).service_id, spanRowId: rowId }],
    ),
  )
  await inChunks(logRecords, (chunk) =>
    tx
      .insertInto('log_records')
      .values(
        chunk.map((record) => ({
          slice_id: sliceId,
          ...columnsOf(record.context),
          time_ns: record.timeNs,
          severity_number: record.severityNumber,
          trace_id: record.traceId,
          json: record.json,
        })),
      )
      .execute(),
  )
  const seriesIds = await idsOf(tx, 'series', sliceId, series, (draft) => seriesRow(draft, columnsOf))
  await inChunks(points, (chunk) =>
    tx
      .insertInto('points')
      .values(
        chunk.map(({ series, timeNs, json }) => ({
          slice_id: sliceId,
          series_id: seriesIds.get(series.key)!,
          time_ns: timeNs,
          json,
        })),
      )
      .execute(),
  )
}

/** Returns the last id that a span ever had. Ids are assigned here, because the rows of pipelines refer to them. */
async function lastSpanRowId(tx: Tx): Promise<number> {
  const { rows } = await sql<{ seq: number }>`select seq from sqlite_sequence where name = 'spans'`.execute(tx)
  return rows[0]?.seq ?? 0
}

async function sliceFor(tx: Tx, nowMs: number, rows: number): Promise<number> {
  const last = await tx.selectFrom('slices').selectAll().orderBy('id', 'desc').limit(1).executeTakeFirst()
  const isOpen =
    last !== undefined && last.rows < SLICE_ROWS && nowMs >= last.started_ms && nowMs < last.started_ms + SLICE_MS
  if (!isOpen) {
    const row = { started_ms: nowMs, rows }
    return (await tx.insertInto('slices').values(row).returning('id').executeTakeFirstOrThrow()).id
  }
  await tx
    .updateTable('slices')
    .set({ rows: last.rows + rows })
    .where('id', '=', last.id)
    .execute()
  return last.id
}

interface ContextColumns {
  readonly service_id: number
  readonly resource_id: number
  readonly scope_id: number
}

async function contextColumns(tx: Tx, sliceId: number, contexts: ReadonlySet<ItemContext>) {
  const services = new Map<string, string>()
  const documents = new Map<string, Document>()
  for (const { service, resource, scope } of contexts) {
    services.set(service, service)
    documents.set(resource.key, resource)
    documents.set(scope.key, scope)
  }
  const serviceIds = await idsOf(tx, 'services', sliceId, services, () => ({}))
  const documentIds = await idsOf(tx, 'documents', sliceId, documents, ({ json }) => ({ json }))
  const columns = new Map<ItemContext, ContextColumns>()
  for (const context of contexts) {
    columns.set(context, {
      service_id: serviceIds.get(context.service)!,
      resource_id: documentIds.get(context.resource.key)!,
      scope_id: documentIds.get(context.scope.key)!,
    })
  }
  return (context: ItemContext): ContextColumns => columns.get(context)!
}

function seriesRow(draft: SeriesDraft, columnsOf: (context: ItemContext) => ContextColumns): Record<string, unknown> {
  return {
    ...columnsOf(draft.context),
    name: draft.name,
    description: draft.description,
    unit: draft.unit,
    type: draft.type,
    aggregation_temporality: draft.aggregationTemporality,
    is_monotonic: draft.isMonotonic === null ? null : Number(draft.isMonotonic),
    attributes_json: draft.attributesJson,
  }
}

function distinct<Draft extends { readonly key: string }>(drafts: readonly Draft[]): Map<string, Draft> {
  return new Map(drafts.map((draft) => [draft.key, draft]))
}

/**
 * Returns the ids of rows that are stored once per key, and inserts missing ones. All are marked as used in this slice; in most
 * requests every row has that mark already and is not written.
 */
async function idsOf<Draft>(
  tx: Tx,
  table: 'services' | 'documents' | 'series',
  sliceId: number,
  drafts: ReadonlyMap<string, Draft>,
  columnsOf: (draft: Draft) => Record<string, unknown>,
): Promise<Map<string, number>> {
  const ids = new Map<string, number>()
  await inChunks([...drafts.keys()], async (keys) => {
    const found = await tx.selectFrom(table).select(['id', 'key', 'used_slice_id']).where('key', 'in', keys).execute()
    for (const { key, id } of found) ids.set(key, id)
    const unmarked = found.filter((row) => row.used_slice_id !== sliceId).map(({ id }) => id)
    if (unmarked.length > 0) {
      await tx.updateTable(table).set({ used_slice_id: sliceId }).where('id', 'in', unmarked).execute()
    }
    const missing = keys.filter((key) => !ids.has(key))
    if (missing.length === 0) return
    const rows = missing.map((key) => ({ key, used_slice_id: sliceId, ...columnsOf(drafts.get(key)!) }))
    const inserted = await tx
      .insertInto(table)
      .values(rows as Insertable<ObserveTables[typeof table]>[])
      .returning(['id', 'key'])
      .execute()
    for (const { key, id } of inserted) ids.set(key, id)
  })
  return ids
}

type TracePart = Insertable<TracePartTable>

function tracePartsOf(spans: readonly SpanDraft[], sliceId: number, serviceIdOf: (span: SpanDraft) => number) {
  const parts = new Map<string, TracePart>()
  for (const span of spans) {
    for (const serviceId of [WHOLE_TRACE, serviceIdOf(span)]) {
      const key = `${span.traceId} ${serviceId}`
      const part = parts.get(key)
      if (part === undefined) {
        parts.set(key, {
          trace_id: span.traceId,
          service_id: serviceId,
          first_ns: span.startNs,
          last_ns: span.endNs,
          spans: 1,
          errors: Number(span.isError),
          used_slice_id: sliceId,
        })
      } else {
        if (span.startNs < part.first_ns) part.first_ns = span.startNs
        if (span.endNs > part.last_ns) part.last_ns = span.endNs
        part.spans += 1
        part.errors += Number(span.isError)
      }
    }
  }
  return [...parts.values()]
}

async function addToTraces(tx: Tx, parts: readonly TracePart[]): Promise<void> {
  await inChunks(parts, (chunk) =>
    tx
      .insertInto('trace_parts')
      .values(chunk)
      .onConflict((conflict) =>
        conflict.columns(['trace_id', 'service_id']).doUpdateSet({
          first_ns: sql`min(first_ns, excluded.first_ns)`,
          last_ns: sql`max(last_ns, excluded.last_ns)`,
          spans: sql`spans + excluded.spans`,
          errors: sql`errors + excluded.errors`,
          used_slice_id: sql`excluded.used_slice_id`,
        }),
      )
      .execute(),
  )
}
