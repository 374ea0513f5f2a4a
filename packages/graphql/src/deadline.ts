import type { Clock } from '@penstock/runtime'
import { GraphQLError, type GraphQLFieldResolver } from 'graphql'

/** When a request has to be answered, done or not. */
export class Deadline {
  isOver = false
  readonly #over: Promise<void>
  readonly #end = new AbortController()

  constructor(clock: Clock, timeoutMs: number) {
    this.#over = clock.sleep(timeoutMs, this.#end.signal).then(
      () => {
        this.isOver = true
      },
      // Told to end: the request has been answered.
      () => new Promise<never>(() => {}),
    )
  }

  /** `work`, or an error that names the field when the time is over before it. */
  async race<Result>(field: string, work: Promise<Result>): Promise<Result> {
    return Promise.race([
      work,
      this.#over.then((): never => {
        throw timeoutOf(field)
      }),
    ])
  }

  end(): void {
    this.#end.abort()
  }
}

export const timeoutOf = (field: string): GraphQLError => new GraphQLError(`Timeout on ${field}`)

/** A resolver that gives up at the deadline of its request: what has been resolved by then is kept. */
export function timed<Source, Context extends { readonly deadline: Deadline }, Args>(
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
