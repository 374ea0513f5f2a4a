import { type Encoding, encodeRpcStatus } from '@penstock/otlp'
import type { Random } from '@penstock/runtime'
import type { Accepted, Refused, RefusedCause } from './answer.ts'
import { type Refusal, refusalTable, violationsOf } from './refusals.ts'
import { retryAfterSeconds } from './retry-after.ts'

/** Full success without a warning (P-6). */
export const allAccepted: Accepted = { kind: 'accepted', partialSuccess: undefined, body: undefined }

/** Replaces the random source for rows of the table that state no wait, which need no random number. */
const noRandom: Random = () => 0

/**
 * Returns the answer to an admitted call that the gateway itself refuses.
 *
 * If the client's `encoding` is known, the answer to a refused body contains a google.rpc.Status that describes the problem.
 */
export function gatewayRefusal(
  refusal: Refusal,
  cause: RefusedCause,
  random: Random = noRandom,
  encoding?: Encoding,
): Refused {
  const { kind, message } = refusal
  const { http, grpc, retry } = refusalTable[kind]
  return {
    kind: 'refused',
    cause,
    httpStatus: http,
    grpcCode: grpc,
    message,
    retryAfter: retry ? (refusal.retryAfterSeconds ?? retryAfterSeconds(random)) : undefined,
    status: encoding && statusOf(refusal, grpc, encoding),
  }
}

/** Returns an encoded status only if it adds something to code and message. */
function statusOf(refusal: Refusal, code: number, encoding: Encoding): Refused['status'] {
  const fieldViolations = violationsOf(refusal)
  if (fieldViolations === undefined) return undefined
  const status = { code, message: refusal.message, retryDelayMs: undefined, fieldViolations }
  return { encoding, bytes: encodeRpcStatus(status, encoding) }
}

/**
 * The answer that ends a call after its client has gone, so that its reservation is released. The metrics of upstream
 * compare answers with this object and do not count such calls.
 */
export const clientGone: Refused = gatewayRefusal({ kind: 'upstream_broke', message: 'the client has gone' }, 'unknown')
