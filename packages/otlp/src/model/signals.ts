import type { Signal } from './types.ts'

/** The destination of one signal, and the names in its messages. */
export interface SignalRow {
  /** The path that is appended to an OTLP/HTTP base URL. */
  readonly httpPath: string
  /** The full name of the gRPC method. */
  readonly grpcMethod: string
  /** The OTLP/JSON names of the three nested lists of a request. */
  readonly json: { readonly resources: string; readonly scopes: string; readonly items: string }
  /** The JSON name of the rejected counter in a partial success. In protobuf it is field 1 for all signals. */
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

/** The signals, in the order that all lists and outputs use. */
export const signalNames = Object.keys(signals) as Signal[]

/** Returns an object with one value per signal, made in the order of `signalNames`. */
export function perSignal<Value>(make: (signal: Signal) => Value): Record<Signal, Value> {
  return Object.fromEntries(signalNames.map((signal) => [signal, make(signal)])) as Record<Signal, Value>
}
