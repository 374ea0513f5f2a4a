import type { OtlpRequest, Signal } from '@penstock/otlp'

/** What the items of a request are called. A request of metrics is counted in metrics when sent. */
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
