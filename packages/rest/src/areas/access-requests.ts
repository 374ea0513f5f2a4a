import { type AccessRequest, groupAccessRequests, projectAccessRequests } from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../routing/iso-time.ts'
import { type Area, type RestRoute, route, type Shape } from '../routing/route.ts'
import { orderedList } from './parameters/lists.ts'
import { basicUserShape } from './shapes/basic-user.ts'
import { memberShape } from './shapes/member-shape.ts'

/** A request for access. The field `id` is the id of the user. */
const requestShape: Shape<AccessRequest> = {
  schema: basicUserShape.schema.extend({ requested_at: z.string() }).meta({ id: 'AccessRequest' }),
  of: ({ user, requestedAtMs }, context) => ({
    ...basicUserShape.of(user, context),
    requested_at: isoTime(requestedAtMs),
  }),
}

const newRequestShape: Shape<AccessRequest> = {
  schema: basicUserShape.schema
    .extend({ created_at: z.string(), requested_at: z.string() })
    .meta({ id: 'NewAccessRequest' }),
  of: ({ user, requestedAtMs }, context) => {
    const time = isoTime(requestedAtMs)
    return { ...basicUserShape.of(user, context), created_at: time, requested_at: time }
  },
}

export const accessRequestsArea: Area = {
  tag: 'Access requests',
  routes: [...rows('groups', 'group', groupAccessRequests), ...rows('projects', 'project', projectAccessRequests)],
}

function rows(
  collection: 'groups' | 'projects',
  noun: 'group' | 'project',
  operations: typeof groupAccessRequests,
): RestRoute[] {
  const names = { parent: 'id' } as const
  const all = `/${collection}/:id/access_requests`
  return [
    route({
      method: 'GET',
      path: all,
      operation: operations.list,
      summary: `List the requests for access to a ${noun}, oldest first. Users who may not approve them get their own.`,
      names,
      shape: requestShape,
      parameters: orderedList,
    }),
    route({
      method: 'POST',
      path: all,
      operation: operations.create,
      summary: `Request access to a ${noun}.`,
      names,
      shape: newRequestShape,
    }),
    route({
      method: 'PUT',
      path: `${all}/:user_id/approve`,
      operation: operations.approve,
      summary: `Approve a request for access: the user becomes a member of the ${noun}.`,
      names,
      shape: memberShape,
      status: 201,
    }),
    route({
      method: 'DELETE',
      path: `${all}/:user_id`,
      operation: operations.remove,
      summary: `Deny a request for access to a ${noun}, or withdraw one's own.`,
      names,
    }),
  ]
}
