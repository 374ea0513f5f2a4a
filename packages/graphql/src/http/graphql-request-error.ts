/** The error for a request that is not executed, with the status and the message of its response. */
export class GraphqlRequestError extends Error {
  override readonly name = 'GraphqlRequestError'
  readonly status: number
  /** The user, if the credential is known but may not be used for GraphQL. */
  readonly userId: number | undefined

  constructor(status: number, message: string, { userId }: { readonly userId?: number | undefined } = {}) {
    super(message)
    this.status = status
    this.userId = userId
  }
}
