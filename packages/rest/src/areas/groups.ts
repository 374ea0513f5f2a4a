import {
  createGroup,
  listDescendantGroups,
  listGroupProjects,
  listGroups,
  listSharedProjects,
  listSubgroups,
  removeGroup,
  showGroupAvatar,
  showGroupDetails,
  updateGroup,
} from '@penstock/core'
import { fieldErrorText } from '../routing/field-error-text.ts'
import { type Area, route } from '../routing/route.ts'
import { immediateDeletion } from './parameters/absent-features.ts'
import { changedGroup, groupList, oneGroup, subgroupList } from './parameters/groups.ts'
import { groupProjectList, sharedProjectList } from './parameters/projects.ts'
import { acceptedShape } from './shapes/accepted-shape.ts'
import { avatarContent } from './shapes/avatar-url.ts'
import { groupDetailsShape, groupShape } from './shapes/group-shape.ts'
import { listedProjectShape, projectShape, withSimple } from './shapes/project-shape.ts'

const names = { group: 'id' } as const
const shape = groupShape

export const groupsArea: Area = {
  tag: 'Groups',
  routes: [
    route({
      method: 'GET',
      path: '/groups',
      operation: listGroups,
      summary: 'List groups.',
      shape,
      parameters: groupList,
    }),
    route({
      method: 'POST',
      path: '/groups',
      operation: createGroup,
      summary: 'Create a group, or a subgroup if parent_id is set.',
      shape,
      invalid: fieldErrorText('Failed to save group'),
      parameters: changedGroup,
    }),
    route({
      method: 'GET',
      path: '/groups/:id',
      operation: showGroupDetails,
      summary: 'Get a group with its projects.',
      names,
      shape: groupDetailsShape,
      parameters: oneGroup,
    }),
    route({
      method: 'PUT',
      path: '/groups/:id',
      operation: updateGroup,
      summary: 'Update a group.',
      names,
      shape,
      parameters: changedGroup,
    }),
    route({
      method: 'DELETE',
      path: '/groups/:id',
      operation: removeGroup,
      summary: 'Delete a group and everything in it.',
      names,
      parameters: { noEffect: immediateDeletion },
      status: 202,
      shape: acceptedShape,
    }),
    route({
      method: 'GET',
      path: '/groups/:id/subgroups',
      operation: listSubgroups,
      summary: 'List the direct subgroups of a group.',
      names,
      shape,
      parameters: subgroupList,
    }),
    route({
      method: 'GET',
      path: '/groups/:id/descendant_groups',
      operation: listDescendantGroups,
      summary: 'List all descendant groups of a group.',
      names,
      shape,
      parameters: subgroupList,
    }),
    route({
      method: 'GET',
      path: '/groups/:id/projects',
      operation: withSimple(listGroupProjects),
      summary: 'List the projects of a group.',
      names,
      shape: listedProjectShape,
      parameters: groupProjectList,
    }),
    route({
      method: 'GET',
      path: '/groups/:id/projects/shared',
      operation: withSimple(listSharedProjects),
      summary: 'List the projects that are shared with a group.',
      names,
      shape: projectShape,
      parameters: sharedProjectList,
    }),
    route({
      method: 'GET',
      path: '/groups/:id/avatar',
      operation: showGroupAvatar,
      summary: 'Get the picture of a group.',
      names: { parent: 'id' },
      content: avatarContent,
    }),
  ],
}
