import {
  createGroup,
  type Group,
  listDescendantGroups,
  listGroupProjects,
  listGroups,
  listSubgroups,
  removeGroup,
  showGroup,
  updateGroup,
  visibilities,
} from '@penstock/core'
import { z } from 'zod'
import { fieldErrorText } from '../routing/field-error-text.ts'
import { type Area, route, type Shape } from '../routing/route.ts'
import { immediateDeletion } from './parameters/common.ts'
import { groupList, subgroupList } from './parameters/groups.ts'
import { groupProjectList } from './parameters/projects.ts'
import { acceptedShape } from './shapes/accepted-shape.ts'
import { listedProjectShape } from './shapes/project-shape.ts'

const groupShape: Shape<Group> = {
  schema: z
    .object({
      id: z.int(),
      web_url: z.string(),
      name: z.string(),
      path: z.string(),
      description: z.string(),
      visibility: z.enum(visibilities),
      request_access_enabled: z.boolean(),
      avatar_url: z.string().nullable(),
      full_name: z.string(),
      full_path: z.string(),
      created_at: z.string(),
      parent_id: z.int().nullable(),
      shared_with_groups: z.array(z.unknown()),
    })
    .meta({ id: 'Group' }),
  of: (group, { externalUrl }) => ({
    id: group.id,
    web_url: `${externalUrl}/groups/${group.fullPath}`,
    name: group.name,
    path: group.path,
    description: group.description,
    visibility: group.visibility,
    request_access_enabled: group.requestAccessEnabled,
    avatar_url: null,
    full_name: group.fullName,
    full_path: group.fullPath,
    created_at: new Date(group.createdAtMs).toISOString(),
    parent_id: group.parentId ?? null,
    shared_with_groups: [],
  }),
}

const names = { group: 'id' } as const
const shape = groupShape

export const groupsArea: Area = {
  tag: 'Groups',
  routes: [
    route({
      method: 'GET',
      path: '/groups',
      operation: listGroups,
      parameters: groupList,
      summary: 'List groups.',
      shape,
    }),
    route({
      method: 'POST',
      path: '/groups',
      operation: createGroup,
      summary: 'Create a group, or a subgroup if parent_id is set.',
      shape,
      invalid: fieldErrorText('Failed to save group'),
    }),
    route({ method: 'GET', path: '/groups/:id', operation: showGroup, summary: 'Get a group.', names, shape }),
    route({ method: 'PUT', path: '/groups/:id', operation: updateGroup, summary: 'Update a group.', names, shape }),
    route({
      method: 'DELETE',
      path: '/groups/:id',
      operation: removeGroup,
      parameters: { noEffect: immediateDeletion },
      summary: 'Delete a group and everything in it.',
      names,
      status: 202,
      shape: acceptedShape,
    }),
    route({
      method: 'GET',
      path: '/groups/:id/subgroups',
      operation: listSubgroups,
      parameters: subgroupList,
      summary: 'List the direct subgroups of a group.',
      names,
      shape,
    }),
    route({
      method: 'GET',
      path: '/groups/:id/descendant_groups',
      operation: listDescendantGroups,
      parameters: subgroupList,
      summary: 'List all descendant groups of a group.',
      names,
      shape,
    }),
    route({
      method: 'GET',
      path: '/groups/:id/projects',
      operation: listGroupProjects,
      parameters: groupProjectList,
      summary: 'List the projects of a group.',
      names,
      shape: listedProjectShape,
    }),
  ],
}
