import type { Failure, ParameterProblem } from '@penstock/core'
import { asFailure, DomainError, describeStorageFull, errorTexts } from '@penstock/core'
import {
  type Incoming,
  MalformedForm,
  type Reply,
  type RequestErrorKind,
  RequestProblem,
  TooManyAnswers,
  TooManyUploads,
} from '@penstock/http'
import { jsonExcess } from '@penstock/json'
import { restName, restPath } from './parameter-names.ts'
import { badRequest } from './request-parameters.ts'
import { RestError } from './rest-error.ts'
import type { RestRoute } from './route.ts'

/** The parts of a route that affect error messages. */
type Wording = Partial<Pick<RestRoute, 'method' | 'path' | 'names' | 'invalid' | 'refusal' | 'emptyWhenMissing'>>

interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** The response for each failure of an operation. GitLab clients match on these statuses and texts. */
const answers: { [Code in Failure['code']]: (failure: Extract<Failure, { code: Code }>, row: Wording) => Answer } = {
  parameters: ({ problems }, row) => {
    const tooLong = tooLongAttributes(problems, row)
    return {
      status: 400,
      body:
        tooLong === undefined ? { error: describeProblems(problems, row) } : { message: invalidMessage(tooLong, row) },
    }
  },
  invalid: ({ fields }, row) => ({ status: 400, body: { message: invalidMessage(fields, row) } }),
  refused: ({ message, needsAdministrator, errorCode }, row) => ({
    status: needsAdministrator ? 403 : 400,
    body: { message: refusalMessage(message, row), ...(errorCode !== undefined && { error_code: errorCode }) },
  }),
  unauthenticated: () => ({ status: 401, body: { message: '401 Unauthorized' } }),
  forbidden: ({ reason }) => ({ status: 403, body: { message: `403 Forbidden${reason ? ` - ${reason}` : ''}` } }),
  not_found: ({ what }) => ({ status: 404, body: { message: what ? `404 ${what} Not Found` : '404 Not found' } }),
  protected: ({ message }) => ({ status: 405, body: { message } }),
  page_too_far: ({ what, maxItems }) => ({
    status: 405,
    body: {
      error:
        `Offset pagination has a maximum allowed offset of ${maxItems} for requests that return objects of type ` +
        `${what}. Remaining records can be retrieved using keyset pagination.`,
    },
  }),
  no_keyset_in_order: () => ({
    status: 405,
    body: { error: 'Keyset pagination is not yet available for this type of request' },
  }),
  conflict: ({ reason = '409 Conflict: Resource lock' }) => ({ status: 409, body: { message: reason } }),
  ambiguous: ({ what, distinguishedBy }, { names }) => ({
    status: 409,
    body: {
      message: `There are multiple ${what} with provided parameters. Please use '${restPath(distinguishedBy, names)}'`,
    },
  }),
  changed_since: () => ({ status: 412, body: { message: '412 Precondition Failed' } }),
  not_acceptable: ({ message }) => ({ status: 406, body: { message } }),
  impossible: ({ message }, row) => ({ status: 422, body: { message: refusalMessage(message, row) } }),
  unprocessable: ({ message, fields }, row) => ({
    status: 422,
    body: fields === undefined ? { error: message } : { message: invalidMessage(fields, row) },
  }),
  spam: ({ what, challenge }) =>
    challenge === undefined
      ? {
          status: 400,
          body: { message: { error: `Your ${what} has been recognized as spam and has been discarded.` } },
        }
      : {
          status: 409,
          body: {
            needs_captcha_response: true,
            spam_log_id: challenge.spamLogId,
            captcha_site_key: challenge.siteKey,
            message: { error: `Your ${what} has been recognized as spam. Solve the CAPTCHA and send it again.` },
          },
        },
  storage_full: (failure) => ({
    status: 413,
    body: { message: `413 Request Entity Too Large - ${describeStorageFull(failure)}` },
  }),
  too_often: ({ retryAfterSeconds }) => ({
    status: 429,
    body: { message: { error: 'This endpoint has been requested too many times. Try again later.' } },
    headers: retryAfter(retryAfterSeconds),
  }),
  unavailable: ({ retryAfterSeconds }) => ({
    status: 503,
    body: { message: '503 Service Unavailable' },
    headers: retryAfter(retryAfterSeconds),
  }),
}

const retryAfter = (seconds: number) => ({ 'Retry-After': String(Math.max(1, Math.ceil(seconds))) })

export function toRestError({ failure, cause }: DomainError, row: Wording = {}): RestError {
  // The cast is needed because TypeScript cannot relate the function found by a code to the failure with that code.
  const answer = answers[failure.code] as (failure: Failure, row: Wording) => Answer
  const { status, body, headers } = answer(failure, row)
  return new RestError(status, body, headers, { cause })
}

/** Returns the response for any error. An unexpected error gets a 500 without details; the log has them. */
export function renderError(thrown: unknown, incoming: Incoming): Reply {
  const error = asFailure(thrown)
  if (error instanceof RestError) return toReply(error)
  if (error instanceof DomainError) return toReply(toRestError(error))
  if (error instanceof RequestProblem) return toReply(requestError(error, incoming))
  if (error instanceof MalformedForm) return toReply(badRequest())
  if (error instanceof TooManyUploads || error instanceof TooManyAnswers) {
    const headers = { 'Retry-After': String(error.retryAfterSeconds) }
    return toReply(new RestError(503, { message: '503 Service Unavailable' }, headers))
  }
  return toReply(new RestError(500, { message: '500 Internal Server Error' }))
}

/** The text of GitLab's error, including its line feeds and trailing blank. */
const BROKEN_JSON =
  '\nProblem:\n  message body does not match declared format\nResolution:\n  ' +
  "when specifying application/json as content-type, you must pass valid application/json in the request's 'body' "

const requestAnswers: {
  readonly [Kind in RequestErrorKind['kind']]: (
    incoming: Incoming,
    problem: Extract<RequestErrorKind, { kind: Kind }>,
  ) => Answer
} = {
  not_found: () => ({ status: 404, body: { error: '404 Not Found' } }),
  method_not_allowed: () => ({ status: 405, body: { error: '405 Not Allowed' } }),
  unsupported_media_type: ({ raw }, { contentEncoding }) => {
    if (contentEncoding !== undefined) {
      const error = `The provided content-encoding '${contentEncoding}' is not supported; send the body uncompressed.`
      return { status: 415, body: { error } }
    }
    const type = (raw.headers['content-type'] ?? '').split(';', 1)[0]!.trim()
    return { status: 415, body: { error: `The provided content-type '${type}' is not supported.` } }
  },
  body_too_large: () => ({ status: 413, body: { message: '413 Request Entity Too Large' } }),
  invalid_json: () => ({ status: 400, body: { error: BROKEN_JSON } }),
  answer_too_large: (_, { member }) => ({
    status: 413,
    body: {
      message: `413 Request Entity Too Large - The answer would be larger than 8 MiB${member === undefined ? '' : ` because of '${member}'`}.`,
    },
  }),
  json_beyond_limit: (_, { limit, most }) => ({ status: 400, body: { error: `JSON ${jsonExcess(limit, most)}` } }),
}

function requestError({ problem, headers }: RequestProblem, incoming: Incoming): RestError {
  // The cast is needed because TypeScript cannot relate the function found by a kind to the problem of that kind.
  const answer = requestAnswers[problem.kind] as (incoming: Incoming, problem: RequestErrorKind) => Answer
  const { status, body } = answer(incoming, problem)
  return new RestError(status, body, headers)
}

function toReply({ status, body, headers }: RestError): Reply {
  return typeof body === 'string'
    ? { status, headers, content: body, contentType: 'text/plain' }
    : { status, headers, json: body }
}

/**
 * Returns the messages by attribute if a write fails only because attributes are too long: clients get them in the form of a
 * failed validation, as on GitLab. Returns `undefined` for other problems, and for parameters of a list or of the path.
 */
function tooLongAttributes(
  problems: readonly ParameterProblem[],
  { method = 'GET', path: route = '', names }: Wording,
): Readonly<Record<string, readonly string[]>> | undefined {
  const isAttribute = ({ path, problem, max }: ParameterProblem) =>
    problem === 'too_long' &&
    max !== undefined &&
    path.length === 1 &&
    !isInPath(route, restName(String(path[0]), names))
  if (method === 'GET' || !problems.every(isAttribute)) return undefined
  return Object.fromEntries(problems.map(({ path, max }) => [path[0], [errorTexts.tooLong(max!)]]))
}

const isInPath = (route: string, name: string): boolean => route.split('/').some((segment) => segment.slice(1) === name)

const texts = {
  missing: 'is missing',
  empty: 'is empty',
  invalid: 'is invalid',
  unsafe_path: 'should be a valid file path',
  unknown_value: 'does not have a valid value',
  value_not_allowed: 'has a value not allowed',
  mismatch: 'must be the same as in the path',
  mutually_exclusive: 'are mutually exclusive',
  exactly_one: 'are missing, exactly one parameter must be provided',
  at_least_one: 'are missing, at least one parameter must be provided',
  all_or_none: 'provide all or none of parameters',
} satisfies Record<Exclude<ParameterProblem['problem'], 'too_long'>, string>

function describeProblems(problems: readonly ParameterProblem[], row: Wording): string {
  const all = problems.flatMap(({ path, problem, names, max = 0 }) => {
    const subject = names?.map((name) => restName(name, row.names)).join(', ') ?? restPath(path, row.names)
    const isBoth = problem === 'missing' && row.emptyWhenMissing?.includes(subject)
    const text = problem === 'too_long' ? errorTexts.tooLong(max) : texts[problem]
    return [`${subject} ${text}`, ...(isBoth ? [`${subject} ${texts.empty}`] : [])]
  })
  return [...new Set(all)].join(', ')
}

const refusalMessage = (message: string, { refusal }: Wording): unknown => refusal?.(message) ?? message

function invalidMessage(fields: Readonly<Record<string, readonly string[]>>, { invalid, names }: Wording): unknown {
  const named = Object.fromEntries(Object.entries(fields).map(([key, messages]) => [restName(key, names), messages]))
  return invalid === undefined ? named : invalid(named)
}
