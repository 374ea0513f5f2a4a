import type { Route, RouteRequest } from '@penstock/http'
import { z } from 'zod'
import { eventStreamType } from '../live/event-stream.ts'
import { type LiveQuery, liveList } from '../live/live-queries.ts'
import type { LiveSource } from '../live/live-streams.ts'
import { fromCursor } from '../paging/cursor.ts'
import { logFilter, toLogFilter } from './log-filter.ts'
import type { ObserveMount } from './observe-mount.ts'
import { runListFilter } from './pipeline-routes.ts'
import { observePath, searchText } from './query-route.ts'

const filters = { pipelines: runListFilter, logs: logFilter } as const

const liveQuery = z
  .strictObject({
    kind: z.enum(['pipelines', 'logs']),
    ...runListFilter,
    ...logFilter,
    q: searchText.optional().meta({ description: 'A text, as in the list' }),
  })
  .superRefine(({ kind, ...filter }, context) => {
    for (const name of Object.keys(filter)) {
      if (!(name in filters[kind])) context.addIssue({ code: 'unrecognized_keys', keys: [name] })
    }
  })

const lastEventId = z.object({
  'Last-Event-ID': z
    .string()
    .optional()
    .meta({ description: 'The id of the last event, to resume after it. Browsers send it when they connect again' }),
})

const description = `Events \`pipeline\` and \`log\` have the items of the lists \`pipelines\` and \`logs\` as data, in the order of arrival. A run is sent again
when it changes. The stream ends when the server drains or the caller loses its access.`

/** Returns the route of live updates, as server-sent events. */
export function liveRoute<Context, Access>(mount: ObserveMount<Context, Access>): Route<Context, Access> {
  const { store, streams, access, parse } = mount
  return {
    method: 'GET',
    path: `${observePath}/live`,
    access,
    query: liveQuery,
    headers: lastEventId,
    staysOpen: true,
    documentation: {
      operationId: 'followObserved',
      tag: 'observe',
      summary: 'Live updates of a list, as server-sent events',
      description,
      responses: {
        200: { description: 'A stream of events', body: z.string(), contentType: 'text/event-stream' },
        400: { description: 'Bad query, or a Last-Event-ID of another list' },
        429: { description: 'The caller has too many streams' },
        501: { description: 'The store has no live updates' },
        503: { description: 'There are too many streams, or the server is draining' },
      },
    },
    async handle(request, context) {
      if (streams === undefined) throw mount.notSupported()
      const query = toLiveQuery(parse(liveQuery, request.query))
      const after = parse(positionOf(query.what), request.raw.headers['last-event-id'])
      const caller = mount.callerOf(context)
      const refusal = streams.refusal(caller)
      if (refusal !== undefined) throw refusal === 'too_many_of_caller' ? mount.tooManyStreams() : mount.unavailable()
      const reply = { status: 200, contentType: eventStreamType, headers: { 'X-Accel-Buffering': 'no' } }
      if (request.method === 'HEAD') return { ...reply, content: '' }
      return { ...reply, content: streams.open(caller, sourceOf(store, query, request), after) }
    },
  }
}

function toLiveQuery({ kind, ...filter }: z.output<typeof liveQuery>): LiveQuery {
  if (kind === 'logs') return { what: kind, filter: toLogFilter(filter) }
  const { service, project, ref, status, children, q } = filter
  return { what: kind, filter: { service, project, ref, status, children: children === '1', text: q } }
}

/** Returns the schema for the header, which contains the cursor of an event. */
const positionOf = (what: LiveQuery['what']) =>
  z
    .string()
    .refine((id) => fromCursor(liveList(what), ['integer'], id) !== undefined, {
      params: { expected: 'the id of an event of this list' },
    })
    .optional()

const sourceOf = (
  store: ObserveMount<unknown, unknown>['store'],
  query: LiveQuery,
  { readmit }: RouteRequest,
): LiveSource => ({
  async read(cursor) {
    const after = cursor === undefined ? undefined : fromCursor(liveList(query.what), ['integer'], cursor)?.[0]
    const { json, nextCursor, isTruncated } = (await store.answer({ kind: 'live', query: { ...query, after } }))!
    return { text: json, position: nextCursor!, hasMore: isTruncated }
  },
  readmit: async () => readmit?.(),
})
