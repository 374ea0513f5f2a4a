/** A refusal that this adapter makes itself, before any operation is asked: credentials, media types, rate limits. */
export class RestError extends Error {
  override readonly name = 'RestError'
  readonly status: number
  /** JSON, or text where the platform answers with text. */
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

/** The refusal of a known credential that may not be used for a request. The throttle counts its user. */
export class CallerRefusal extends RestError {
  readonly userId: number

  constructor(userId: number, ...refusal: ConstructorParameters<typeof RestError>) {
    super(...refusal)
    this.userId = userId
  }
}
