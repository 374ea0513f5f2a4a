import { STATUS_CODES } from 'node:http'
import { type Delivered, type HttpReply, type Outcome, outcomeFromReply, toOutcomeKind } from '@penstock/delivery'
import {
  contentTypes,
  decodeExportResponse,
  decodeRpcStatus,
  type Encoding,
  OtlpDecodeError,
  type Signal,
} from '@penstock/otlp'
import { oneLine } from './one-line.ts'

export interface ExportContext {
  readonly signal: Signal
  /** The encoding of the request, used for a reply without a content type. */
  readonly encoding: Encoding
  /** The credentials of the request, longest first. Some servers quote them in their refusals, so they are removed from messages. */
  readonly secrets: readonly string[]
  readonly nowMs: number
}

/**
 * Returns the outcome of an export for its reply. A success is final, even with rejected items; the body of any other reply
 * is used only to explain the failure (P-5, P-6).
 *
 * @see OTLP specification, "OTLP/HTTP Response"
 */
export function outcomeOfExport(reply: HttpReply, context: ExportContext): Outcome {
  const { rejectedItems, message } =
    toOutcomeKind(reply.status) === 'delivered'
      ? partialSuccess(reply, context)
      : { rejectedItems: 0, message: refusal(reply, context) }
  return outcomeFromReply(reply, { rejectedItems, message: sanitize(message, context.secrets) }, context.nowMs)
}

type Detail = Pick<Delivered, 'rejectedItems' | 'message'>

function partialSuccess(reply: HttpReply, context: ExportContext): Detail {
  if (reply.truncated) return unknownSuccess('the reply was cut short')
  if (reply.body.length === 0) return fullSuccess
  const encoding = encodingOf(reply, context)
  if (!encoding) return unknownSuccess(`the reply is ${mediaTypeOf(reply)}; is this an OTLP endpoint?`)
  try {
    const partial = decodeExportResponse(context.signal, reply.body, encoding)
    return partial ? { rejectedItems: Math.max(Number(partial.rejected), 0), message: partial.message } : fullSuccess
  } catch (error) {
    if (!(error instanceof OtlpDecodeError)) throw error
    return unknownSuccess('the reply is not an OTLP response')
  }
}

const fullSuccess: Detail = { rejectedItems: 0, message: '' }

/** Returns the outcome of a request that was accepted according to the status line, with an unreadable body. */
function unknownSuccess(why: string): Detail {
  return { rejectedItems: 0, message: `accepted, but it is not known whether in full: ${why}` }
}

function refusal(reply: HttpReply, context: ExportContext): string {
  const line = `HTTP ${reply.status} ${STATUS_CODES[reply.status] ?? ''}`.trim()
  const explanation = isRedirect(reply) ? redirect(reply) : refusalDetail(reply, context)
  return explanation === '' ? line : `${line}: ${explanation}`
}

const isRedirect = ({ status, headers }: HttpReply): boolean =>
  status >= 300 && status < 400 && headers.location !== undefined

/** Describes a redirect without userinfo and query, which may contain secrets. */
function redirect({ headers }: HttpReply): string {
  const target = URL.canParse(headers.location ?? '') ? new URL(headers.location ?? '') : undefined
  return target ? `redirects are not followed (${target.origin}${target.pathname})` : 'redirects are not followed'
}

/** Returns the message of a google.rpc.Status, or a plain text body; '' if the reply has neither. */
function refusalDetail(reply: HttpReply, context: ExportContext): string {
  if (mediaTypeOf(reply) === 'text/plain') return Buffer.from(reply.body).toString()
  const encoding = encodingOf(reply, context)
  try {
    return encoding ? decodeRpcStatus(reply.body, encoding).message : ''
  } catch (error) {
    if (!(error instanceof OtlpDecodeError)) throw error
    return ''
  }
}

function encodingOf(reply: HttpReply, context: ExportContext): Encoding | undefined {
  const mediaType = mediaTypeOf(reply)
  if (mediaType === '') return context.encoding
  const encodings = Object.keys(contentTypes) as Encoding[]
  return encodings.find((encoding) => contentTypes[encoding] === mediaType)
}

function mediaTypeOf(reply: HttpReply): string {
  const [type = ''] = (reply.headers['content-type'] ?? '').split(';')
  return type.trim().toLowerCase()
}

const sanitize = (message: string, secrets: readonly string[]): string =>
  oneLine(secrets.reduce((text, secret) => text.replaceAll(secret, '[secret]'), message))
