import type { Ingest } from '../admission/ingest.ts'
import { tooLarge } from '../body/request-body.ts'
import type { Peer } from '../connections/listener-connection.ts'
import type { AdmissionRequest, Admitted } from '../contract/admission.ts'
import { type ExportCall, type FlatHeaders, noHeaders } from '../contract/export-call.ts'
import type { Refusal } from '../contract/refusals.ts'
import type { RequestHead } from '../contract/request-head.ts'
import type { IngestSignal } from '../contract/signals.ts'
import { describeSuggestion, suggestPath } from '../contract/suggest-path.ts'
import type { Cors } from './cors.ts'
import type { RequestTarget } from './http-path.ts'
import type { Reply } from './reply.ts'

/** How a version of HTTP delimits requests. */
export interface Framing {
  readonly requiresHost: boolean
  /** Whether the absence of both Content-Length and Transfer-Encoding means that there is no body. False for HTTP/2. */
  readonly declaresLength: boolean
}

/** The decision about a request, based on its head. */
type RequestVerdict =
  /** Read the body. `isEmpty`: there is no body; answer success without asking upstream (P-19). */
  | {
      readonly kind: 'receive'
      readonly admissionRequest: AdmissionRequest
      readonly call: ExportCall
      readonly isEmpty: boolean
    }
  | {
      readonly kind: 'refuse'
      readonly refusal: Refusal
      readonly extra: FlatHeaders
      /** The end of the body is uncertain, so the connection must be closed. */
      readonly isBroken: boolean
      /** `undefined` if the credential has not been checked. */
      readonly admissionRequest: AdmissionRequest | undefined
      /** The call, if the request was admitted. */
      readonly call: ExportCall | undefined
    }
  | { readonly kind: 'reply'; readonly reply: Reply }

interface RequestValidatorRules {
  readonly ingest: Ingest
  readonly cors: Cors
  readonly maxBodyBytes: number
  /** Whether the gateway reads bodies, so that it must support their content encoding (P-7). */
  readonly inspects: boolean
  readonly isReady: () => boolean
}

const allowPost: FlatHeaders = ['allow', 'POST, OPTIONS']
const allowGet: FlatHeaders = ['allow', 'GET, HEAD']
const codings: FlatHeaders = ['accept-encoding', 'gzip, identity']
const healthy: Reply = {
  status: 200,
  headers: ['content-type', 'text/plain', 'content-length', '3'],
  body: Buffer.from('ok\n'),
}

/**
 * Validates a request in the order path, method, credential, media type, content encoding, size, memory budget (P-2 to
 * P-8). Only health probes and preflights are answered without a credential.
 */
export class RequestValidator {
  readonly #rules: RequestValidatorRules
  readonly #tooLarge: Refusal

  constructor(rules: RequestValidatorRules) {
    this.#rules = rules
    this.#tooLarge = tooLarge(rules.maxBodyBytes, 'http')
  }

  validate(
    head: RequestHead,
    { route, path }: RequestTarget,
    request: { readonly method: string; readonly rawHeaders: readonly string[]; readonly peer: Peer },
    framing: Framing,
  ): RequestVerdict {
    if (head.hosts > 1 || (framing.requiresHost && head.hosts === 0)) {
      return broken('A request must have exactly one Host header.')
    }
    if (head.transferCodings !== '' && head.transferCodings !== 'chunked') {
      return broken('The only supported transfer coding is chunked.')
    }
    if (route === undefined) return this.#wrongPath(head, path, request.peer)
    if (route === 'health') return this.#health(request.method)
    if (request.peer.isReserved) return refused(tooManyConnections)
    if (request.method === 'OPTIONS') return this.#preflight(head, request.rawHeaders)
    if (request.method !== 'POST') {
      return refused({ kind: 'method_not_allowed', message: 'Only POST is allowed here.' }, allowPost)
    }
    const isBodyless = head.declaredBytes === undefined && framing.declaresLength && head.transferCodings === ''
    const declaredBytes = isBodyless ? 0 : head.declaredBytes
    const admissionRequest: AdmissionRequest = {
      transport: 'http',
      signal: route,
      credential: head.credential,
      origin: head.origin,
      certificateNames: request.peer.certificateNames,
      source: request.peer.source,
      userAgent: head.userAgent,
      requestId: head.requestId,
      declaredBytes,
    }
    const admission = this.#rules.ingest.admit(admissionRequest)
    if (!admission.admitted) return refused(admission.refusal, noHeaders, admissionRequest)
    return this.#admitted(admissionRequest, callOf(route, head, declaredBytes, admission), head)
  }

  #admitted(admissionRequest: AdmissionRequest, call: ExportCall, head: RequestHead): RequestVerdict {
    const { ingest, maxBodyBytes, inspects } = this.#rules
    if (head.encoding === undefined) {
      const message = 'Send application/x-protobuf or application/json.'
      return refused({ kind: 'unsupported_media_type', message }, noHeaders, admissionRequest, call)
    }
    if (inspects && call.contentEncoding !== '' && call.contentEncoding !== 'gzip') {
      const message = 'Send the body uncompressed, or with gzip.'
      return refused({ kind: 'unsupported_media_type', message }, codings, admissionRequest, call)
    }
    const { declaredBytes } = call
    if (declaredBytes === undefined || declaredBytes === 0)
      return { kind: 'receive', admissionRequest, call, isEmpty: declaredBytes === 0 }
    if (declaredBytes > maxBodyBytes) return refused(this.#tooLarge, noHeaders, admissionRequest, call)
    const refusal = ingest.refusalBeforeBody(call)
    return refusal === undefined
      ? { kind: 'receive', admissionRequest, call, isEmpty: false }
      : refused(refusal, noHeaders, admissionRequest, call)
  }

  /** The text does not depend on the credential, so that it does not reveal whether a token is valid. */
  #wrongPath(head: RequestHead, path: string, { source, isReserved }: Peer): RequestVerdict {
    const suggestion = suggestPath(path)
    const { credential, userAgent, requestId, declaredBytes } = head
    if (!isReserved) {
      const transport = 'http'
      const sent = { transport, path, suggestion, credential, source, userAgent, requestId, declaredBytes } as const
      this.#rules.ingest.recordWrongPath(sent)
    }
    return refused({ kind: 'not_found', message: `There is nothing at this path. ${describeSuggestion(suggestion)}` })
  }

  #preflight(head: RequestHead, rawHeaders: readonly string[]): RequestVerdict {
    const requested = headerOf(rawHeaders, 'access-control-request-headers')
    const headers = allowPost.concat(this.#rules.cors.preflightHeaders(head.origin, requested))
    return { kind: 'reply', reply: { status: 204, headers, body: undefined } }
  }

  #health(method: string): RequestVerdict {
    if (method !== 'GET' && method !== 'HEAD') {
      return refused({ kind: 'method_not_allowed', message: 'Only GET is allowed here.' }, allowGet)
    }
    if (this.#rules.isReady()) return { kind: 'reply', reply: healthy }
    return refused({ kind: 'draining', message: 'The gateway is not ready.' })
  }
}

export const tooManyConnections: Refusal = { kind: 'overloaded', message: 'The gateway has too many connections.' }

function broken(message: string): RequestVerdict {
  const refusal: Refusal = { kind: 'bad_request', message }
  return { kind: 'refuse', refusal, extra: noHeaders, isBroken: true, admissionRequest: undefined, call: undefined }
}

function refused(
  refusal: Refusal,
  extra = noHeaders,
  admissionRequest?: AdmissionRequest,
  call?: ExportCall,
): RequestVerdict {
  return { kind: 'refuse', refusal, extra, isBroken: false, admissionRequest, call }
}

function callOf(
  signal: IngestSignal,
  head: RequestHead,
  declaredBytes: number | undefined,
  admitted: Admitted,
): ExportCall {
  return {
    transport: 'http',
    signal,
    encoding: head.encoding ?? 'json',
    contentEncoding: head.contentEncoding,
    headers: head.forwarded,
    declaredBytes,
    deadlineMs: undefined,
    admitted,
    onClientGone: undefined,
    reservedBytes: 0,
    arriving: undefined,
    sentAtMs: undefined,
    trusted: noHeaders,
  }
}

function headerOf(rawHeaders: readonly string[], name: string): string | undefined {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.toLowerCase() === name) return rawHeaders[at + 1]
  }
  return undefined
}
