import type { Log, Random } from '@penstock/runtime'
import type { AdmissionRequest, Reason } from '../ingest/admission.ts'
import type { RefusalKind } from '../ingest/refusals.ts'
import { LineThrottle } from './line-throttle.ts'

/** Clients choose their request ids; a line takes what can neither break nor fill it. */
const usableRequestId = /^[A-Za-z0-9._:/+=@-]{1,128}$/
const OWN_ID_CHARACTERS = 10

/** How one request ended. */
export interface Ending {
  /** HTTP status, or gRPC code where the transport is gRPC. */
  readonly status: number
  /** Wire bytes of the body, as far as it was read. */
  readonly bytes: number | undefined
  /** Of requests that got that far, with the wait for company (6); whole milliseconds. */
  readonly upstreamMs: number | undefined
  /** The text sent to the client, if the reason alone does not say enough. */
  readonly detail?: string | undefined
}

/**
 * One line per refused request, and if wanted per accepted one. Refusals are thinned to one in 10 s per (source, reason,
 * token id); the next line, or `sweep`, says how many were left out.
 *
 * @see spec/otlp-gateway.md 8 (O-13), 2 (T-12)
 */
export class AccessLog {
  readonly #log: Log
  readonly #random: Random
  readonly #throttle = new LineThrottle()
  /** Accepted requests may be asked for before anything is put together for a line. */
  readonly logsAccepted: boolean

  /** `random` makes the ids of requests that came without one. */
  constructor(log: Log, settings: { readonly logAccepted: boolean; readonly random: Random }) {
    this.#log = log
    this.#random = settings.random
    this.logsAccepted = settings.logAccepted
  }

  /** `tokenId` only of a token whose secret was right. `reason`: why the credential failed, else the refusal's kind. */
  refused(
    presented: AdmissionRequest,
    reason: Reason | RefusalKind,
    tokenId: string | undefined,
    ending: Ending,
    nowMs: number,
  ): void {
    const suppressed = this.#throttle.suppressedBefore(presented.source, reason, tokenId, nowMs)
    if (suppressed < 0) return
    this.#log.warn(
      {
        event: 'ingest.refused',
        reason,
        ...(ending.detail !== undefined && { detail: ending.detail }),
        ...this.#fieldsOf(presented, tokenId, ending),
        ...(suppressed > 0 && { suppressed }),
      },
      'a request was refused',
    )
  }

  accepted(presented: AdmissionRequest, tokenId: string | undefined, ending: Ending): void {
    if (!this.logsAccepted) return
    this.#log.info(
      { event: 'ingest.accepted', ...this.#fieldsOf(presented, tokenId, ending) },
      'a request was accepted',
    )
  }

  /** To be called every few seconds: what was left out of a flood that is over would otherwise never be told. */
  sweep(nowMs: number): void {
    for (const { source, reason, tokenId, count } of this.#throttle.sweep(nowMs)) {
      this.#log.warn(
        { event: 'ingest.refused', reason, source, token_id: tokenId, suppressed: count },
        'further requests were refused',
      )
    }
  }

  #fieldsOf(presented: AdmissionRequest, tokenId: string | undefined, { status, bytes, upstreamMs }: Ending) {
    const { requestId } = presented
    return {
      request_id: requestId !== undefined && usableRequestId.test(requestId) ? requestId : this.#ownId(),
      source: presented.source,
      token_id: tokenId,
      signal: presented.signal,
      transport: presented.transport,
      bytes,
      status,
      upstream_ms: upstreamMs,
    }
  }

  /** Made for the line: it need only tell one line from another. */
  #ownId(): string {
    return Math.floor(this.#random() * 36 ** OWN_ID_CHARACTERS)
      .toString(36)
      .padStart(OWN_ID_CHARACTERS, '0')
  }
}
