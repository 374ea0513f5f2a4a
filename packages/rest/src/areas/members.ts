import { type AddedMembers, groupMembers, projectMembers } from '@penstock/core'
import { z } from 'zod'
import { type Area, type RestRoute, route, type Shape } from '../routing/route.ts'
import { changedMember, memberList, newGroupMember, newMember, removedMember } from './parameters/groups.ts'
import { projectUsersRoute } from './project-users.ts'
import { memberShape } from './shapes/member-shape.ts'

/**
 * The response to adding members. If one was added, it is the member; if several were added, it says only that the
 * request succeeded.
 */
const addedShape: Shape<AddedMembers> = {
  schema: z.union([memberShape.schema, z.object({ status: z.literal('success') }).meta({ id: 'MembersAdded' })]),
  of: ({ members }, context) => (members.length === 1 ? memberShape.of(members[0]!, context) : { status: 'success' }),
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
      summary: `List the members of a ${noun}, including members inherited from parent groups.`,
      names,
      shape,
      parameters: memberList,
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
      summary: `List the members of a ${noun}.`,
      names,
      shape,
      parameters: memberList,
    }),
    route({
      method: 'POST',
      path: all,
      operation: operations.add,
      summary: `Add members to a ${noun}.`,
      names,
      shape: addedShape,
      parameters: noun === 'group' ? newGroupMember : newMember,
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
      summary: `Update a member of a ${noun}.`,
      names,
      shape,
      parameters: changedMember,
    }),
    route({
      method: 'DELETE',
      path: `${all}/:user_id`,
      operation: operations.remove,
      summary: `Remove a member from a ${noun}.`,
      names,
      parameters: removedMember,
    }),
  ]
}
