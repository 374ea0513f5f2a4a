import type { Random } from '@penstock/runtime'
import type { Refused, RefusedCause } from '../ingest/answer.ts'
import { type RefusalKind, refusalTable } from '../ingest/refusals.ts'
import { retryAfterSeconds } from './status-codes.ts'

/** An answer of ours in place of upstream's (table 1.3). */
export function ownRefusal(kind: RefusalKind, cause: RefusedCause, message: string, random: Random): Refused {
  const { http, grpc, retry } = refusalTable[kind]
  return {
    kind: 'refused',
    cause,
    httpStatus: http,
    grpcCode: grpc,
    message,
    retryAfter: retry ? retryAfterSeconds(random) : undefined,
    status: undefined,
  }
}

/** Ends a call whose client no longer listens, so that what was reserved for it is given back. */
export const clientGone: Refused = ownRefusal('upstream_broke', 'unknown', 'the client has gone', () => 0)
