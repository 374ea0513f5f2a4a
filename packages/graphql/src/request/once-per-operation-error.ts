import { GraphQLError } from 'graphql'

/** An error that each operation reports once. Thousands of equal errors would make the response large. */
export class OncePerOperationError {
  readonly #message: string
  readonly #reported = new WeakSet<object>()

  constructor(message: string) {
    this.#message = message
  }

  /** Returns the error, or `undefined` if this operation has reported it already. */
  errorFor(operation: object): GraphQLError | undefined {
    if (this.#reported.has(operation)) return undefined
    this.#reported.add(operation)
    return new GraphQLError(this.#message)
  }
}
