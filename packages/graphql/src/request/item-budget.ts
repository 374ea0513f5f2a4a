import { setImmediate as nextTurn } from 'node:timers/promises'
import type { GraphQLError, GraphQLFieldResolver } from 'graphql'
import { OncePerOperationError } from './once-per-operation-error.ts'
import { SerialQueue } from './serial-queue.ts'

/** Equals 300 full pages, and stays below the number of parameters that a statement can have. */
export const MAX_ITEMS = 30_000
/** After this number of items, other requests and the deadline timer get a turn of the event loop. */
const ITEMS_PER_TURN = 500

/**
 * Limits the number of items in all lists of one response. Each page is limited, but an item of a list may contain lists in
 * turn, and a few such levels would exceed the memory.
 */
export class ItemBudget {
  #remaining: number
  #takenThisTurn = 0
  readonly #limitError: OncePerOperationError
  /** Items are taken in the order of the document. */
  readonly #queue = new SerialQueue()

  constructor(maxItems: number) {
    this.#remaining = maxItems
    this.#limitError = new OncePerOperationError(`The lists of one request may hold at most ${maxItems} items together`)
  }

  /**
   * Takes `count` items, and returns whether they are within the limit. After the first list that exceeds it, all
   * further lists exceed it too.
   */
  take(count: number): Promise<boolean> {
    return this.#queue.run(() => this.#takeNext(count))
  }

  /** Returns the error for the first list of an operation that exceeds the limit; `undefined` for later ones. */
  limitErrorFor(operation: object): GraphQLError | undefined {
    return this.#limitError.errorFor(operation)
  }

  async #takeNext(count: number): Promise<boolean> {
    if (this.#takenThisTurn > 0 && this.#takenThisTurn + count > ITEMS_PER_TURN) {
      await nextTurn()
      this.#takenThisTurn = 0
    }
    this.#takenThisTurn += count
    this.#remaining = count > this.#remaining ? -1 : this.#remaining - count
    return this.#remaining >= 0
  }
}

/** Wraps the resolver of a nullable list so that its items are taken from the budget of the request. */
export function withItemBudget<Source, Context extends { readonly itemBudget: ItemBudget }, Args>(
  resolve: GraphQLFieldResolver<Source, Context, Args>,
): GraphQLFieldResolver<Source, Context, Args> {
  return async (source, args, context, info) => {
    const list: unknown = await resolve(source, args, context, info)
    if (!Array.isArray(list) || list.length === 0) return list
    if (await context.itemBudget.take(list.length)) return list
    const error = context.itemBudget.limitErrorFor(context)
    if (error !== undefined) throw error
    return null
  }
}
