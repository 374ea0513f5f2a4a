import { DomainError, describeStorageFull, type Failure, type ParameterProblem } from '@penstock/core'
import { GraphQLError } from 'graphql'

/** One sentence, without a full stop. @see spec/graphql-contract.md 4.3 */
const NOT_AVAILABLE =
  "The resource that you are attempting to access does not exist or you don't have permission to perform this action"

/** Of a field that cannot be null: another of the same operation has told why it has nothing. */
export class ToldBefore extends Error {
  override readonly name = 'ToldBefore'
}

/**
 * A limit that whatever is asked for next meets too. It fails all that waits for a batch with one error, so that which field is
 * the first to tell of it (see `FirstRefusal`) is known only of the whole operation.
 */
export class LimitMet extends Error {
  override readonly name = 'LimitMet'
}

/** To a change that the caller may not make, or of what there is not: which of the two, nobody is told. */
export const notAvailable = (): GraphQLError => new GraphQLError(NOT_AVAILABLE)

/** What concerns the whole request, whichever field has met it. */
export const endsRequest = (error: unknown): boolean =>
  error instanceof DomainError && sayingOf(error.failure) === 'request over'

/** Sentences; an error of its own form; nothing, of what the caller may not know of; or that no part of the answer holds. */
type Saying = readonly string[] | GraphQLError | 'nothing' | 'request over'

/** What is said on which failure of an operation. @see spec/graphql-contract.md 4.3, 4.4 */
const sayings: { readonly [Code in Failure['code']]: (failure: Extract<Failure, { code: Code }>) => Saying } = {
  parameters: ({ problems }) => problems.map(sentenceOf),
  invalid: ({ fields }) =>
    Object.entries(fields).flatMap(([field, messages]) =>
      messages.map((message) => (field === 'base' ? message : `${humanized(field)} ${message}`)),
    ),
  refused: ({ message }) => [message],
  impossible: ({ message }) => [message],
  protected: ({ message }) => [message],
  conflict: ({ reason }) => [reason ?? 'Someone else is changing the same thing'],
  changed_since: () => ['It has changed since the time that was named'],
  ambiguous: ({ what, distinguishedBy }) => [
    `Several ${what} are meant, ${distinguishedBy.map(humanized).join(', ')} would tell them apart`,
  ],
  page_too_far: ({ what, maxItems }) => [`Pages of ${what} end at ${maxItems} items`],
  no_keyset_in_order: () => ['This order has no cursors'],
  storage_full: (failure) => [`The project ${describeStorageFull(failure)}`],
  spam: takenForSpam,
  unauthenticated: () => 'nothing',
  forbidden: () => 'nothing',
  not_found: () => 'nothing',
  too_often: () => 'request over',
  unavailable: () => 'request over',
}

const sayingOf = (failure: Failure): Saying => sayings[failure.code](failure as never)

/** What is read, or null where it is not there or not for the caller. */
export async function orNull<Result>(work: Promise<Result>): Promise<Result | null> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof DomainError) || sayingOf(error.failure) !== 'nothing') throw error
    return null
  }
}

/** @returns what `payload.errors` says of a change that was not made. @throws GraphQLError for one that was refused */
export function businessFailure(error: unknown): readonly string[] {
  if (!(error instanceof DomainError)) throw error
  const saying = sayingOf(error.failure)
  if (saying === 'request over') throw error
  if (saying === 'nothing') throw notAvailable()
  if (saying instanceof GraphQLError) throw saying
  return saying
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

function sentenceOf({ path, names, problem }: ParameterProblem): string {
  const subject = (names ?? [path.join('.')]).map(humanized).join(', ')
  return `${subject} ${problemTexts[problem]}`
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
} satisfies Record<ParameterProblem['problem'], string>

/** `milestoneId` → `Milestone id`. */
const humanized = (name: string): string =>
  name
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replaceAll('_', ' ')
    .replace(/^./, (letter) => letter.toUpperCase())

/**
 * What a client is told of the fields of an operation that could not be answered: nothing, where they may not know of what it
 * is about, or have been told.
 *
 * @throws what no part of the answer is to be relied on after: a fault of ours, or of what we stand on
 * @see spec/graphql-contract.md 1.4, 4.3
 */
export function toldErrors(errors: readonly GraphQLError[]): GraphQLError[] {
  const isOfLimit = ({ originalError }: GraphQLError) => originalError instanceof LimitMet
  const firstOfLimit = errors.find(isOfLimit)
  return errors.flatMap((error) => (error === firstOfLimit || !isOfLimit(error) ? toldOf(error) : []))
}

function toldOf(error: GraphQLError): GraphQLError[] {
  const { originalError, nodes, path } = error
  if (originalError == null || originalError instanceof GraphQLError) return [error]
  if (originalError instanceof ToldBefore) return []
  const telling = (message: string) => [new GraphQLError(message, { nodes: nodes ?? null, path: path ?? null })]
  if (originalError instanceof LimitMet) return telling(originalError.message)
  if (!(originalError instanceof DomainError)) throw originalError
  const { failure } = originalError
  const saying = sayingOf(failure)
  if (saying === 'request over') throw originalError
  if (saying === 'nothing') return []
  if (saying instanceof GraphQLError) return [saying]
  return telling(isOfCursor(failure) ? 'Please provide a valid cursor' : saying.join(', '))
}

const isOfCursor = (failure: Failure): boolean =>
  failure.code === 'parameters' && failure.problems.some(({ path }) => path[0] === 'cursor')
