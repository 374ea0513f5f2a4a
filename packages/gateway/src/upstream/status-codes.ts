import { GrpcCode } from '@penstock/otlp'
import type { Refused } from '../contract/answer.ts'

/** The meaning of a status of upstream: its cause, and the status for HTTP and gRPC clients. */
export type StatusMeaning = Pick<Refused, 'cause' | 'httpStatus' | 'grpcCode'>

/**
 * The owner of the credential that upstream received: the gateway, or the client if its credential is passed on.
 */
export type CredentialOwner = 'gateway' | 'client'

const throttled: StatusMeaning = { cause: 'throttled', httpStatus: 503, grpcCode: GrpcCode.UNAVAILABLE }
const brokenOff: StatusMeaning = { cause: 'unknown', httpStatus: 502, grpcCode: GrpcCode.UNAVAILABLE }
/**
 * Upstream does not know the path or method. The gateway chose them, not the client, so this is retryable and an alarm.
 */
const unknownPath: StatusMeaning = throttled
const ourCredential: StatusMeaning = { cause: 'credential', httpStatus: 503, grpcCode: GrpcCode.UNAVAILABLE }
const unauthenticated: StatusMeaning = { cause: 'credential', httpStatus: 401, grpcCode: GrpcCode.UNAUTHENTICATED }
const forbidden: StatusMeaning = { cause: 'credential', httpStatus: 403, grpcCode: GrpcCode.PERMISSION_DENIED }

/**
 * The meaning of a gRPC code of upstream (P-14). Codes that OTLP clients may retry map to 429, 502, 503 or 504, all
 * others to a status that clients do not retry. `meaningOfGrpcCode` handles 7 and 16 (credentials), 8 (depends on
 * RetryInfo) and 12.
 *
 * The cause is `unknown` if the code does not tell whether part of the data was accepted.
 *
 * @see https://opentelemetry.io/docs/specs/otlp/#failures
 */
const byGrpcCode: Readonly<Record<number, Omit<StatusMeaning, 'grpcCode'>>> = {
  [GrpcCode.CANCELLED]: { cause: 'unknown', httpStatus: 502 },
  [GrpcCode.UNKNOWN]: { cause: 'rejected', httpStatus: 500 },
  [GrpcCode.INVALID_ARGUMENT]: { cause: 'rejected', httpStatus: 400 },
  [GrpcCode.DEADLINE_EXCEEDED]: { cause: 'unknown', httpStatus: 504 },
  // 404 would tell an HTTP client that its path is wrong.
  [GrpcCode.NOT_FOUND]: { cause: 'rejected', httpStatus: 400 },
  [GrpcCode.ALREADY_EXISTS]: { cause: 'rejected', httpStatus: 409 },
  [GrpcCode.FAILED_PRECONDITION]: { cause: 'rejected', httpStatus: 400 },
  [GrpcCode.ABORTED]: { cause: 'unknown', httpStatus: 502 },
  [GrpcCode.OUT_OF_RANGE]: { cause: 'unknown', httpStatus: 502 },
  [GrpcCode.INTERNAL]: { cause: 'rejected', httpStatus: 500 },
  [GrpcCode.UNAVAILABLE]: { cause: 'throttled', httpStatus: 503 },
  [GrpcCode.DATA_LOSS]: { cause: 'unknown', httpStatus: 502 },
}

/** Returns the meaning of any gRPC code except 0. */
export function meaningOfGrpcCode(code: number, hasRetryInfo: boolean, owner: CredentialOwner): StatusMeaning {
  switch (code) {
    case GrpcCode.UNAUTHENTICATED:
      return owner === 'gateway' ? ourCredential : unauthenticated
    case GrpcCode.PERMISSION_DENIED:
      return owner === 'gateway' ? ourCredential : forbidden
    case GrpcCode.UNIMPLEMENTED:
      return unknownPath
    case GrpcCode.RESOURCE_EXHAUSTED:
      return hasRetryInfo
        ? { cause: 'throttled', httpStatus: 429, grpcCode: code }
        : { cause: 'too_large', httpStatus: 413, grpcCode: code }
    default:
      return { ...(byGrpcCode[code] ?? { cause: 'rejected', httpStatus: 500 }), grpcCode: code }
  }
}

/** The meaning of an HTTP status of upstream. `meaningOfHttpStatus` handles all other statuses. */
const byHttpStatus: Readonly<Record<number, StatusMeaning>> = {
  404: unknownPath,
  405: unknownPath,
  408: throttled,
  413: { cause: 'too_large', httpStatus: 413, grpcCode: GrpcCode.RESOURCE_EXHAUSTED },
  429: { cause: 'throttled', httpStatus: 429, grpcCode: GrpcCode.UNAVAILABLE },
  502: brokenOff,
  503: throttled,
  504: { cause: 'unknown', httpStatus: 504, grpcCode: GrpcCode.DEADLINE_EXCEEDED },
}

/**
 * Returns the meaning of any HTTP status of an OTLP/HTTP upstream except 2xx (P-14). Redirects are not followed or
 * passed on.
 */
export function meaningOfHttpStatus(status: number, owner: CredentialOwner): StatusMeaning {
  if (status === 401) return owner === 'gateway' ? ourCredential : unauthenticated
  if (status === 403) return owner === 'gateway' ? ourCredential : forbidden
  const known = byHttpStatus[status]
  if (known !== undefined) return known
  if (status < 400 || status > 599) return brokenOff
  if (status >= 520) return throttled
  return {
    cause: 'rejected',
    httpStatus: status,
    grpcCode: status < 500 ? GrpcCode.INVALID_ARGUMENT : GrpcCode.UNKNOWN,
  }
}

/**
 * Returns the meaning of a reply without a usable `grpc-status` (P-25), which usually comes from a proxy in front of a
 * gRPC upstream. A status of 200 means that the reply broke off before its trailers.
 */
export function meaningWithoutGrpcStatus(httpStatus: number, owner: CredentialOwner): StatusMeaning {
  const meaning = meaningOfHttpStatus(httpStatus, owner)
  if (httpStatus === 504) return { ...meaning, grpcCode: GrpcCode.UNAVAILABLE }
  return meaning.cause === 'rejected' ? { ...meaning, grpcCode: GrpcCode.UNKNOWN } : meaning
}
