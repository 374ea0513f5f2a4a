import type { Signal } from './types.ts'

/** Where one signal goes and what its messages are called. */
export interface SignalRow {
  /** Path appended to an OTLP/HTTP base URL. */
  readonly httpPath: string
  /** Full gRPC method. */
  readonly grpcMethod: string
  /** OTLP/JSON names of the three nested lists of a request. */
  readonly json: { readonly resources: string; readonly scopes: string; readonly items: string }
  /** Name of the rejected counter in the JSON of a partial success (protobuf: field 1 for all three). */
  readonly rejectedKey: string
}

export const signals = {
  traces: {
    httpPath: '/v1/traces',
    grpcMethod: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
    json: { resources: 'resourceSpans', scopes: 'scopeSpans', items: 'spans' },
    rejectedKey: 'rejectedSpans',
  },
  metrics: {
    httpPath: '/v1/metrics',
    grpcMethod: '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
    json: { resources: 'resourceMetrics', scopes: 'scopeMetrics', items: 'metrics' },
    rejectedKey: 'rejectedDataPoints',
  },
  logs: {
    httpPath: '/v1/logs',
    grpcMethod: '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
    json: { resources: 'resourceLogs', scopes: 'scopeLogs', items: 'logRecords' },
    rejectedKey: 'rejectedLogRecords',
  },
} as const satisfies Record<Signal, SignalRow>

/** In the order every listing and output uses. */
export const signalNames = Object.keys(signals) as Signal[]

/** One value per signal, made in listing order. */
export function perSignal<Value>(make: (signal: Signal) => Value): Record<Signal, Value> {
  return Object.fromEntries(signalNames.map((signal) => [signal, make(signal)])) as Record<Signal, Value>
}
