/** A problem with one parameter of an operation's input. Names are those of the input; each adapter maps them to its own. */
export interface ParameterProblem {
  /** `['files', 0, 'content']` */
  readonly path: readonly (string | number)[]
  readonly problem:
    | 'missing'
    /** Present, but blank or without elements where a value is required. */
    | 'empty'
    /** Has the wrong type or format. */
    | 'invalid'
    /** Leads out of the directory, or is absolute. */
    | 'unsafe_path'
    /** Not one of the allowed values of an enumeration. */
    | 'unknown_value'
    /** Has the right type and format, but this value is excluded. */
    | 'value_not_allowed'
    /** A text with more than `max` characters. */
    | 'too_long'
    /** Differs from the same value elsewhere in the request. */
    | 'mismatch'
    | 'mutually_exclusive'
    | 'exactly_one'
    | 'at_least_one'
    | 'all_or_none'
  /** The parameters that the last four kinds are about; `path` is empty then. */
  readonly names?: readonly string[]
  /** The limit of a text that is `too_long`. */
  readonly max?: number
}

/** The failures a caller can act on. Each adapter has one table of its answers to them. */
export type Failure =
  | { readonly code: 'parameters'; readonly problems: readonly ParameterProblem[] }
  /** A rule of the model is violated: messages by attribute; `base` means the whole record. */
  | { readonly code: 'invalid'; readonly fields: Readonly<Record<string, readonly string[]>> }
  /**
   * Like `invalid`, with one message for the whole request. `needsAdministrator`: administrators may do it. `errorCode` is a
   * word by which programs tell the reason.
   */
  | {
      readonly code: 'refused'
      readonly message: string
      readonly needsAdministrator?: true
      readonly errorCode?: string
    }
  | { readonly code: 'unauthenticated' }
  | { readonly code: 'forbidden'; readonly reason?: string }
  /**
   * `what` names the kind of the record, such as `Group`. It is missing if the record is part of another one, which was
   * found.
   */
  | { readonly code: 'not_found'; readonly what?: string }
  /** The request is not allowed for this record, whatever the role of the caller: the default branch cannot be removed. */
  | { readonly code: 'protected'; readonly message: string }
  /**
   * The page number is too high for lists of `what`, of which only the first `maxItems` can be reached by page number.
   */
  | { readonly code: 'page_too_far'; readonly what: string; readonly maxItems: number }
  /** Keyset pagination was requested in an order that does not support it. */
  | { readonly code: 'no_keyset_in_order' }
  /** `reason` is missing if another request is changing the same record. */
  | { readonly code: 'conflict'; readonly reason?: string }
  /** Several records match; the parameters `distinguishedBy` would select one of them. */
  | { readonly code: 'ambiguous'; readonly what: string; readonly distinguishedBy: readonly string[] }
  /** The record has changed since the time the caller named. */
  | { readonly code: 'changed_since' }
  /** Like `invalid`, for areas that answer with 422: one message, or the messages by attribute if `fields` is set. */
  | {
      readonly code: 'unprocessable'
      readonly message: string
      readonly fields?: Readonly<Record<string, readonly string[]>>
    }
  /** The request is valid, but cannot be carried out in the present state. */
  | { readonly code: 'impossible'; readonly message: string }
  /** There is nothing of what the request would end. */
  | { readonly code: 'not_acceptable'; readonly message: string }
  /**
   * The content was classified as spam and discarded. After solving the challenge, if there is one, the caller may send it
   * again.
   */
  | {
      readonly code: 'spam'
      readonly what: string
      readonly challenge?: { readonly siteKey: string; readonly spamLogId: number }
    }
  /**
   * The write would exceed a storage limit; none of it was stored. `of` has the limit, by default the project.
   * `neededBytes` is missing if the size of the write is not known yet.
   */
  | {
      readonly code: 'storage_full'
      readonly of?: string
      readonly limitBytes: number
      readonly storedBytes: number
      readonly neededBytes?: number
    }
  | { readonly code: 'too_often'; readonly retryAfterSeconds: number }
  /** The database cannot be reached, or too many writes are waiting; nothing has changed. */
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

/** Returns what is full: "the project stores 900 of 1000 bytes, and this needs 200 more". */
export function describeStorageFull({
  of = 'project',
  limitBytes,
  storedBytes,
  neededBytes,
}: Extract<Failure, { code: 'storage_full' }>): string {
  const needed = neededBytes === undefined ? '' : `, and this needs ${neededBytes} more`
  return `the ${of} stores ${storedBytes} of ${limitBytes} bytes${needed}`
}
