import type { Log, Random } from '@penstock/runtime'
import { type AdmissionRequest, type Reason, WRONG_PATH } from '../contract/admission.ts'
import { type RefusalKind, refusalTable } from '../contract/refusals.ts'
import type { IngestSignal } from '../contract/signals.ts'
import type { WrongPathRequest } from '../contract/wrong-path.ts'
import { pathForReport } from '../enforcement/wrong-paths.ts'
import { LineThrottle } from './line-throttle.ts'

/** Clients choose their request ids, so only ids that can neither break nor fill a line are logged. */
const usableRequestId = /^[A-Za-z0-9._:/+=@-]{1,128}$/
const OWN_ID_CHARACTERS = 10

/** How a request ended. */
export interface Ending {
  /** The HTTP status, or the gRPC code if the transport is gRPC. */
  readonly status: number
  /** The wire bytes of the body that were read. */
  readonly bytes: number | undefined
  /** The whole milliseconds at the upstream, including the wait in the coalescer, if the request got that far. */
  readonly upstreamMs: number | undefined
  /** The text sent to the client, if it says more than the reason. */
  readonly detail?: string | undefined
}

/**
 * Logs one line per refused request, and if configured per accepted one (O-13). Refusals are throttled to one line in 10 s
 * of the monotonic clock per (source, reason, token id); the next line, or `sweep`, reports how many were suppressed (T-12).
 */
export class AccessLog {
  readonly #log: Log
  readonly #random: Random
  readonly #throttle = new LineThrottle()
  /** Lets callers skip the preparation of a line that would not be logged. */
  readonly logsAccepted: boolean

  /** @param settings `random` generates the ids of requests that have none */
  constructor(log: Log, settings: { readonly logAccepted: boolean; readonly random: Random }) {
    this.#log = log
    this.#random = settings.random
    this.logsAccepted = settings.logAccepted
  }

  /** `tokenId` is set only if the token's secret was right. `reason` is why the credential failed, else the kind of refusal. */
  refused(
    presented: AdmissionRequest,
    reason: Reason | RefusalKind,
    tokenId: string | undefined,
    ending: Ending,
    atMs: number,
  ): void {
    const suppressed = this.#throttle.suppressedBefore(presented.source, reason, tokenId, atMs)
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

  /** Logs a request with the valid token `tokenId` on a wrong path, limited as refusals are. */
  wrongPath(request: WrongPathRequest, tokenId: string, atMs: number): void {
    const { source, transport, suggestion, declaredBytes: bytes } = request
    const suppressed = this.#throttle.suppressedBefore(source, WRONG_PATH, tokenId, atMs)
    if (suppressed < 0) return
    const status = refusalTable.not_found[transport === 'grpc' ? 'grpc' : 'http']
    const presented = { ...request, signal: suggestion.signal }
    this.#log.warn(
      {
        event: 'ingest.refused',
        reason: WRONG_PATH,
        path: pathForReport(request),
        right_paths: suggestion.paths,
        ...this.#fieldsOf(presented, tokenId, { status, bytes, upstreamMs: undefined }),
        ...(suppressed > 0 && { suppressed }),
      },
      'a request with a valid token was sent to a path that accepts no telemetry',
    )
  }

  accepted(presented: AdmissionRequest, tokenId: string | undefined, ending: Ending): void {
    if (!this.logsAccepted) return
    this.#log.info(
      { event: 'ingest.accepted', ...this.#fieldsOf(presented, tokenId, ending) },
      'a request was accepted',
    )
  }

  /** Logs what was suppressed in floods that are over. Call it every few seconds. */
  sweep(atMs: number): void {
    for (const { source, reason, tokenId, count } of this.#throttle.sweep(atMs)) {
      this.#log.warn(
        { event: 'ingest.refused', reason, source, token_id: tokenId, suppressed: count },
        'further requests were refused',
      )
    }
  }

  #fieldsOf(
    presented: Pick<AdmissionRequest, 'requestId' | 'source' | 'transport'> & { signal: IngestSignal | undefined },
    tokenId: string | undefined,
    { status, bytes, upstreamMs }: Ending,
  ) {
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

  /** Generates an id that only distinguishes lines of the log. */
  #ownId(): string {
    return Math.floor(this.#random() * 36 ** OWN_ID_CHARACTERS)
      .toString(36)
      .padStart(OWN_ID_CHARACTERS, '0')
  }
}
