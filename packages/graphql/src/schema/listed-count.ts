import type { BatchQuery, InputSchema, Listed } from '@penstock/core'
import { loadBatched, type RequestContext } from '../request/request-context.ts'
import { Connection, MAX_COUNTED } from './connection.ts'

/**
 * Returns the length of a list, counted together with the lists of other parents; `undefined` if the caller may not read it.
 */
export async function countOf<Input extends InputSchema, Parent, Item>(
  context: RequestContext,
  query: BatchQuery<Input, Parent, Listed<Item> | undefined>,
  parent: Parent,
  input: object = {},
): Promise<number | undefined> {
  const listed = await loadBatched(context, query, parent, input)
  return listed && new Connection(listed, {}, context.loaders).count(MAX_COUNTED)
}
