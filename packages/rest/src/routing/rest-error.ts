/** An error with the status, body and headers of its response. */
export class RestError extends Error {
  override readonly name = 'RestError'
  readonly status: number
  /** A JSON value, or a string for errors that GitLab sends as plain text. */
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
    options?: { cause?: unknown },
  ) {
    super(String(status), options)
    this.status = status
    this.body = body
    this.headers = headers
  }
}

/** The error for a valid credential that may not be used for the request. The throttle counts its user. */
export class CallerRefusal extends RestError {
  readonly userId: number

  constructor(userId: number, ...refusal: ConstructorParameters<typeof RestError>) {
    super(...refusal)
    this.userId = userId
  }
}
