import type { Reply, Route, RouteRequest } from '@penstock/http'
import { QueryTooLarge, type StoreQuery } from '../ports/store-queries.ts'
import { ThreadUnavailable } from '../threads/store-thread.ts'
import { insightRoutes } from './insight-routes.ts'
import { liveRoute } from './live-route.ts'
import type { ObserveMount } from './observe-mount.ts'
import { pipelineRoutes } from './pipeline-routes.ts'
import { observePath, type QueryRoute } from './query-route.ts'
import { logRoutes, metricRoutes, statusRoutes, traceRoutes } from './telemetry-routes.ts'

/** The header of a list that ends early, because of the size of an answer or the time limit of a search. */
const TRUNCATED_HEADER = 'X-Truncated'
const CURSOR_HEADER = 'X-Next-Cursor'

const pageHeaders = {
  Link: 'The next page, if there is one (RFC 8288)',
  [CURSOR_HEADER]: 'The `cursor` of the next page, if there is one',
  [TRUNCATED_HEADER]:
    '`true` if the page ends before its limit, because the answer would be too long or the search take too long',
}

const queryRoutes: readonly QueryRoute[] = [
  ...statusRoutes,
  ...pipelineRoutes,
  ...insightRoutes,
  ...traceRoutes,
  ...metricRoutes,
  ...logRoutes,
]

/**
 * Returns the HTTP routes for queries. All are GET and change nothing. Keys defined here are snake_case, times are nanoseconds
 * as text, and telemetry is OTLP/JSON.
 */
export function observeRoutes<Context, Access>(
  mount: ObserveMount<Context, Access>,
): readonly Route<Context, Access>[] {
  return [...queryRoutes.map((route) => toRoute(route, mount)), liveRoute(mount)]
}

function toRoute<Context, Access>(
  { path, operationId, summary, description, answer, query, params, refusals, isPaged, toStoreQuery }: QueryRoute,
  { store, access, parse, unavailable, answerTooLarge, traceNotFound }: ObserveMount<Context, Access>,
): Route<Context, Access> {
  const ask = (query: StoreQuery) =>
    store.answer(query).catch((error: unknown) => {
      if (error instanceof QueryTooLarge) throw answerTooLarge(error.answer)
      throw error instanceof ThreadUnavailable ? unavailable() : error
    })
  const responses = {
    200: { description: summary, body: answer, ...(isPaged && { headers: pageHeaders }) },
    400: { description: 'Bad query' },
    413: {
      description:
        'The answer would be larger than 8 MiB (32 MiB for a trace) and cannot end early. The error names the member with the most text and, for a list with pages, the cursor of the items after the one that is too large',
    },
    503: { description: 'The store has too many queries, or had to be restarted' },
    ...refusals,
  }
  return {
    method: 'GET',
    path: `${observePath}${path}`,
    access,
    query,
    ...(params && { params }),
    documentation: { operationId, tag: 'observe', summary, ...(description && { description }), responses },
    async handle(request): Promise<Reply> {
      const found = await ask(toStoreQuery(parse(query, request.query), params ? parse(params, request.params) : {}))
      if (found === undefined) throw traceNotFound()
      return {
        status: 200,
        content: found.json,
        contentType: 'application/json; charset=utf-8',
        headers: {
          ...(found.isTruncated && { [TRUNCATED_HEADER]: 'true' }),
          ...nextPage(request, found.nextCursor),
        },
      }
    },
  }
}

/** Returns the headers that lead to the next page with the parameters of this one (RFC 8288); none on the last page. */
function nextPage({ path, query }: RouteRequest, cursor: string | undefined): Record<string, string> {
  if (cursor === undefined) return {}
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...query, cursor })) {
    for (const one of [value].flat()) parameters.append(name, one as string)
  }
  return { Link: `<${path}?${parameters}>; rel="next"`, [CURSOR_HEADER]: cursor }
}
