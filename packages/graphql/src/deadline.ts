import type { Clock } from '@penstock/runtime'
import { GraphQLError, type GraphQLFieldResolver } from 'graphql'

/** When a request has to be answered, done or not; or nobody waits for the answer any more. Then nothing more is begun. */
export class Deadline {
  #isLate = false
  readonly #isGone: () => boolean
  readonly #over: Promise<void>
  readonly #end = new AbortController()

  /** @param isGone whether the caller has gone away */
  constructor(clock: Clock, timeoutMs: number, isGone: () => boolean = () => false) {
    this.#isGone = isGone
    this.#over = clock.sleep(timeoutMs, this.#end.signal).then(
      () => {
        this.#isLate = true
      },
      // Told to end: the request has been answered.
      () => new Promise<never>(() => {}),
    )
  }

  get isOver(): boolean {
    return this.#isLate || this.#isGone()
  }

  /** Before anything is begun. @throws GraphQLError */
  requireTime(): void {
    if (this.isOver) throw new GraphQLError('Timeout')
  }

  /** `work`, or an error that names the field when the time is over before it. */
  async race<Result>(field: string, work: Promise<Result>): Promise<Result> {
    const done = work.finally(() => {
      // Whatever has come of it: what would be asked of that is not begun.
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
