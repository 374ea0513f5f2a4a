import { isUnavailable, SearchBudgetError } from '@penstock/db'
import {
  type Incoming,
  type RefusalForm,
  type Reply,
  type RequestErrorKind,
  RequestProblem,
  type ResponseRow,
  TooManyAnswers,
} from '@penstock/http'
import { jsonExcess, MAX_ANSWER_BYTES } from '@penstock/json'
import { z } from 'zod'
import { ApiError, type ApiErrorCode, apiErrorStatus } from '../operations/api-error.ts'
import { MAX_PAGE } from '../tokens/token-input.ts'

/** The messages for errors that are found before a route handles the request, by the error codes of the HTTP package. */
const messages = {
  not_found: 'There is nothing at this path.',
  method_not_allowed: 'This path does not support the method; see the header Allow.',
  unsupported_media_type: 'The body must be application/json in UTF-8 and not compressed.',
  body_too_large: 'The body is larger than this API accepts.',
  invalid_json: 'The body is not a single JSON value in UTF-8.',
} satisfies Record<Exclude<RequestErrorKind['kind'], 'json_beyond_limit' | 'answer_too_large'> & ApiErrorCode, string>

const STORE_RETRY_SECONDS = 2

/** Renders an error in the form of this API. Details that clients may not see are only logged. */
export function renderError(error: unknown, { requestId }: Incoming): Reply {
  if (error instanceof ApiError) return errorReply(error, requestId, headersOf(error))
  if (error instanceof RequestProblem) {
    const { problem, headers } = error
    if (problem.kind === 'json_beyond_limit') {
      return errorReply(
        new ApiError('invalid_json', `The body ${jsonExcess(problem.limit, problem.most)}.`),
        requestId,
        headers,
      )
    }
    if (problem.kind === 'answer_too_large') return errorReply(answerTooLarge(problem), requestId, headers)
    const details = problem.kind === 'body_too_large' ? { limit_bytes: problem.limitBytes } : undefined
    return errorReply(new ApiError(problem.kind, messages[problem.kind], details), requestId, headers)
  }
  if (error instanceof TooManyAnswers) {
    const details = { retry_after_seconds: error.retryAfterSeconds }
    const limited = new ApiError('rate_limited', 'Your address has too many answers that it has not read.', details)
    return errorReply(limited, requestId, headersOf(limited))
  }
  if (isUnavailable(error) || error instanceof SearchBudgetError) {
    const unavailable = new ApiError(
      'store_unavailable',
      'The store cannot be used at the moment; nothing has changed. Try again later.',
    )
    return errorReply(unavailable, requestId, headersOf(unavailable))
  }
  return errorReply(new ApiError('internal', 'The request failed inside the gateway; see its log.'), requestId, {})
}

/** Returns the error for an answer with more JSON than an answer may have. */
function answerTooLarge({
  fittingItems,
  member,
}: Extract<RequestErrorKind, { readonly kind: 'answer_too_large' }>): ApiError {
  const limit = Math.min(fittingItems, MAX_PAGE)
  if (limit > 0) {
    const message = `The list would be larger than ${mebibytesText(MAX_ANSWER_BYTES)}. The largest limit that fits is ${limit}.`
    return new ApiError('answer_too_large', message, { limit })
  }
  return toTooLargeError({ maxBytes: MAX_ANSWER_BYTES, member })
}

const mebibytesText = (bytes: number): string => `${bytes / 1024 / 1024} MiB`

interface TooLargeAnswer {
  /** The limit that the answer exceeds. */
  readonly maxBytes: number
  /** The member with the most text. */
  readonly member: string | undefined
  /** The cursor of the items after the one that is too large, if it belongs to a list with pages. */
  readonly nextCursor?: string | undefined
}

/** Returns the error for an answer that is too large because of one member. */
export function toTooLargeError({ maxBytes, member, nextCursor }: TooLargeAnswer): ApiError {
  const reason = member === undefined ? '' : ` because of '${member}'`
  const details = {
    ...(member !== undefined && { member }),
    ...(nextCursor !== undefined && { next_cursor: nextCursor }),
  }
  const message = `The answer would be larger than ${mebibytesText(maxBytes)}${reason}.`
  return new ApiError('answer_too_large', message, details)
}

/** The form of errors that the listener writes before a route handles the request. Their request id is empty. */
export const refusalForm: RefusalForm = {
  contentType: 'application/json; charset=utf-8',
  body: ({ status, message }) =>
    JSON.stringify({
      error: { code: listenerErrorCodes[status] ?? 'bad_request', message, details: null, request_id: '' },
    }),
}

const listenerErrorCodes: Readonly<Record<number, string>> = {
  405: 'method_not_allowed',
  408: 'request_timeout',
  413: 'body_too_large',
  414: 'target_too_long',
  431: 'headers_too_large',
  503: 'too_many_connections',
}

function errorReply(
  { code, message, details }: ApiError,
  requestId: string,
  headers: Readonly<Record<string, string>>,
): Reply {
  return {
    status: apiErrorStatus[code],
    headers,
    json: { error: { code, message, details: details ?? null, request_id: requestId } },
  }
}

function headersOf({ code, details }: ApiError): Record<string, string> {
  if (code === 'unauthenticated') return { 'WWW-Authenticate': 'ApiKey realm="observability"' }
  if (code === 'store_unavailable') return { 'Retry-After': String(STORE_RETRY_SECONDS) }
  if (code === 'rate_limited') {
    return { 'Retry-After': String((details as { retry_after_seconds: number }).retry_after_seconds) }
  }
  return {}
}

/** The errors that every call can return. */
const commonErrorCodes = ['unauthenticated', 'rate_limited', 'store_unavailable', 'internal'] as const

/** The refusals of calls that change something, by role and by session. */
export const changeRefusals = ['forbidden', 'csrf_token_required'] as const

/** Returns the error responses of a call, for the OpenAPI document. Their schemas are created when the document is. */
export function errorResponses(...specific: ApiErrorCode[]): Record<number, ResponseRow> {
  const codes: ApiErrorCode[] = [...commonErrorCodes, ...specific]
  const statuses = [...new Set(codes.map((code) => apiErrorStatus[code]))]
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = codes.filter((code) => apiErrorStatus[code] === status)
      const headers = headersByStatus[status]
      const row = {
        description: ofStatus.join(', '),
        get body() {
          return errorBody(ofStatus)
        },
        ...(headers && { headers }),
      }
      return [status, row]
    }),
  )
}

const headersByStatus: Readonly<Record<number, ResponseRow['headers']>> = {
  401: { 'WWW-Authenticate': 'ApiKey realm="observability"' },
  429: { 'Retry-After': 'Whole seconds' },
  503: { 'Retry-After': 'Whole seconds' },
}

const errorBody = (codes: readonly ApiErrorCode[]) =>
  z.strictObject({
    error: z.strictObject({
      code: z.enum(codes as [ApiErrorCode, ...ApiErrorCode[]]),
      message: z.string(),
      details: z.unknown(),
      request_id: z.string(),
    }),
  })
