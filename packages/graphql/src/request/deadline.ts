import type { Clock } from '@penstock/runtime'
import { GraphQLError, type GraphQLFieldResolver } from 'graphql'

/** The end of the time for a request: its time limit, or the disconnection of its client. No work starts after it. */
export class Deadline {
  #isLate = false
  readonly #isGone: () => boolean
  readonly #over: Promise<void>
  readonly #end = new AbortController()

  /** @param isGone returns whether the client has disconnected */
  constructor(clock: Clock, timeoutMs: number, isGone: () => boolean = () => false) {
    this.#isGone = isGone
    this.#over = clock.sleep(timeoutMs, this.#end.signal).then(
      () => {
        this.#isLate = true
      },
      // The sleep was aborted because the request has been answered.
      () => new Promise<never>(() => {}),
    )
  }

  get isOver(): boolean {
    return this.#isLate || this.#isGone()
  }

  /** Call it before any work starts. @throws GraphQLError after the deadline */
  requireTime(): void {
    if (this.isOver) throw new GraphQLError('Timeout')
  }

  /** Returns the result of `work`. @throws GraphQLError with the name of the field if the deadline comes first */
  async race<Result>(field: string, work: Promise<Result>): Promise<Result> {
    const done = work.finally(() => {
      // A result after the deadline is discarded too, so that the fields below it are not resolved.
      if (this.isOver) throw timeoutOf(field)
    })
    return Promise.race([
      done,
      this.#over.then((): never => {
        throw timeoutOf(field)
      }),
    ])
  }

  end(): void {
    this.#end.abort()
  }
}

const timeoutOf = (field: string): GraphQLError => new GraphQLError(`Timeout on ${field}`)

/**
 * Wraps a resolver so that it fails at the deadline of its request. Fields that have been resolved by then stay in the
 * response.
 */
export function withDeadline<Source, Context extends { readonly deadline: Deadline }, Args>(
  field: string,
  resolve: GraphQLFieldResolver<Source, Context, Args>,
): GraphQLFieldResolver<Source, Context, Args> {
  return (source, args, context, info) => {
    const { deadline } = context
    if (deadline.isOver) throw timeoutOf(field)
    const result = resolve(source, args, context, info)
    return result instanceof Promise ? deadline.race(field, result) : result
  }
}
