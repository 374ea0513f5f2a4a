import {
  type BatchQuery,
  type Described,
  type InputSchema,
  performBatch,
  type SizedDescription,
  type TaskCompletion,
  taskCompletionOf,
} from '@penstock/core'
import { html } from '@penstock/http'
import { GraphQLError, type GraphQLResolveInfo } from 'graphql'
import { AlreadyReportedError } from './failure.ts'
import type { RequestContext } from './request-context.ts'

type Query<Source> = BatchQuery<InputSchema, Source, SizedDescription | undefined>

/** A description to read: of one object, for one field of the document. */
interface DescriptionRequest {
  readonly query: Query<never>
  readonly source: unknown
  readonly position: number
}

/**
 * Returns the description of an object, read together with other descriptions. Returns `undefined` if the text budget is
 * exceeded and another field has reported that.
 *
 * @throws GraphQLError if this is the first description that exceeds the text budget
 */
export async function descriptionOf<Source>(
  query: Query<Source>,
  source: Source,
  context: RequestContext,
  info: GraphQLResolveInfo,
): Promise<Described | undefined> {
  // A new object is a new key for the loader, so a second field with the same description counts too.
  const request: DescriptionRequest = { query, source, position: info.fieldNodes[0]?.loc?.start ?? 0 }
  const described = await context.loaders.load('descriptions', request, (requests) =>
    readDescriptions(context, requests),
  )
  if (described instanceof GraphQLError) throw described
  return described
}

/** Returns the description as HTML. @throws GraphQLError like `descriptionOf` */
export async function descriptionHtmlOf<Source>(
  ...args: Parameters<typeof descriptionOf<Source>>
): Promise<string | undefined> {
  const described = await descriptionOf(...args)
  return described && html`${described.description ?? ''}`.text
}

/**
 * Returns the task counts of a description.
 *
 * @throws GraphQLError like `descriptionOf`, and AlreadyReportedError if that returns `undefined`
 */
export async function tasksOf<Source>(...args: Parameters<typeof descriptionOf<Source>>): Promise<TaskCompletion> {
  const described = await descriptionOf(...args)
  if (described === undefined) throw new AlreadyReportedError()
  return taskCompletionOf(described)
}

/** Reads descriptions in document order, in whatever order they were requested. Consecutive ones of one kind are one query. */
async function readDescriptions(
  context: RequestContext,
  requests: readonly DescriptionRequest[],
): Promise<(SizedDescription | GraphQLError | undefined)[]> {
  const { core, reads, actor, textBudget } = context
  const results = new Map<DescriptionRequest, SizedDescription | GraphQLError | undefined>()
  const remaining = requests.toSorted((one, other) => one.position - other.position)
  while (remaining.length > 0) {
    const { query } = remaining[0]!
    const end = remaining.findIndex((each) => each.query !== query)
    const group = remaining.splice(0, end < 0 ? remaining.length : end)
    // Requests with the same query have sources of its type, which the type of a request does not say.
    const sources = group.map(({ source }) => source as never)
    const taken = await textBudget.take(group.length, (maxBytes) =>
      performBatch(core, actor, query, sources, { maxBytes }, reads),
    )
    for (const [index, each] of group.entries()) results.set(each, taken[index] ?? textBudget.limitErrorFor(context))
  }
  return requests.map((each) => results.get(each))
}
