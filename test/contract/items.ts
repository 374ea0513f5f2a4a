import type { ItemOf, LogRecord, Metric, OtlpRequest, ResourceGroup, ScopeGroup, Signal, Span } from '@penstock/otlp'
import { pointsOf } from './agent.ts'

/** A span, metric or log record with all that stands around it. */
export interface PlacedItem {
  readonly resource: ResourceGroup<unknown>['resource']
  readonly resourceSchemaUrl: string
  readonly scope: ScopeGroup<unknown>['scope']
  readonly scopeSchemaUrl: string
  readonly item: ItemOf[Signal]
}

export interface Items {
  readonly byKey: ReadonlyMap<string, PlacedItem>
  /** Keys that came more than once, each time. */
  readonly repeated: readonly string[]
}

/** The items of some requests, whatever chunks they came in. */
export function itemsByKey(requests: readonly OtlpRequest[]): Items {
  const byKey = new Map<string, PlacedItem>()
  const repeated: string[] = []
  for (const { resources } of requests) {
    for (const { resource, scopes, schemaUrl: resourceSchemaUrl } of resources) {
      for (const { scope, items, schemaUrl: scopeSchemaUrl } of scopes) {
        for (const item of items) {
          const key = keyOf(item)
          if (byKey.has(key)) repeated.push(key)
          byKey.set(key, { resource, resourceSchemaUrl, scope, scopeSchemaUrl, item })
        }
      }
    }
  }
  return { byKey, repeated }
}

/** Metrics have no ids; the exemplar of their first point leads to the pipeline or job it was measured on. */
function keyOf(item: Span | Metric | LogRecord): string {
  if ('spanId' in item) return `${item.traceId} ${item.spanId}`
  const exemplar = pointsOf(item)[0]?.exemplars[0]
  return `${item.name} ${exemplar?.traceId} ${exemplar?.spanId}`
}
