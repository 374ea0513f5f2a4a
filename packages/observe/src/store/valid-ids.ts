import {
  type Exemplar,
  type ItemBySignal,
  isSpanId,
  isTraceId,
  type LogRecord,
  type Metric,
  type Span,
} from '@penstock/otlp'

type Item = ItemBySignal[keyof ItemBySignal]

/**
 * Returns an item without invalid ids: some senders write zeros where there is no span. A parent, a log record or an exemplar
 * loses the id, and a link without its ids is left out and counted as dropped. The ids of a span itself are not changed.
 */
export function withValidIds(item: Item): Item {
  if ('links' in item) return spanWithValidIds(item)
  if ('data' in item) return metricWithValidIds(item)
  return 'body' in item ? logRecordWithValidIds(item) : item
}

const validTraceId = (id: string): string => (id === '' || isTraceId(id) ? id : '')
const validSpanId = (id: string): string => (id === '' || isSpanId(id) ? id : '')

function spanWithValidIds(span: Span): Span {
  const parentSpanId = validSpanId(span.parentSpanId)
  const links = span.links.filter(({ traceId, spanId }) => isTraceId(traceId) && isSpanId(spanId))
  const dropped = span.links.length - links.length
  if (parentSpanId === span.parentSpanId && dropped === 0) return span
  return { ...span, parentSpanId, links, droppedLinksCount: span.droppedLinksCount + dropped }
}

function logRecordWithValidIds(record: LogRecord): LogRecord {
  const traceId = validTraceId(record.traceId)
  const spanId = validSpanId(record.spanId)
  return traceId === record.traceId && spanId === record.spanId ? record : { ...record, traceId, spanId }
}

function metricWithValidIds(metric: Metric): Metric {
  const { data } = metric
  if (data === undefined || data.type === 'summary') return metric
  if (data.dataPoints.every(({ exemplars }) => exemplars.every(hasValidIds))) return metric
  const dataPoints = data.dataPoints.map((point) => ({
    ...point,
    exemplars: point.exemplars.map(exemplarWithValidIds),
  }))
  return { ...metric, data: { ...data, dataPoints } as typeof data }
}

const hasValidIds = ({ traceId, spanId }: Exemplar): boolean =>
  validTraceId(traceId) === traceId && validSpanId(spanId) === spanId

const exemplarWithValidIds = (exemplar: Exemplar): Exemplar => ({
  ...exemplar,
  traceId: validTraceId(exemplar.traceId),
  spanId: validSpanId(exemplar.spanId),
})
