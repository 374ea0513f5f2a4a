import { DomainError, describeStorageFull, errorTexts, type Failure, type ParameterProblem } from '@penstock/core'
import { GraphQLError } from 'graphql'
import { TOO_OFTEN } from './request-failure.ts'

const NOT_AVAILABLE =
  "The resource that you are attempting to access does not exist or you don't have permission to perform this action"

/** The error for a field that cannot be null and has no value, for a reason that another field has already reported. */
export class AlreadyReportedError extends Error {
  override readonly name = 'AlreadyReportedError'
}

/**
 * The error after which all further reads of the request fail as well. It rejects every field that waits for a batch, so
 * `toClientErrors` picks the one that reports it. Other limits use `OncePerOperationError`.
 */
export class RequestLimitExceeded extends Error {
  override readonly name = 'RequestLimitExceeded'
}

/** Returns the error for an object that does not exist or that the caller may not change. It does not say which of the two. */
export const notAvailable = (): GraphQLError => new GraphQLError(NOT_AVAILABLE)

/**
 * How a failure is reported: as messages, as an error with extensions, not at all if the caller may not know of the object, as
 * the error of its field in a response with 429, or as a failure of the whole request.
 */
type FailureReport = readonly string[] | GraphQLError | 'hidden' | 'limits request' | 'fails request'

/** The report of each kind of failure. */
const reports: { readonly [Code in Failure['code']]: (failure: Extract<Failure, { code: Code }>) => FailureReport } = {
  parameters: ({ problems }) => problems.map(problemMessage),
  invalid: ({ fields }) =>
    Object.entries(fields).flatMap(([field, messages]) =>
      messages.map((message) => (field === 'base' ? message : `${humanized(field)} ${message}`)),
    ),
  refused: ({ message }) => [message],
  impossible: ({ message }) => [message],
  not_acceptable: ({ message }) => [message],
  unprocessable: ({ message }) => [message],
  protected: ({ message }) => [message],
  conflict: ({ reason }) => [reason ?? 'Someone else is changing the same thing'],
  changed_since: () => ['The object has changed since the given time'],
  ambiguous: ({ what, distinguishedBy }) => [
    `Several ${what} match, specify ${distinguishedBy.map(humanized).join(', ')} as well`,
  ],
  page_too_far: ({ what, maxItems }) => [`Only the first ${maxItems} ${what} can be listed`],
  no_keyset_in_order: () => ['This sort order does not support cursors'],
  storage_full: (failure) => [humanized(describeStorageFull(failure))],
  spam: spamError,
  unauthenticated: () => 'hidden',
  forbidden: () => 'hidden',
  not_found: () => 'hidden',
  too_often: () => 'limits request',
  unavailable: () => 'fails request',
}

// TypeScript does not see that the function for a code takes the failure with that code.
const reportOf = (failure: Failure): FailureReport => reports[failure.code](failure as never)

/** Returns the result, or null if the object does not exist or the caller may not see it. */
export async function orNull<Result>(work: Promise<Result>): Promise<Result | null> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof DomainError) || reportOf(error.failure) !== 'hidden') throw error
    return null
  }
}

/** Returns the `errors` of the payload for a change that failed. @throws GraphQLError for a change that is not allowed */
export function payloadErrors(error: unknown): readonly string[] {
  if (!(error instanceof DomainError)) throw error
  const report = reportOf(error.failure)
  if (report === 'fails request' || report === 'limits request') throw error
  if (report === 'hidden') throw notAvailable()
  if (report instanceof GraphQLError) throw report
  return report
}

/**
 * Returns the error for a change that was classified as spam. The extensions have two spellings; GitLab's own client reads
 * the second.
 */
function spamError({ challenge }: Extract<Failure, { code: 'spam' }>): GraphQLError {
  if (challenge === undefined) return new GraphQLError('Request denied. Spam detected', { extensions: { spam: true } })
  const { siteKey, spamLogId } = challenge
  return new GraphQLError('Request denied. Solve CAPTCHA challenge and retry', {
    extensions: {
      needsCaptchaResponse: true,
      captchaSiteKey: siteKey,
      spamLogId,
      needs_captcha_response: true,
      captcha_site_key: siteKey,
      spam_log_id: spamLogId,
    },
  })
}

function problemMessage({ path, names, problem, max = 0 }: ParameterProblem): string {
  const subject = (names ?? [path.join('.')]).map(humanized).join(', ')
  return `${subject} ${problem === 'too_long' ? errorTexts.tooLong(max) : problemTexts[problem]}`
}

const problemTexts = {
  missing: "can't be blank",
  empty: "can't be blank",
  unknown_value: 'is not included in the list',
  mutually_exclusive: 'are mutually exclusive',
  exactly_one: 'are missing, exactly one must be provided',
  at_least_one: 'are missing, at least one must be provided',
  all_or_none: 'must be given together or not at all',
  mismatch: 'must be the same as that of the object',
  value_not_allowed: 'is not allowed',
  invalid: 'is invalid',
  unsafe_path: 'should be a valid file path',
} satisfies Record<Exclude<ParameterProblem['problem'], 'too_long'>, string>

/** `milestoneId` → `Milestone id`. */
const humanized = (name: string): string =>
  name
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replaceAll('_', ' ')
    .replace(/^./, (letter) => letter.toUpperCase())

/**
 * Returns the errors to report for the failed fields of an operation. Omits errors about objects that the caller may not
 * know of, and errors that another field has reported.
 *
 * @throws the error that fails the whole request: a bug, or a dependency that is unavailable
 */
export function toClientErrors(errors: readonly GraphQLError[]): GraphQLError[] {
  const isLimitError = ({ originalError }: GraphQLError) => originalError instanceof RequestLimitExceeded
  const firstLimitError = errors.find(isLimitError)
  const tooOften = errors.some(isTooOften) ? [new GraphQLError(TOO_OFTEN)] : []
  const others = errors.filter((error) => !isTooOften(error) && (error === firstLimitError || !isLimitError(error)))
  return [...others.flatMap(clientErrorsFor), ...tooOften]
}

function clientErrorsFor(error: GraphQLError): GraphQLError[] {
  const { originalError, nodes, path } = error
  if (originalError == null || originalError instanceof GraphQLError) return [error]
  if (originalError instanceof AlreadyReportedError) return []
  const withMessage = (message: string) => [new GraphQLError(message, { nodes: nodes ?? null, path: path ?? null })]
  if (originalError instanceof RequestLimitExceeded) return withMessage(originalError.message)
  if (!(originalError instanceof DomainError)) throw originalError
  const { failure } = originalError
  const report = reportOf(failure)
  if (report === 'fails request') throw originalError
  if (report === 'hidden' || report === 'limits request') return []
  if (report instanceof GraphQLError) return [report]
  return withMessage(isCursorProblem(failure) ? 'Please provide a valid cursor' : report.join(', '))
}

/** Returns the seconds after which a call of the operations that were performed too often can succeed. */
export function retryAfterSecondsOf(errors: readonly GraphQLError[]): number | undefined {
  const seconds = errors.flatMap(({ originalError }) => {
    const failure = originalError instanceof DomainError ? originalError.failure : undefined
    return failure?.code === 'too_often' ? failure.retryAfterSeconds : []
  })
  return seconds.length === 0 ? undefined : Math.max(...seconds)
}

/** Clients get such errors as one, with its message only: it concerns the whole request, which has the status 429. */
const isTooOften = ({ originalError }: GraphQLError): boolean =>
  originalError instanceof DomainError && originalError.failure.code === 'too_often'

const isCursorProblem = (failure: Failure): boolean =>
  failure.code === 'parameters' && failure.problems.some(({ path }) => path[0] === 'cursor')
