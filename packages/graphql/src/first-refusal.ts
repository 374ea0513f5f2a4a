import { GraphQLError } from 'graphql'

/** What each operation is told once, of the first thing refused: thousands of errors would be a burden of their own. */
export class FirstRefusal {
  readonly #message: string
  readonly #told = new WeakSet<object>()

  constructor(message: string) {
    this.#message = message
  }

  in(operation: object): GraphQLError | undefined {
    if (this.#told.has(operation)) return undefined
    this.#told.add(operation)
    return new GraphQLError(this.#message)
  }
}
