import {
  type BatchQuery,
  type Described,
  type SizedDescription,
  type InputSchema,
  performBatch,
  type TaskCompletion,
  taskCompletionOf,
} from '@penstock/core'
import { html } from '@penstock/http'
import { GraphQLError, type GraphQLResolveInfo } from 'graphql'
import { ToldBefore } from './failure.ts'
import type { RequestContext } from './request-context.ts'

type Query<Source> = BatchQuery<InputSchema, Source, SizedDescription | undefined>

/** One field of the document, of one source. */
interface Asked {
  readonly query: Query<never>
  readonly source: unknown
  readonly position: number
}

/**
 * What something says of itself, read with the same of the others; `undefined` where that is refused and has been told.
 *
 * @throws GraphQLError where it is the first that is refused
 */
export async function descriptionOf<Source>(
  query: Query<Source>,
  source: Source,
  context: RequestContext,
  info: GraphQLResolveInfo,
): Promise<Described | undefined> {
  // Made for this field: another one that tells the same is another key, and counts too.
  const asked: Asked = { query, source, position: info.fieldNodes[0]?.loc?.start ?? 0 }
  const given = await context.loaders.load('descriptions', asked, (all) => give(context, all))
  if (given instanceof GraphQLError) throw given
  return given
}

/** The same, as text of a page. @throws GraphQLError as well */
export async function descriptionHtmlOf<Source>(
  ...asked: Parameters<typeof descriptionOf<Source>>
): Promise<string | undefined> {
  const described = await descriptionOf(...asked)
  return described && html`${described.description ?? ''}`.text
}

/** @throws GraphQLError, and ToldBefore where the description is refused and has been told */
export async function tasksOf<Source>(...asked: Parameters<typeof descriptionOf<Source>>): Promise<TaskCompletion> {
  const described = await descriptionOf(...asked)
  if (described === undefined) throw new ToldBefore()
  return taskCompletionOf(described)
}

/** In the order of the document, whichever list was there first; those of a kind that follow each other at once. */
async function give(
  context: RequestContext,
  all: readonly Asked[],
): Promise<(SizedDescription | GraphQLError | undefined)[]> {
  const { core, reads, actor, texts } = context
  const given = new Map<Asked, SizedDescription | GraphQLError | undefined>()
  const left = all.toSorted((one, other) => one.position - other.position)
  while (left.length > 0) {
    const { query } = left[0]!
    const end = left.findIndex((each) => each.query !== query)
    const some = left.splice(0, end < 0 ? left.length : end)
    const sources = some.map(({ source }) => source as never)
    const taken = await texts.take(some.length, (mostBytes) =>
      performBatch(core, actor, query, sources, { maxBytes: mostBytes }, reads),
    )
    for (const [index, each] of some.entries()) given.set(each, taken[index] ?? texts.refusalIn(context))
  }
  return all.map((each) => given.get(each))
}
