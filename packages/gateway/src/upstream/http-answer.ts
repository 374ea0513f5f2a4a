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
import type { Accepted, Answer, EncodedBody, Refused } from '../contract/answer.ts'
import { allAccepted } from '../contract/gateway-answers.ts'
import { retryAfterSeconds } from '../contract/retry-after.ts'
import type { IngestSignal } from '../contract/signals.ts'
import { type CredentialOwner, meaningOfGrpcCode, meaningOfHttpStatus, type StatusMeaning } from './status-codes.ts'

export interface HttpReply {
  readonly status: number
  /** The value of the header; '' if the reply does not have it. The same applies to the two headers below. */
  readonly contentType: string
  readonly contentEncoding: string
  readonly retryAfter: string
  readonly body: Uint8Array
  /** `too_long`: longer than the limit. `broken`: the connection or the deadline ended before the body. */
  readonly extent: 'whole' | 'too_long' | 'broken'
}

interface AnswerContext {
  readonly signal: IngestSignal
  /** The encoding of the request. */
  readonly encoding: Encoding
  readonly owner: CredentialOwner
  readonly nowMs: number
  readonly random: Random
}

/** Maps a reply of upstream to an answer (P-6, P-13 to P-15). The caller handles 2xx replies that broke off. */
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
  // In JSON, the reply to profiles has different field names.
  if (signal === 'profiles' && said === 'json') return { kind: 'accepted', partialSuccess: undefined, body: encoded }
  const partialSuccess = decoded(() => decodeExportResponse(signal === 'profiles' ? 'traces' : signal, body, said))
  if (partialSuccess === 'undecodable') return allAccepted
  return { kind: 'accepted', partialSuccess, body: encoded }
}

const emptyJson = '{}'
const emptyPartialJson = '{"partialSuccess":{}}'

/** Recognises the four usual bodies of a full success without decoding them (P-6). */
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

/**
 * Refines the meaning with the reply's body. A final refusal with a reply that is too long becomes 500. Otherwise the
 * gRPC code of the body is used if it is also final.
 */
function finalMeaning(meaning: StatusMeaning, reply: HttpReply, status: RpcStatus | undefined): StatusMeaning {
  const isFinal = meaning.cause === 'rejected' || meaning.cause === 'too_large'
  if (reply.extent === 'too_long' && isFinal) {
    return { cause: meaning.cause, httpStatus: 500, grpcCode: GrpcCode.INTERNAL }
  }
  if (meaning.cause !== 'rejected' || status === undefined) return meaning
  // The code in the body is more precise, unless gRPC clients would retry on it although the HTTP status is final.
  const agrees = status.code !== GrpcCode.OK && meaningOfGrpcCode(status.code, false, 'client').cause === 'rejected'
  return agrees ? { ...meaning, grpcCode: status.code } : meaning
}

/** Returns the google.rpc.Status of the reply, if it has one. An error page of a load balancer has none (P-14). */
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

/** Returns the wait that upstream asked for, or a random one. Never 0: some clients would retry immediately (P-13). */
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

/**
 * Returns the encoding named by the content type, or that of the request if there is none; `undefined` for other types.
 */
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
