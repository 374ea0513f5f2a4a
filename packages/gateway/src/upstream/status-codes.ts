import { GrpcCode } from '@penstock/otlp'
import type { Refused } from '../ingest/answer.ts'

/** What an upstream's status says of the data, and what clients of either protocol are told. */
export type StatusMeaning = Pick<Refused, 'cause' | 'httpStatus' | 'grpcCode'>

/** Whose credential upstream has seen: ours, or the client's own that we passed on. */
export type CredentialOwner = 'gateway' | 'client'

const throttled: StatusMeaning = { cause: 'throttled', httpStatus: 503, grpcCode: GrpcCode.UNAVAILABLE }
const broke: StatusMeaning = { cause: 'unknown', httpStatus: 502, grpcCode: GrpcCode.UNAVAILABLE }
/** The paths and methods are ours, so the client's request cannot be to blame: retryable, and an alarm. */
const misplaced: StatusMeaning = throttled
const ourCredential: StatusMeaning = { cause: 'credential', httpStatus: 503, grpcCode: GrpcCode.UNAVAILABLE }
const unauthenticated: StatusMeaning = { cause: 'credential', httpStatus: 401, grpcCode: GrpcCode.UNAUTHENTICATED }
const forbidden: StatusMeaning = { cause: 'credential', httpStatus: 403, grpcCode: GrpcCode.PERMISSION_DENIED }

/**
 * gRPC code of an upstream → what it means. Codes that OTLP lets clients retry become 429, 502, 503 or 504, every
 * other one a status that they do not retry. Rows absent from here: 7 and 16 (credentials), 8 (RetryInfo decides).
 *
 * `unknown` where the code leaves open whether part of the data was taken.
 *
 * @see https://opentelemetry.io/docs/specs/otlp/#failures, spec/otlp-gateway.md 1.1 P-14 and 1.3
 */
const byGrpcCode: Readonly<Record<number, Omit<StatusMeaning, 'grpcCode'>>> = {
  [GrpcCode.CANCELLED]: { cause: 'unknown', httpStatus: 502 },
  [GrpcCode.UNKNOWN]: { cause: 'rejected', httpStatus: 500 },
  [GrpcCode.INVALID_ARGUMENT]: { cause: 'rejected', httpStatus: 400 },
  [GrpcCode.DEADLINE_EXCEEDED]: { cause: 'unknown', httpStatus: 504 },
  // 404 would tell an HTTP client that it has the wrong path.
  [GrpcCode.NOT_FOUND]: { cause: 'rejected', httpStatus: 400 },
  [GrpcCode.ALREADY_EXISTS]: { cause: 'rejected', httpStatus: 409 },
  [GrpcCode.FAILED_PRECONDITION]: { cause: 'rejected', httpStatus: 400 },
  [GrpcCode.ABORTED]: { cause: 'unknown', httpStatus: 502 },
  [GrpcCode.OUT_OF_RANGE]: { cause: 'unknown', httpStatus: 502 },
  [GrpcCode.INTERNAL]: { cause: 'rejected', httpStatus: 500 },
  [GrpcCode.UNAVAILABLE]: { cause: 'throttled', httpStatus: 503 },
  [GrpcCode.DATA_LOSS]: { cause: 'unknown', httpStatus: 502 },
}

/** For any code but 0. */
export function meaningOfGrpcCode(code: number, hasRetryInfo: boolean, owner: CredentialOwner): StatusMeaning {
  switch (code) {
    case GrpcCode.UNAUTHENTICATED:
      return owner === 'gateway' ? ourCredential : unauthenticated
    case GrpcCode.PERMISSION_DENIED:
      return owner === 'gateway' ? ourCredential : forbidden
    case GrpcCode.UNIMPLEMENTED:
      return misplaced
    case GrpcCode.RESOURCE_EXHAUSTED:
      return hasRetryInfo
        ? { cause: 'throttled', httpStatus: 429, grpcCode: code }
        : { cause: 'too_large', httpStatus: 413, grpcCode: code }
    default:
      return { ...(byGrpcCode[code] ?? { cause: 'rejected', httpStatus: 500 }), grpcCode: code }
  }
}

/** HTTP status of an upstream → what it means; rows absent from here follow `meaningOfHttpStatus`. */
const byHttpStatus: Readonly<Record<number, StatusMeaning>> = {
  404: misplaced,
  405: misplaced,
  408: throttled,
  413: { cause: 'too_large', httpStatus: 413, grpcCode: GrpcCode.RESOURCE_EXHAUSTED },
  429: { cause: 'throttled', httpStatus: 429, grpcCode: GrpcCode.UNAVAILABLE },
  502: broke,
  503: throttled,
  504: { cause: 'unknown', httpStatus: 504, grpcCode: GrpcCode.DEADLINE_EXCEEDED },
}

/** Of an OTLP/HTTP upstream, for any status but 2xx (P-14). A redirect has taken nothing, but is no answer to relay. */
export function meaningOfHttpStatus(status: number, owner: CredentialOwner): StatusMeaning {
  if (status === 401) return owner === 'gateway' ? ourCredential : unauthenticated
  if (status === 403) return owner === 'gateway' ? ourCredential : forbidden
  const known = byHttpStatus[status]
  if (known !== undefined) return known
  if (status < 400 || status > 599) return broke
  if (status >= 520) return throttled
  return {
    cause: 'rejected',
    httpStatus: status,
    grpcCode: status < 500 ? GrpcCode.INVALID_ARGUMENT : GrpcCode.UNKNOWN,
  }
}

/**
 * Of a gRPC upstream whose reply carries no usable `grpc-status` (P-25): as a rule some proxy before it speaks. A 200
 * is a reply that broke off before its trailers.
 */
export function meaningWithoutGrpcStatus(httpStatus: number, owner: CredentialOwner): StatusMeaning {
  const meaning = meaningOfHttpStatus(httpStatus, owner)
  if (httpStatus === 504) return { ...meaning, grpcCode: GrpcCode.UNAVAILABLE }
  return meaning.cause === 'rejected' ? { ...meaning, grpcCode: GrpcCode.UNKNOWN } : meaning
}

/** 2, 3 or 4 seconds, for an answer that must name a wait where upstream has named none (P-13). */
export function retryAfterSeconds(random: () => number): number {
  return 2 + Math.floor(random() * 3)
}
