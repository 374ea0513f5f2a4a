import {
  contentTypes,
  decodeExportResponse,
  decodeRpcStatus,
  type Encoding,
  GrpcCode,
  OtlpDecodeError,
  type RpcStatus,
} from '@penstock/otlp'
import type { Random } from '@penstock/runtime'
import type { Accepted, Answer, EncodedBody, Refused } from '../ingest/answer.ts'
import { allAccepted } from '../ingest/gateway-answers.ts'
import type { IngestSignal } from '../ingest/signals.ts'
import {
  type CredentialOwner,
  meaningOfGrpcCode,
  meaningOfHttpStatus,
  retryAfterSeconds,
  type StatusMeaning,
} from './status-codes.ts'

export interface HttpReply {
  readonly status: number
  /** '' when the reply has none; as are the two below. */
  readonly contentType: string
  readonly contentEncoding: string
  readonly retryAfter: string
  readonly body: Uint8Array
  /** `too_long`: more than we read; `broken`: the connection or our patience ended before the body did. */
  readonly extent: 'whole' | 'too_long' | 'broken'
}

export interface AnswerContext {
  readonly signal: IngestSignal
  /** Of the request. */
  readonly encoding: Encoding
  readonly owner: CredentialOwner
  readonly nowMs: number
  readonly random: Random
}

/**
 * What an upstream's reply means for the client. A broken 2xx reply is none of ours to judge: the caller says why.
 *
 * @see spec/otlp-gateway.md 1.1 P-6, P-13 to P-15
 */
export function answerOf(reply: HttpReply, context: AnswerContext): Answer {
  const isSuccess = reply.status >= 200 && reply.status < 300
  return isSuccess ? successOf(reply, context) : refusalOf(reply, context)
}

function successOf(reply: HttpReply, { signal, encoding }: AnswerContext): Accepted {
  const { body } = reply
  if (reply.extent !== 'whole' || saysAllAccepted(body) || !isPlain(reply)) return allAccepted
  const said = encodingOf(reply.contentType, encoding)
  if (said === undefined) return allAccepted
  const encoded: EncodedBody = { encoding: said, bytes: body }
  // The reply to profiles has the same numbers, but names of its own.
  if (signal === 'profiles' && said === 'json') return { kind: 'accepted', partialSuccess: undefined, body: encoded }
  const partialSuccess = decoded(() => decodeExportResponse(signal === 'profiles' ? 'traces' : signal, body, said))
  if (partialSuccess === 'undecodable') return allAccepted
  return { kind: 'accepted', partialSuccess, body: encoded }
}

const emptyJson = '{}'
const emptyPartialJson = '{"partialSuccess":{}}'

/** The four ways to say it that need no decoder (P-6). */
function saysAllAccepted(body: Uint8Array): boolean {
  switch (body.length) {
    case 0:
      return true
    case emptyJson.length:
      return (body[0] === 0x0a && body[1] === 0) || (body[0] === 0x7b && body[1] === 0x7d)
    case emptyPartialJson.length:
      return body[0] === 0x7b && Buffer.from(body).toString('latin1') === emptyPartialJson
    default:
      return false
  }
}

function refusalOf(reply: HttpReply, context: AnswerContext): Refused {
  const meaning = meaningOfHttpStatus(reply.status, context.owner)
  const isRelayed = meaning.httpStatus === reply.status
  const status = isRelayed ? statusIn(reply, context) : undefined
  const { cause, httpStatus, grpcCode } = finalMeaning(meaning, reply, status?.decoded)
  return {
    kind: 'refused',
    cause,
    httpStatus,
    grpcCode,
    message: status?.decoded.message || messageOf(reply, meaning, context.owner),
    retryAfter: namesWait(httpStatus) ? retryAfterOf(reply.retryAfter, status?.decoded, context) : undefined,
    status: status?.encoded,
  }
}

/** What a refusal that the client must not repeat says of a reply we could not read whole: acceptance is unknown. */
function finalMeaning(meaning: StatusMeaning, reply: HttpReply, status: RpcStatus | undefined): StatusMeaning {
  const isFinal = meaning.cause === 'rejected' || meaning.cause === 'too_large'
  if (reply.extent === 'too_long' && isFinal) {
    return { cause: meaning.cause, httpStatus: 500, grpcCode: GrpcCode.INTERNAL }
  }
  if (meaning.cause !== 'rejected' || status === undefined) return meaning
  // The code in the body is the more exact one, unless it would make a client of gRPC repeat what HTTP calls final.
  const agrees = status.code !== GrpcCode.OK && meaningOfGrpcCode(status.code, false, 'client').cause === 'rejected'
  return agrees ? { ...meaning, grpcCode: status.code } : meaning
}

/** Upstream's own Status, if the reply holds one; an error page of some load balancer is none (P-14). */
function statusIn(
  reply: HttpReply,
  { encoding }: AnswerContext,
): { readonly decoded: RpcStatus; readonly encoded: EncodedBody } | undefined {
  if (reply.extent !== 'whole' || reply.body.length === 0 || !isPlain(reply)) return undefined
  const said = encodingOf(reply.contentType, encoding)
  if (said === undefined) return undefined
  const status = decoded(() => decodeRpcStatus(reply.body, said))
  if (status === 'undecodable' || (status.code === GrpcCode.OK && status.message === '')) return undefined
  return { decoded: status, encoded: { encoding: said, bytes: reply.body } }
}

function messageOf({ status }: HttpReply, meaning: StatusMeaning, owner: CredentialOwner): string {
  if (meaning.cause === 'credential' && owner === 'gateway') return 'the upstream does not accept the gateway itself'
  if (status === 404 || status === 405) return `the upstream does not serve OTLP where it should: HTTP ${status}`
  return `the upstream answered HTTP ${status}`
}

const namesWait = (httpStatus: number): boolean => httpStatus === 429 || httpStatus === 503

/** Never 0: some clients would then repeat without any delay (P-13). */
function retryAfterOf(
  header: string,
  status: RpcStatus | undefined,
  { nowMs, random }: AnswerContext,
): number | string {
  const text = header.trim()
  if (/^\d{1,9}$/.test(text)) return Math.max(1, Number(text))
  if (text.includes(',') && Date.parse(text) > nowMs) return text
  const delayMs = status?.retryDelayMs ?? 0
  return delayMs > 0 ? Math.ceil(delayMs / 1000) : retryAfterSeconds(random)
}

function isPlain({ contentEncoding }: HttpReply): boolean {
  return contentEncoding === '' || contentEncoding === 'identity'
}

/** Encoding a reply says it is in; that of the request when it says nothing; `undefined` for anything else. */
function encodingOf(contentType: string, requested: Encoding): Encoding | undefined {
  if (contentType === '') return requested
  if (contentType === contentTypes.protobuf) return 'protobuf'
  if (contentType === contentTypes.json) return 'json'
  const mediaType = contentType.split(';', 1)[0]!.trim().toLowerCase()
  if (mediaType === contentTypes.protobuf) return 'protobuf'
  return mediaType === contentTypes.json ? 'json' : undefined
}

function decoded<Value>(decode: () => Value): Value | 'undecodable' {
  try {
    return decode()
  } catch (error) {
    if (error instanceof OtlpDecodeError) return 'undecodable'
    throw error
  }
}
