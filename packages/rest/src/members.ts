import { groupMembers, type Member, projectMembers } from '@penstock/core'
import { z } from 'zod'
import { basicUserShape } from './basic-user.ts'
import { type Area, type RestRoute, route, type Shape } from './route.ts'

/** `id` is that of the user. */
const memberShape: Shape<Member> = {
  schema: basicUserShape.schema.extend({
    access_level: z.int(),
    created_at: z.string(),
    created_by: basicUserShape.schema.optional(),
    expires_at: z.string().nullable(),
    membership_state: z.literal('active'),
  }),
  of: ({ user, level, createdAtMs, createdBy, expiresAt }, context) => ({
    ...basicUserShape.of(user, context),
    access_level: level,
    created_at: new Date(createdAtMs).toISOString(),
    ...(createdBy !== undefined && { created_by: basicUserShape.of(createdBy, context) }),
    expires_at: expiresAt ?? null,
    membership_state: 'active',
  }),
}

export const membersArea: Area = {
  tag: 'Members',
  routes: [...rows('groups', 'group', groupMembers), ...rows('projects', 'project', projectMembers)],
}

/** `/members/all` stands before `/members/:user_id`, which it would match. */
function rows(
  collection: 'groups' | 'projects',
  noun: 'group' | 'project',
  operations: typeof groupMembers,
): RestRoute[] {
  const names = { parent: 'id' } as const
  const all = `/${collection}/:id/members`
  const shape = memberShape
  return [
    route({
      method: 'GET',
      path: `${all}/all`,
      operation: operations.listAll,
      summary: `Members of a ${noun}, those of the groups above included`,
      names,
      shape,
    }),
    route({
      method: 'GET',
      path: `${all}/all/:user_id`,
      operation: operations.showAll,
      summary: `One member of a ${noun} or of the groups above`,
      names,
      shape,
    }),
    route({ method: 'GET', path: all, operation: operations.list, summary: `Members of a ${noun}`, names, shape }),
    route({
      method: 'POST',
      path: all,
      operation: operations.add,
      summary: `Makes a user a member of a ${noun}`,
      names,
      shape,
    }),
    route({
      method: 'GET',
      path: `${all}/:user_id`,
      operation: operations.show,
      summary: `One member of a ${noun}`,
      names,
      shape,
    }),
    route({
      method: 'PUT',
      path: `${all}/:user_id`,
      operation: operations.update,
      summary: `Changes the role of a member of a ${noun}`,
      names,
      shape,
    }),
    route({
      method: 'DELETE',
      path: `${all}/:user_id`,
      operation: operations.remove,
      summary: `Takes a member out of a ${noun}`,
      names,
    }),
  ]
}
