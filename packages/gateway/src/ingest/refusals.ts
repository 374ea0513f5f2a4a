import { type FieldViolation, GrpcCode } from '@penstock/otlp'

/**
 * The answers we make ourselves.
 *
 * A client drops a batch on anything that is not retryable, so such a row may be used only when it is true of this very
 * request. `retry` rows carry Retry-After over HTTP and RetryInfo over gRPC.
 *
 * @see spec/otlp-gateway.md 1.3
 */
export const refusalTable = {
  unauthenticated: { http: 401, grpc: GrpcCode.UNAUTHENTICATED, retry: false },
  forbidden: { http: 403, grpc: GrpcCode.PERMISSION_DENIED, retry: false },
  grace_hold: { http: 503, grpc: GrpcCode.UNAVAILABLE, retry: true },
  body_too_large: { http: 413, grpc: GrpcCode.RESOURCE_EXHAUSTED, retry: false },
  bad_body: { http: 400, grpc: GrpcCode.INVALID_ARGUMENT, retry: false },
  over_limit: { http: 429, grpc: GrpcCode.UNAVAILABLE, retry: true },
  overloaded: { http: 503, grpc: GrpcCode.UNAVAILABLE, retry: true },
  draining: { http: 503, grpc: GrpcCode.UNAVAILABLE, retry: true },
  store_unreadable: { http: 503, grpc: GrpcCode.UNAVAILABLE, retry: true },
  upstream_credential: { http: 503, grpc: GrpcCode.UNAVAILABLE, retry: true },
  upstream_misplaced: { http: 503, grpc: GrpcCode.UNAVAILABLE, retry: true },
  upstream_unreachable: { http: 503, grpc: GrpcCode.UNAVAILABLE, retry: true },
  upstream_broke: { http: 502, grpc: GrpcCode.UNAVAILABLE, retry: false },
  upstream_slow: { http: 504, grpc: GrpcCode.DEADLINE_EXCEEDED, retry: false },
  internal: { http: 503, grpc: GrpcCode.UNAVAILABLE, retry: true },
  not_found: { http: 404, grpc: GrpcCode.UNIMPLEMENTED, retry: false },
  method_not_allowed: { http: 405, grpc: GrpcCode.UNIMPLEMENTED, retry: false },
  unsupported_media_type: { http: 415, grpc: GrpcCode.INVALID_ARGUMENT, retry: false },
  bad_request: { http: 400, grpc: GrpcCode.INVALID_ARGUMENT, retry: false },
} as const satisfies Record<string, { http: number; grpc: number; retry: boolean }>
export type RefusalKind = keyof typeof refusalTable

/** A row of the table, with what is particular to one request. */
export interface Refusal {
  readonly kind: RefusalKind
  /** English, for whoever runs the client; never any part of a secret. */
  readonly message: string
  /** Value of `WWW-Authenticate` (P-12). */
  readonly challenge?: string
  /** Whole seconds, at least 1; on `retry` rows only (P-13). */
  readonly retryAfterSeconds?: number
}

/** Returns what the log says beside the kind: the limit that a body is over. Its wire size alone would not explain it. */
export function detailOf({ kind, message }: Refusal): string | undefined {
  return kind === 'body_too_large' ? message : undefined
}

/** What a google.rpc.BadRequest says of the request beside the message: of a body that is no OTLP, where to look. */
export function violationsOf({ kind, message }: Refusal): readonly FieldViolation[] | undefined {
  return kind === 'bad_body' ? [{ field: 'body', description: message }] : undefined
}
