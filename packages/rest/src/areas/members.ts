import { groupMembers, type Member, projectMembers } from '@penstock/core'
import { z } from 'zod'
import { type Area, type RestRoute, route, type Shape } from '../routing/route.ts'
import { changedMember, memberList, newGroupMember, newMember } from './parameters/groups.ts'
import { projectUsersRoute } from './project-users.ts'
import { basicUserShape } from './shapes/basic-user.ts'

/** A member. The field `id` is the id of the user. */
const memberShape: Shape<Member> = {
  schema: basicUserShape.schema
    .extend({
      access_level: z.int(),
      created_at: z.string(),
      created_by: basicUserShape.schema.optional(),
      expires_at: z.string().nullable(),
      membership_state: z.literal('active'),
    })
    .meta({ id: 'Member' }),
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
  routes: [...rows('groups', 'group', groupMembers), ...rows('projects', 'project', projectMembers), projectUsersRoute],
}

/** Returns the routes. `/members/all` precedes `/members/:user_id`, which would match it too. */
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
      parameters: memberList,
      summary: `List the members of a ${noun}, including members inherited from parent groups.`,
      names,
      shape,
    }),
    route({
      method: 'GET',
      path: `${all}/all/:user_id`,
      operation: operations.showAll,
      summary: `Get a member of a ${noun}, including members inherited from parent groups.`,
      names,
      shape,
    }),
    route({
      method: 'GET',
      path: all,
      operation: operations.list,
      parameters: memberList,
      summary: `List the members of a ${noun}.`,
      names,
      shape,
    }),
    route({
      method: 'POST',
      path: all,
      operation: operations.add,
      parameters: noun === 'group' ? newGroupMember : newMember,
      summary: `Add a member to a ${noun}.`,
      names,
      shape,
    }),
    route({
      method: 'GET',
      path: `${all}/:user_id`,
      operation: operations.show,
      summary: `Get a member of a ${noun}.`,
      names,
      shape,
    }),
    route({
      method: 'PUT',
      path: `${all}/:user_id`,
      operation: operations.update,
      parameters: changedMember,
      summary: `Update a member of a ${noun}.`,
      names,
      shape,
    }),
    route({
      method: 'DELETE',
      path: `${all}/:user_id`,
      operation: operations.remove,
      summary: `Remove a member from a ${noun}.`,
      names,
    }),
  ]
}
