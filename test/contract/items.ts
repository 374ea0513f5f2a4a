import type {
  ItemBySignal,
  LogRecord,
  Metric,
  OtlpRequest,
  ResourceGroup,
  ScopeGroup,
  Signal,
  Span,
} from '@penstock/otlp'
import { pointsOf } from './agent.ts'

/** A span, metric or log record with its resource and scope. */
export interface PlacedItem {
  readonly resource: ResourceGroup<unknown>['resource']
  readonly resourceSchemaUrl: string
  readonly scope: ScopeGroup<unknown>['scope']
  readonly scopeSchemaUrl: string
  readonly item: ItemBySignal[Signal]
}

export interface Items {
  readonly byKey: ReadonlyMap<string, PlacedItem>
  /** The keys that occurred more than once, one entry for each repetition. */
  readonly repeated: readonly string[]
}

/** Returns the items of all requests by key, independent of how they are split into requests. */
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

/** Returns a key for an item. Metrics have no ids; the exemplar of the first point identifies the measured pipeline or job. */
function keyOf(item: Span | Metric | LogRecord): string {
  if ('spanId' in item) return `${item.traceId} ${item.spanId}`
  const exemplar = pointsOf(item)[0]?.exemplars[0]
  return `${item.name} ${exemplar?.traceId} ${exemplar?.spanId}`
}
