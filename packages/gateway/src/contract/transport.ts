/** The protocol over which a client sends telemetry: OTLP/HTTP or OTLP/gRPC. */
export type Transport = 'http' | 'grpc'
