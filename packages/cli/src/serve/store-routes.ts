import { ApiError, type ManagementContext, type OperationName, parseInput, toTooLargeError } from '@penstock/gateway'
import type { Route } from '@penstock/http'
import { type LiveStreams, type ObserveMount, observeRoutes } from '@penstock/observe'

/** Returns the query routes over a store, which require an API key. */
export const storeRoutes = (
  store: ObserveMount<ManagementContext, OperationName>['store'],
  streams: LiveStreams | undefined,
): readonly Route<ManagementContext, OperationName>[] =>
  observeRoutes({
    store,
    streams,
    access: 'observe',
    callerOf: ({ actor }: ManagementContext) => actor.id,
    parse: parseInput,
    unavailable: () => new ApiError('store_unavailable', 'The store of telemetry cannot answer at the moment.'),
    notSupported: () => new ApiError('not_supported', 'The store of telemetry does not support this query.'),
    answerTooLarge: toTooLargeError,
    traceNotFound: () => new ApiError('not_found', 'No such trace is stored.'),
    tooManyStreams: () =>
      new ApiError('rate_limited', 'This key has too many open streams.', { retry_after_seconds: 5 }),
  })
