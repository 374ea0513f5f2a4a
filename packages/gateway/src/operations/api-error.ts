/** The error codes of the management API, with the HTTP status of each. */
export const apiErrorStatus = {
  invalid_json: 400,
  invalid_field: 400,
  unknown_field: 400,
  invalid_cursor: 400,
  unauthenticated: 401,
  forbidden: 403,
  csrf_token_required: 403,
  token_not_found: 404,
  api_key_not_found: 404,
  not_found: 404,
  method_not_allowed: 405,
  body_too_large: 413,
  answer_too_large: 413,
  unsupported_media_type: 415,
  last_valid_token: 409,
  last_admin_key: 409,
  token_limit_reached: 409,
  api_key_limit_reached: 409,
  name_in_use: 409,
  not_ready: 409,
  precondition_failed: 412,
  rate_limited: 429,
  /** The store that answers queries does not support this one. */
  not_supported: 501,
  store_unavailable: 503,
  /** A bug in the gateway. */
  internal: 500,
} as const
export type ApiErrorCode = keyof typeof apiErrorStatus

/** A failure that the caller of the management API or the command line can act on. The caller sees `message` and `details`. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ApiErrorCode
  readonly details: unknown

  constructor(code: ApiErrorCode, message: string, details?: unknown, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
    this.details = details
  }
}
