import type { IncomingHttpHeaders } from 'node:http2'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import {
  decodeExportResponse,
  decodeRpcStatus,
  GrpcCode,
  OtlpDecodeError,
  type PartialSuccess,
  type RpcStatus,
} from '@penstock/otlp'
import type { Accepted, Answer, EncodedBody, Refused } from '../contract/answer.ts'
import { allAccepted } from '../contract/gateway-answers.ts'
import { retryAfterSeconds } from '../contract/retry-after.ts'
import type { IngestSignal } from '../contract/signals.ts'
import { decodeGrpcMessage, PREFIX_BYTES } from '../wire/grpc-wire.ts'
import { type GrpcReply, MAX_REPLY_BYTES } from './grpc-exchange.ts'
import {
  type CredentialOwner,
  meaningOfGrpcCode,
  meaningWithoutGrpcStatus,
  type StatusMeaning,
} from './status-codes.ts'

const gunzipped = promisify(gunzip)

interface ReplyContext {
  readonly signal: IngestSignal
  readonly owner: CredentialOwner
  readonly random: () => number
}

/** Maps a complete reply to an answer (P-24, P-25). Returns a promise only if the reply has to be inflated. */
export function answerOf(reply: GrpcReply, context: ReplyContext): Answer | Promise<Answer> {
  const status = reply.trailers['grpc-status']
  if (status === '0') return accepted(reply, context.signal)
  if (status === undefined) return withoutStatus(reply.httpStatus, context)
  return refused(codeOf(status), reply, context)
}

function codeOf(status: string | string[]): number {
  const code = Number(status)
  return Number.isInteger(code) && code > 0 ? code : GrpcCode.UNKNOWN
}

function accepted({ framed, encoding }: GrpcReply, signal: IngestSignal): Answer | Promise<Answer> {
  // A reply that is too long loses its partial success message, but is still an acceptance.
  if (framed === undefined || framed.length <= PREFIX_BYTES) return allAccepted
  const message = framed.subarray(PREFIX_BYTES)
  if (framed[0] === 0) return acceptedWith(message, signal)
  return encoding === 'gzip' ? acceptedGzip(message, signal) : allAccepted
}

/** Reads a compressed reply. Some servers compress it like the request, although identity is requested. */
async function acceptedGzip(message: Uint8Array, signal: IngestSignal): Promise<Accepted> {
  try {
    return acceptedWith(await gunzipped(message, { maxOutputLength: MAX_REPLY_BYTES }), signal)
  } catch {
    return allAccepted
  }
}

function acceptedWith(message: Uint8Array, signal: IngestSignal): Accepted {
  const partialSuccess = partialSuccessOf(message, signal)
  if (partialSuccess === undefined) return allAccepted
  return { kind: 'accepted', partialSuccess, body: { encoding: 'protobuf', bytes: message } }
}

/**
 * Returns the partial success, if it can be decoded. In protobuf, profiles have the same fields as the other signals.
 */
function partialSuccessOf(message: Uint8Array, signal: IngestSignal): PartialSuccess | undefined {
  if (message.length === 2 && message[0] === 0x0a && message[1] === 0) return undefined
  try {
    return decodeExportResponse(signal === 'profiles' ? 'traces' : signal, message, 'protobuf')
  } catch (error) {
    if (error instanceof OtlpDecodeError) return undefined
    throw error
  }
}

function refused(code: number, { trailers }: GrpcReply, { owner, random }: ReplyContext): Refused {
  const status = statusBody(trailers['grpc-status-details-bin'])
  const details = status && decoded(status.bytes)
  const meaning = meaningOfGrpcCode(code, details?.retryDelayMs !== undefined, owner)
  const isRelayed = meaning.grpcCode === code
  return {
    kind: 'refused',
    ...meaning,
    message: isRelayed ? relayedText(code, trailers, details) : messageFor(meaning),
    retryAfter: waitFor(meaning, details?.retryDelayMs, random),
    status: isRelayed && details !== undefined ? status : undefined,
  }
}

function withoutStatus(httpStatus: number, { owner, random }: ReplyContext): Refused {
  const meaning = meaningWithoutGrpcStatus(httpStatus, owner)
  return {
    kind: 'refused',
    ...meaning,
    message:
      httpStatus === 200
        ? 'upstream broke off its answer'
        : `upstream answered HTTP ${httpStatus} without a gRPC status`,
    retryAfter: waitFor(meaning, undefined, random),
    status: undefined,
  }
}

function relayedText(code: number, trailers: IncomingHttpHeaders, details: RpcStatus | undefined): string {
  const text = trailers['grpc-message']
  if (typeof text === 'string') return decodeGrpcMessage(text)
  return details?.message ?? `upstream answered code ${code}`
}

/** Returns the message for a code that the gateway chose itself. Upstream's message would not concern the client. */
function messageFor({ cause }: StatusMeaning): string {
  return cause === 'credential'
    ? 'upstream refuses the credential of the gateway'
    : 'upstream does not take this kind of telemetry'
}

function waitFor(
  { httpStatus }: StatusMeaning,
  retryDelayMs: number | undefined,
  random: () => number,
): number | undefined {
  if (httpStatus !== 429 && httpStatus !== 503) return undefined
  return retryDelayMs === undefined ? retryAfterSeconds(random) : Math.max(1, Math.ceil(retryDelayMs / 1_000))
}

function statusBody(base64: string | string[] | undefined): EncodedBody | undefined {
  return typeof base64 === 'string' ? { encoding: 'protobuf', bytes: Buffer.from(base64, 'base64') } : undefined
}

function decoded(bytes: Uint8Array): RpcStatus | undefined {
  try {
    return decodeRpcStatus(bytes, 'protobuf')
  } catch (error) {
    if (error instanceof OtlpDecodeError) return undefined
    throw error
  }
}
