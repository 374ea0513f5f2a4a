import type { InputSchema, Operation, Page, TimeStats, User, WithSubscription } from '@penstock/core'
import { type RestRoute, type RouteRow, route, type Shape } from '../routing/route.ts'
import { orderedList } from './parameters/lists.ts'
import { basicUserShape } from './shapes/basic-user.ts'
import { timeStatsShape } from './shapes/issuable-shape.ts'

type TimeChange = 'setEstimate' | 'resetEstimate' | 'addSpentTime' | 'resetSpentTime'

/** The operations on participants, subscriptions and time of issues or of merge requests. */
interface TrackingOperations<Shown> extends Readonly<Record<TimeChange, Operation<InputSchema, TimeStats>>> {
  readonly listParticipants: Operation<InputSchema, Page<User>>
  readonly subscribe: Operation<InputSchema, WithSubscription<Shown>>
  readonly unsubscribe: Operation<InputSchema, WithSubscription<Shown>>
  readonly getTimeStats: Operation<InputSchema, TimeStats>
}

interface Tracked<Shown> {
  /** `issue` in summaries. */
  readonly noun: string
  /** The path of one. */
  readonly one: string
  readonly operations: TrackingOperations<Shown>
  readonly shape: Shape<Shown>
}

const names: NonNullable<RouteRow<InputSchema, unknown>['names']> = { project: 'id' }

/** Returns the routes for participants, subscriptions and time of issues or of merge requests. */
export function trackingRoutes<Shown>({ noun, one, operations, shape }: Tracked<Shown>): RestRoute[] {
  const subscription = (name: 'subscribe' | 'unsubscribe', verb: string): RestRoute =>
    route<InputSchema, WithSubscription<Shown>>({
      method: 'POST',
      path: `${one}/${name}`,
      operation: operations[name],
      names,
      shape: shape as Shape<never>,
      isUnchanged: ({ isUnchanged }) => isUnchanged,
      summary: `${verb} the ${noun}. The status is 304 if nothing had to be changed.`,
    })
  const time = (name: TimeChange, path: string, summary: string, status = 200): RestRoute =>
    route({
      method: 'POST',
      path: `${one}/${path}`,
      operation: operations[name],
      names,
      shape: timeStatsShape,
      status,
      summary,
    })
  return [
    route({
      method: 'GET',
      path: `${one}/participants`,
      operation: operations.listParticipants,
      parameters: orderedList,
      names,
      shape: basicUserShape,
      summary: `List the participants of the ${noun}: its author, assignees and reviewers.`,
    }),
    subscription('subscribe', 'Subscribe the caller to'),
    subscription('unsubscribe', 'Unsubscribe the caller from'),
    route({
      method: 'GET',
      path: `${one}/time_stats`,
      operation: operations.getTimeStats,
      names,
      shape: timeStatsShape,
      summary: `Get the time tracking of the ${noun}.`,
    }),
    time('setEstimate', 'time_estimate', `Set the time estimate of the ${noun}, such as 3h 30m.`),
    time('resetEstimate', 'reset_time_estimate', `Remove the time estimate of the ${noun}.`),
    time('addSpentTime', 'add_spent_time', `Add spent time to the ${noun}, or subtract it with a minus sign.`, 201),
    time('resetSpentTime', 'reset_spent_time', `Remove the spent time of the ${noun}.`),
  ]
}
