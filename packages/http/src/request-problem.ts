import type { JsonLimit } from '@penstock/json'

/** What a request can get wrong before any rule of the application is asked. */
export type RequestErrorKind =
  | { readonly kind: 'not_found' }
  | { readonly kind: 'method_not_allowed' }
  /** `contentEncoding` names the refused compression; if it is missing, the media type is refused. */
  | { readonly kind: 'unsupported_media_type'; readonly contentEncoding?: string }
  | { readonly kind: 'body_too_large'; readonly limitBytes: number }
  | { readonly kind: 'invalid_json' }
  /** JSON that is short enough in bytes, but exceeds a limit on its content. */
  | { readonly kind: 'json_beyond_limit'; readonly limit: JsonLimit; readonly most: number }

/** Thrown by the kit, put into words and a status by the application's `renderError`. */
export class RequestProblem extends Error {
  override readonly name = 'RequestProblem'
  readonly problem: RequestErrorKind
  /** What the answer must carry: `Allow`, `Accept-Encoding`. */
  readonly headers: Readonly<Record<string, string>>

  constructor(problem: RequestErrorKind, headers: Readonly<Record<string, string>> = {}) {
    super(problem.kind)
    this.problem = problem
    this.headers = headers
  }
}
