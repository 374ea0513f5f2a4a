import type { OtlpRequest, Signal } from '@penstock/otlp'

/** The nouns for the items of a request. Sent requests of metrics are counted in metrics, not in data points. */
export const itemNouns: Readonly<Record<Signal, string>> = { traces: 'span', metrics: 'metric', logs: 'log record' }

export function itemsIn(request: OtlpRequest): number {
  let count = 0
  for (const { scopes } of request.resources) {
    for (const { items } of scopes) count += items.length
  }
  return count
}

export function dataPointsIn(request: OtlpRequest<'metrics'>): number {
  let count = 0
  for (const { scopes } of request.resources) {
    for (const { items } of scopes) {
      for (const { data } of items) count += data?.dataPoints.length ?? 0
    }
  }
  return count
}
