import {
  type Actor,
  type BatchQuery,
  type Core,
  type InputSchema,
  type Operation,
  perform,
  performBatch,
  type Reads,
  type RequestFacts,
} from '@penstock/core'
import type { CaptchaAnswer } from '@penstock/http'
import type { BlobBudget } from './blob-budget.ts'
import type { Deadline } from './deadline.ts'
import { orNull } from './failure.ts'
import type { ItemBudget } from './item-budget.ts'
import type { Loaders } from './loaders.ts'
import type { TextBudget } from './text-budget.ts'

/** The state that the resolvers of one operation share. */
export interface RequestContext {
  readonly core: Core
  /**
   * Reads for queries: they stop at the deadline and count against the read budget. Mutations do not use them, so that a
   * started change completes.
   */
  readonly reads: Reads
  readonly actor: Actor
  /** The facts of the HTTP request that operations may use. */
  readonly request: RequestFacts
  /** Whether the credential permits mutations. */
  readonly mayWrite: boolean
  readonly complexity: { readonly score: number; readonly limit: number }
  readonly deadline: Deadline
  /** The CAPTCHA response that a client sends when it repeats a change that was classified as spam. */
  readonly captcha: CaptchaAnswer | undefined
  /** The budgets are shared by all operations of an HTTP request. */
  readonly blobBudget: BlobBudget
  readonly itemBudget: ItemBudget
  readonly textBudget: TextBudget
  readonly loaders: Loaders
}

/** Runs a batch query of the core for one parent, together with the other parents that have the same input. */
export function loadBatched<Input extends InputSchema, Parent, Result>(
  context: RequestContext,
  query: BatchQuery<Input, Parent, Result>,
  parent: Parent,
  input: object = {},
): Promise<Result> {
  const { core, reads, actor, loaders } = context
  return loaders.load(`${query.name} ${JSON.stringify(input)}`, parent, (parents) =>
    performBatch(core, actor, query, parents, input, reads),
  )
}

/**
 * Runs an operation of the core for a mutation. It has no limits on reads, because a started change completes.
 *
 * @throws DomainError
 */
export const performIn = <Input extends InputSchema, Result>(
  { core, actor, request }: RequestContext,
  operation: Operation<Input, Result>,
  input: object,
): Promise<Result> => perform(core, actor, operation, input, { request })

/**
 * Runs a query of the core that has no parent object. Returns null if the object does not exist or the caller may not see
 * it.
 */
export function readOrNull<Input extends InputSchema, Result>(
  { core, reads, request, actor, loaders }: RequestContext,
  operation: Operation<Input, Result>,
  input: object,
): Promise<Result | null> {
  return loaders.beforeNextRound(orNull(perform(core, actor, operation, input, { reads, request })))
}
