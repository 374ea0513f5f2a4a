import { setImmediate as nextTurn } from 'node:timers/promises'
import type { GraphQLError, GraphQLFieldResolver } from 'graphql'
import { FirstRefusal } from './first-refusal.ts'
import { OneByOne } from './one-by-one.ts'

/** Three hundred full pages; and fewer ids than a statement takes values. */
export const MAX_ITEMS = 30_000
/** Then others have their turn, and the deadline its chance. */
const ITEMS_PER_TURN = 500

/**
 * How much all lists of one answer hold together: pages are bounded one by one, but each item of a list may have lists of
 * its own, and a few levels of them are more than there is memory for.
 *
 * @see spec/graphql-contract.md 2.1
 */
export class ItemBudget {
  #left: number
  #ofThisTurn = 0
  readonly #refusal: FirstRefusal
  /** So that the first lists of the document are those that are given. */
  readonly #takings = new OneByOne()

  constructor(most: number) {
    this.#left = most
    this.#refusal = new FirstRefusal(`The lists of one request may hold at most ${most} items together`)
  }

  /** Whether there is room for so many more; after the first list that is refused, for none. */
  take(count: number): Promise<boolean> {
    return this.#takings.run(() => this.#takeNext(count))
  }

  /** For the first list of an operation that is refused. */
  refusalIn(operation: object): GraphQLError | undefined {
    return this.#refusal.in(operation)
  }

  async #takeNext(count: number): Promise<boolean> {
    if (this.#ofThisTurn > 0 && this.#ofThisTurn + count > ITEMS_PER_TURN) {
      await nextTurn()
      this.#ofThisTurn = 0
    }
    this.#ofThisTurn += count
    this.#left = count > this.#left ? -1 : this.#left - count
    return this.#left >= 0
  }
}

/** A resolver of a list that may be null, what it gives being taken from the budget of its request. */
export function counted<Source, Context extends { readonly items: ItemBudget }, Args>(
  resolve: GraphQLFieldResolver<Source, Context, Args>,
): GraphQLFieldResolver<Source, Context, Args> {
  return async (source, args, context, info) => {
    const list: unknown = await resolve(source, args, context, info)
    if (!Array.isArray(list) || list.length === 0) return list
    if (await context.items.take(list.length)) return list
    const refusal = context.items.refusalIn(context)
    if (refusal !== undefined) throw refusal
    return null
  }
}
