/** A request that is not executed: its status, and the one message of its answer. @see spec/graphql-contract.md 1.4 */
export class GraphqlRefusal extends Error {
  override readonly name = 'GraphqlRefusal'
  readonly status: number
  /** Of a body that cannot be read, which has no `errors`. */
  readonly isBeforeGraphql: boolean
  /** The user of a known credential that may not be used here. */
  readonly userId: number | undefined

  constructor(
    status: number,
    message: string,
    {
      isBeforeGraphql = false,
      userId,
    }: { readonly isBeforeGraphql?: boolean; readonly userId?: number | undefined } = {},
  ) {
    super(message)
    this.status = status
    this.isBeforeGraphql = isBeforeGraphql
    this.userId = userId
  }
}
