import { DomainError, type Failure } from '@penstock/core'
import { GraphQLError } from 'graphql'

/** One sentence, without a full stop. @see spec/graphql-contract.md 4.3 */
const NOT_AVAILABLE =
  "The resource that you are attempting to access does not exist or you don't have permission to perform this action"

/** To a change that the caller may not make, or of what there is not: which of the two, nobody is told. */
export const notAvailable = (): GraphQLError => new GraphQLError(NOT_AVAILABLE)

/** What concerns the whole request, whichever field has met it. */
export const endsRequest = (error: unknown): boolean =>
  error instanceof DomainError && (error.failure.code === 'unavailable' || error.failure.code === 'too_often')

const isRefusal = (code: Failure['code']) => code === 'unauthenticated' || code === 'forbidden' || code === 'not_found'

/**
 * What is read, or null where it is not there or not for the caller.
 *
 * @throws GraphQLError for input that the operation does not take
 */
export async function orNull<Result>(work: Promise<Result>): Promise<Result | null> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof DomainError) || endsRequest(error)) throw error
    if (isRefusal(error.failure.code)) return null
    throw asFieldError(error)
  }
}

/** @returns what `payload.errors` says of a change that was not made. @throws GraphQLError for one that was refused */
export function businessFailure(error: unknown): readonly string[] {
  if (!(error instanceof DomainError) || endsRequest(error)) throw error
  if (isRefusal(error.failure.code)) throw notAvailable()
  if (error.failure.code === 'spam') throw takenForSpam(error.failure)
  return sentencesOf(error.failure)
}

/** In both spellings: the platform's own client reads the second. @see spec/graphql-contract.md 4.4 */
function takenForSpam({ challenge }: Extract<Failure, { code: 'spam' }>): GraphQLError {
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

export const asFieldError = ({ failure }: DomainError): GraphQLError =>
  new GraphQLError(isCursor(failure) ? 'Please provide a valid cursor' : sentencesOf(failure).join(', '))

const isCursor = (failure: Failure): boolean =>
  failure.code === 'parameters' && failure.problems.some(({ path }) => path[0] === 'cursor')

function sentencesOf(failure: Failure): readonly string[] {
  switch (failure.code) {
    case 'invalid':
      return Object.entries(failure.fields).flatMap(([field, messages]) =>
        messages.map((message) => (field === 'base' ? message : `${humanized(field)} ${message}`)),
      )
    case 'parameters':
      return failure.problems.map(({ path, names, problem }) => {
        const subject = (names ?? [path.join('.')]).map(humanized).join(', ')
        return `${subject} ${problemTexts[problem]}`
      })
    case 'refused':
    case 'impossible':
    case 'protected':
      return [failure.message]
    case 'conflict':
      return [failure.reason ?? 'Someone else is changing the same thing']
    default:
      return [failure.code.replaceAll('_', ' ')]
  }
}

const problemTexts: Readonly<Record<string, string>> = {
  missing: "can't be blank",
  empty: "can't be blank",
  not_a_value: 'is not included in the list',
  mutually_exclusive: 'are mutually exclusive',
  exactly_one: 'are missing, exactly one must be provided',
  at_least_one: 'are missing, at least one must be provided',
  all_or_none: 'must be given together or not at all',
  of_another: 'must be the same as that of the object',
  value_not_allowed: 'is not allowed',
  invalid: 'is invalid',
}

/** `milestoneId` → `Milestone id`. */
const humanized = (name: string): string =>
  name
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replaceAll('_', ' ')
    .replace(/^./, (letter) => letter.toUpperCase())

/**
 * What a client is told of a field that could not be answered: nothing, where they may not know of what it is about.
 *
 * @throws what no part of the answer is to be relied on after: a fault of ours, or of what we stand on
 * @see spec/graphql-contract.md 1.4, 4.3
 */
export function toldErrors(error: GraphQLError): GraphQLError[] {
  const { originalError, nodes, path } = error
  if (originalError == null || originalError instanceof GraphQLError) return [error]
  if (!(originalError instanceof DomainError) || endsRequest(originalError)) throw originalError
  if (isRefusal(originalError.failure.code)) return []
  return [new GraphQLError(asFieldError(originalError).message, { nodes: nodes ?? null, path: path ?? null })]
}
