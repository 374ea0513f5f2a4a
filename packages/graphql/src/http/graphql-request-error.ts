/** The error for a request that is not executed, with the status and the message of its response. */
export class GraphqlRequestError extends Error {
  override readonly name = 'GraphqlRequestError'
  readonly status: number
  /** Whether the response is `{"error": "…"}` instead of a GraphQL `errors` list, as for a body that cannot be read. */
  readonly hasPlainBody: boolean
  /** The user, if the credential is known but may not be used for GraphQL. */
  readonly userId: number | undefined

  constructor(
    status: number,
    message: string,
    { hasPlainBody = false, userId }: { readonly hasPlainBody?: boolean; readonly userId?: number | undefined } = {},
  ) {
    super(message)
    this.status = status
    this.hasPlainBody = hasPlainBody
    this.userId = userId
  }
}
