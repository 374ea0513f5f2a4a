import { type Encoding, encodeRpcStatus } from '@penstock/otlp'
import type { Random } from '@penstock/runtime'
import { retryAfterSeconds } from '../upstream/status-codes.ts'
import type { Accepted, Refused, RefusedCause } from './answer.ts'
import { type Refusal, refusalTable, violationsOf } from './refusals.ts'

/** All of it, without remark (P-6). */
export const allAccepted: Accepted = { kind: 'accepted', partialSuccess: undefined, body: undefined }

/** For rows of the table that name no wait. */
const noChance: Random = () => 0

/**
 * A row of the table as the end of a call that had already been let in.
 *
 * `encoding`: of the client, whom a google.rpc.Status can then tell what is wrong with its body.
 *
 * @see spec/otlp-gateway.md 1.3
 */
export function gatewayRefusal(
  refusal: Refusal,
  cause: RefusedCause,
  random: Random = noChance,
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

/** Only where it says more than code and message do. */
function statusOf(refusal: Refusal, code: number, encoding: Encoding): Refused['status'] {
  const fieldViolations = violationsOf(refusal)
  if (fieldViolations === undefined) return undefined
  const status = { code, message: refusal.message, retryDelayMs: undefined, fieldViolations }
  return { encoding, bytes: encodeRpcStatus(status, encoding) }
}

/**
 * Ends a call whose client no longer listens, so that what was reserved for it is given back. This very object stands
 * for it: whoever counts what upstream did leaves it out.
 */
export const clientGone: Refused = gatewayRefusal({ kind: 'upstream_broke', message: 'the client has gone' }, 'unknown')
