import { isUnavailable } from '@penstock/db'
import { RecordError } from '@penstock/forges'
import { type Reply, type RequestErrorKind, RequestProblem } from '@penstock/http'
import { jsonExcess } from '@penstock/json'
import { WorkersBusyError } from '@penstock/runtime'

/** The error for a refused hook, with the reply. */
export class HookRefusal extends Error {
  override readonly name = 'HookRefusal'
  readonly reply: Reply

  constructor(status: keyof typeof phrases, headers: Readonly<Record<string, string>> = {}) {
    super(phrases[status])
    this.reply = replyOf(status, headers)
  }
}

const phrases = {
  400: 'Bad request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

const problemStatus = {
  not_found: 404,
  method_not_allowed: 405,
  unsupported_media_type: 415,
  body_too_large: 413,
  invalid_json: 400,
  json_beyond_limit: 400,
  answer_too_large: 413,
} satisfies Record<RequestErrorKind['kind'], keyof typeof phrases>

const UNAVAILABLE_RETRY_SECONDS = 5

export const overloaded = (): HookRefusal => new HookRefusal(503, { 'Retry-After': '1' })

/** Renders every failure in the form of the REST API. */
export function renderError(error: unknown): Reply {
  if (error instanceof HookRefusal) return error.reply
  if (error instanceof RequestProblem) {
    const { problem, headers } = error
    return replyOf(problemStatus[problem.kind], headers, detailOf(problem))
  }
  if (error instanceof RecordError) return replyOf(400, {}, error.message)
  if (error instanceof WorkersBusyError) return overloaded().reply
  if (isUnavailable(error)) return replyOf(503, { 'Retry-After': String(UNAVAILABLE_RETRY_SECONDS) })
  return replyOf(500)
}

function detailOf(problem: RequestErrorKind): string | undefined {
  if (problem.kind === 'json_beyond_limit') return jsonExcess(problem.limit, problem.most)
  const isCompressed = problem.kind === 'unsupported_media_type' && problem.contentEncoding !== undefined
  return isCompressed ? 'the body must not be compressed' : undefined
}

function replyOf(status: keyof typeof phrases, headers: Readonly<Record<string, string>> = {}, detail?: string): Reply {
  const message = `${status} ${phrases[status]}${detail === undefined ? '' : ` - ${detail}`}`
  return { status, headers, json: { message } }
}
