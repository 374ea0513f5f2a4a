import { StatusCode } from '@penstock/otlp'
import type { Transaction } from 'kysely'
import type { ObserveTables } from '../schema/tables.ts'
import { toSqlInteger } from '../schema/time-range.ts'
import { type PlacedPipelineSpan, writePipelineSpans } from './pipeline-row-store.ts'
import { type PipelineSpan, toPipelineSpan } from './pipeline-span.ts'

const SPANS_PER_STEP = 500

/**
 * Derives runs and jobs from some of the spans that were stored before there were such rows, the latest first.
 *
 * @returns whether all of them have been read
 */
export async function rereadSome(tx: Transaction<ObserveTables>): Promise<boolean> {
  const progress = await tx.selectFrom('pipeline_rereads').select('before_span_row_id').executeTakeFirst()
  if (progress === undefined) return true
  const rows = await tx
    .selectFrom('spans')
    .innerJoin('documents', 'documents.id', 'spans.resource_id')
    .select(['spans.id', 'spans.service_id', 'spans.json', 'documents.json as resource_json'])
    .where('spans.id', '<', progress.before_span_row_id)
    .orderBy('spans.id', 'desc')
    .limit(SPANS_PER_STEP)
    .execute()
  const placed = rows.flatMap(({ id, service_id, json, resource_json }): PlacedPipelineSpan[] => {
    const span = fromJson(json, resource_json)
    return span === undefined ? [] : [{ span, serviceId: service_id, spanRowId: id }]
  })
  await writePipelineSpans(tx, placed)
  const last = rows.at(-1)
  if (last === undefined) await tx.deleteFrom('pipeline_rereads').execute()
  else await tx.updateTable('pipeline_rereads').set({ before_span_row_id: last.id }).execute()
  return last === undefined
}

function fromJson(json: string, resourceJson: string): PipelineSpan | undefined {
  const span = JSON.parse(json)
  return toPipelineSpan(
    {
      traceId: span.traceId,
      spanId: span.spanId,
      parentSpanId: span.parentSpanId ?? '',
      name: span.name ?? '',
      isError: span.status?.code === StatusCode.ERROR,
      startNs: toSqlInteger(BigInt(span.startTimeUnixNano ?? 0)),
      endNs: toSqlInteger(BigInt(span.endTimeUnixNano ?? 0)),
    },
    span.attributes,
    resourceJson,
  )
}
