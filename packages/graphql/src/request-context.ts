import { type Actor, type BatchQuery, type Core, type InputSchema, performBatch } from '@penstock/core'
import DataLoader from 'dataloader'
import type { BlobData } from './blob-data.ts'
import type { Deadline } from './deadline.ts'
import type { ItemBudget } from './item-budget.ts'

/** What the resolvers of one operation share. */
export interface RequestContext {
  readonly core: Core
  readonly actor: Actor
  /** With a credential that may change things. */
  readonly mayWrite: boolean
  readonly complexity: { readonly score: number; readonly limit: number }
  readonly deadline: Deadline
  /** What the caller sends with a change that was taken for spam. */
  readonly captcha: Captcha | undefined
  /** Of the whole HTTP request. */
  readonly blobData: BlobData
  /** Of the whole HTTP request. */
  readonly items: ItemBudget
  /** By what is loaded, with its arguments. */
  readonly loaders: Map<string, DataLoader<unknown, unknown>>
}

export interface Captcha {
  readonly response: string
  readonly spamLogId: number
}

/**
 * What `load` gives for `parent`, asked together with the other parents of the same level: `load` runs once for all of them.
 *
 * @param what with its arguments, if there are any: those with the same text are loaded together
 * @param keyOf by what parents are the same, where they are not by being the same object
 */
export function batched<Parent, Result>(
  { loaders }: RequestContext,
  what: string,
  parent: Parent,
  load: (parents: readonly Parent[]) => Promise<readonly Result[]>,
  keyOf?: (parent: Parent) => unknown,
): Promise<Result> {
  const known = loaders.get(what) as DataLoader<Parent, Result> | undefined
  const loader = known ?? new DataLoader<Parent, Result>(load, keyOf && { cacheKeyFn: keyOf as never })
  if (known === undefined) loaders.set(what, loader as DataLoader<unknown, unknown>)
  return loader.load(parent)
}

/** A batch query of the core for one parent, asked together with those of the other parents that have the same input. */
export function ask<Input extends InputSchema, Parent, Result>(
  context: RequestContext,
  query: BatchQuery<Input, Parent, Result>,
  parent: Parent,
  input: object = {},
): Promise<Result | undefined> {
  const { core, actor } = context
  return batched(context, `${query.name} ${JSON.stringify(input)}`, parent, (parents) =>
    performBatch(core, actor, query, parents, input),
  )
}
