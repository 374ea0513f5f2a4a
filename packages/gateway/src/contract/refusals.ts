import { type FieldViolation, GrpcCode } from '@penstock/otlp'

/**
 * The refusals that the gateway makes itself.
 *
 * Clients drop a batch if its refusal is not retryable. A row that is not retryable may therefore be used only if it is
 * certain that it applies to this request. Rows with `retry` send Retry-After over HTTP and RetryInfo over gRPC.
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
  unsupported_encoding: { http: 415, grpc: GrpcCode.UNIMPLEMENTED, retry: false },
  bad_request: { http: 400, grpc: GrpcCode.INVALID_ARGUMENT, retry: false },
} as const satisfies Record<string, { http: number; grpc: number; retry: boolean }>
export type RefusalKind = keyof typeof refusalTable

/** A refusal of one request: a row of the table and its details. */
export interface Refusal {
  readonly kind: RefusalKind
  /** An English text for the operator of the client. Never contains any part of a secret. */
  readonly message: string
  /** The value of `WWW-Authenticate` (P-12). */
  readonly challenge?: string
  /** Whole seconds, at least 1; on `retry` rows only (P-13). */
  readonly retryAfterSeconds?: number
}

/**
 * Returns the detail for the log: for a body that is too large, the limit that it exceeds, because its wire length
 * alone would not explain the refusal. `undefined` for other refusals.
 */
export function detailOf({ kind, message }: Refusal): string | undefined {
  return kind === 'body_too_large' ? message : undefined
}

/** Returns the field violations of google.rpc.BadRequest for a body that is not OTLP; otherwise `undefined`. */
export function violationsOf({ kind, message }: Refusal): readonly FieldViolation[] | undefined {
  return kind === 'bad_body' ? [{ field: 'body', description: message }] : undefined
}
