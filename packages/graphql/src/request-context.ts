import {
  type Actor,
  type BatchQuery,
  type Core,
  type InputSchema,
  type Operation,
  perform,
  performBatch,
  type Reads,
} from '@penstock/core'
import type { CaptchaAnswer } from '@penstock/http'
import type { BlobData } from './blob-data.ts'
import type { Deadline } from './deadline.ts'
import { orNull } from './failure.ts'
import type { ItemBudget } from './item-budget.ts'
import type { Loaders } from './loaders.ts'
import type { TextBudget } from './text-budget.ts'

/** What the resolvers of one operation share. */
export interface RequestContext {
  readonly core: Core
  /** Until the request is over, and within its budget. A change reads as it likes, and what it has begun it finishes. */
  readonly reads: Reads
  readonly actor: Actor
  /** With a credential that may change things. */
  readonly mayWrite: boolean
  readonly complexity: { readonly score: number; readonly limit: number }
  readonly deadline: Deadline
  /** What the caller sends with a change that was taken for spam. */
  readonly captcha: CaptchaAnswer | undefined
  /** Of the whole HTTP request. */
  readonly blobData: BlobData
  /** Of the whole HTTP request. */
  readonly items: ItemBudget
  /** Of the whole HTTP request. */
  readonly texts: TextBudget
  readonly loaders: Loaders
}

/** A batch query of the core for one parent, asked together with those of the other parents that have the same input. */
export function ask<Input extends InputSchema, Parent, Result>(
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

/** A query of the core that is asked of nothing before it: null where there is nothing, or nothing for the caller. */
export function readOrNull<Input extends InputSchema, Result>(
  { core, reads, actor, loaders }: RequestContext,
  operation: Operation<Input, Result>,
  input: object,
): Promise<Result | null> {
  return loaders.after(orNull(perform(core, actor, operation, input, reads)))
}
