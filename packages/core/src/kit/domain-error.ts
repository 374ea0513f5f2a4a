/** What is wrong with one parameter of an operation's input. Names are those of the input; an adapter puts them into its own. */
export interface ParameterProblem {
  /** `['files', 0, 'content']` */
  readonly path: readonly (string | number)[]
  readonly problem:
    | 'missing'
    /** Present, but blank or without elements where something is wanted. */
    | 'empty'
    /** Of another type, or not readable as what it should be. */
    | 'invalid'
    /** Not one of the values there are. */
    | 'unknown_value'
    /** One of the values that are ruled out. */
    | 'value_not_allowed'
    /** Names another thing than the one the request is about. */
    | 'mismatch'
    | 'mutually_exclusive'
    | 'exactly_one'
    | 'at_least_one'
    | 'all_or_none'
  /** Of the last four: the parameters it is about; their `path` is empty. */
  readonly names?: readonly string[]
}

/**
 * The failures a caller can act on. Each adapter has one table of what it says on which.
 *
 * @see spec/rest-part2-details.md 1.5
 */
export type Failure =
  | { readonly code: 'parameters'; readonly problems: readonly ParameterProblem[] }
  /** A rule of the model: what is wrong with which of its attributes; `base` is the whole. */
  | { readonly code: 'invalid'; readonly fields: Readonly<Record<string, readonly string[]>> }
  /** As `invalid`, in one sentence of the area's own. */
  | { readonly code: 'refused'; readonly message: string }
  | { readonly code: 'unauthenticated' }
  | { readonly code: 'forbidden'; readonly reason?: string }
  /** `what`: `Group`; without it, a record below something that was found. */
  | { readonly code: 'not_found'; readonly what?: string }
  /** It is exempt from what is asked, whoever asks: the default branch cannot be removed. */
  | { readonly code: 'protected'; readonly message: string }
  /** A page by its number, further into the things of that kind than such pages reach. */
  | { readonly code: 'page_too_far'; readonly what: string; readonly maxItems: number }
  /** A page by keyset, in an order that has none. */
  | { readonly code: 'no_keyset_in_order' }
  /** Without a reason: someone else is changing the same thing. */
  | { readonly code: 'conflict'; readonly reason?: string }
  /** Several are meant; the parameter `distinguishedBy` would tell them apart. */
  | { readonly code: 'ambiguous'; readonly what: string; readonly distinguishedBy: readonly string[] }
  /** The record has changed since the time the caller named. */
  | { readonly code: 'changed_since' }
  /** Well said, but it cannot be done with what there is. */
  | { readonly code: 'impossible'; readonly message: string }
  /** Taken for spam, and discarded; with a challenge, whoever solves it may send it again. */
  | {
      readonly code: 'spam'
      readonly what: string
      readonly challenge?: { readonly siteKey: string; readonly spamLogId: number }
    }
  /**
   * The write would exceed the storage limit of the project; none of it was stored. `neededBytes` is missing if the size of
   * the write is not known yet.
   */
  | {
      readonly code: 'storage_full'
      readonly limitBytes: number
      readonly storedBytes: number
      readonly neededBytes?: number
    }
  | { readonly code: 'too_often'; readonly retryAfterSeconds: number }
  /** The database cannot be reached, or too many want to write to it; nothing has changed. */
  | { readonly code: 'unavailable'; readonly retryAfterSeconds: number }

/** Thrown by operations. `failure` reaches clients; `cause` reaches only the log. */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly failure: Failure

  constructor(failure: Failure, options?: { cause?: unknown }) {
    super(failure.code, options)
    this.failure = failure
  }
}

export const notFound = (what?: string): DomainError =>
  new DomainError({ code: 'not_found', ...(what !== undefined && { what }) })
export const forbidden = (reason?: string): DomainError =>
  new DomainError({ code: 'forbidden', ...(reason !== undefined && { reason }) })
export const invalid = (fields: Readonly<Record<string, readonly string[]>>): DomainError =>
  new DomainError({ code: 'invalid', fields })

/** Returns how full a project is, in words that follow its name: "stores 900 of 1000 bytes, and this needs 200 more". */
export function describeStorageFull({
  limitBytes,
  storedBytes,
  neededBytes,
}: Extract<Failure, { code: 'storage_full' }>): string {
  const needed = neededBytes === undefined ? '' : `, and this needs ${neededBytes} more`
  return `stores ${storedBytes} of ${limitBytes} bytes${needed}`
}
