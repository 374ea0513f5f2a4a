import type { JsonLimit } from '@penstock/json'

/** The errors that a request can have apart from the rules of the application. */
export type RequestErrorKind =
  | { readonly kind: 'not_found' }
  | { readonly kind: 'method_not_allowed' }
  /** The media type is not supported; or, if `contentEncoding` is set, that compression is not supported. */
  | { readonly kind: 'unsupported_media_type'; readonly contentEncoding?: string }
  | { readonly kind: 'body_too_large'; readonly limitBytes: number }
  | { readonly kind: 'invalid_json' }
  /** The JSON body is within the size limit, but exceeds another limit. */
  | { readonly kind: 'json_beyond_limit'; readonly limit: JsonLimit; readonly most: number }
  /** The JSON of the answer would exceed the limit on answers. */
  | {
      readonly kind: 'answer_too_large'
      /** The number of items that fit, if the answer is a list. */
      readonly fittingItems: number
      /** The member with the most text. */
      readonly member: string | undefined
    }

/** The error that this package throws for a bad request. The application's `renderError` turns it into a response. */
export class RequestProblem extends Error {
  override readonly name = 'RequestProblem'
  readonly problem: RequestErrorKind
  /** Headers that the response must have: `Allow`, `Accept-Encoding`. */
  readonly headers: Readonly<Record<string, string>>

  constructor(problem: RequestErrorKind, headers: Readonly<Record<string, string>> = {}) {
    super(problem.kind)
    this.problem = problem
    this.headers = headers
  }
}
