import {
  activateUser,
  blockUser,
  createUser,
  deactivateUser,
  getCurrentUser,
  getUserProfile,
  listStarredProjects,
  listUserActivities,
  listUserProjects,
  listUsers,
  removeUser,
  type UserActivity,
  unblockUser,
  updateUser,
} from '@penstock/core'
import { z } from 'zod'
import { type Area, route, type Shape } from '../routing/route.ts'
import { orderedList } from './parameters/lists.ts'
import { projectList } from './parameters/projects.ts'
import { changedUser, newUser, oneUser, ownUser, userList } from './parameters/users.ts'
import { listedProjectShape, withSimple } from './shapes/project-shape.ts'
import { userShape } from './shapes/user-shape.ts'

const activityShape: Shape<UserActivity> = {
  schema: z
    .object({ username: z.string(), last_activity_on: z.string(), last_activity_at: z.string() })
    .meta({ id: 'UserActivity' }),
  of: ({ username, lastActivityOn }) => ({
    username,
    last_activity_on: lastActivityOn,
    // A former name of the same day.
    last_activity_at: lastActivityOn,
  }),
}

/** The response to a change of the state. */
const doneShape: Shape<true> = { schema: z.literal(true), of: (done) => done }

const scopes = ['read_user']
const names = { user: 'id' } as const

export const usersArea: Area = {
  tag: 'Users',
  routes: [
    route({
      method: 'GET',
      path: '/user',
      operation: getCurrentUser,
      summary: 'Get the current user.',
      scopes,
      parameters: ownUser,
      shape: userShape,
    }),
    route({
      method: 'GET',
      path: '/user/activities',
      operation: listUserActivities,
      summary: 'List the days on which users were last active. Only for administrators.',
      parameters: orderedList,
      shape: activityShape,
    }),
    route({
      method: 'GET',
      path: '/users',
      operation: listUsers,
      summary: 'List users.',
      scopes,
      shape: userShape,
      parameters: userList,
    }),
    route({
      method: 'GET',
      path: '/users/:id',
      operation: getUserProfile,
      summary: 'Get a user.',
      names,
      scopes,
      parameters: oneUser,
      shape: userShape,
    }),
    route({
      method: 'GET',
      path: '/users/:id/projects',
      operation: withSimple(listUserProjects),
      summary: 'List the projects in the namespace of a user.',
      names,
      parameters: projectList,
      scopes,
      shape: listedProjectShape,
    }),
    route({
      method: 'GET',
      path: '/users/:id/starred_projects',
      operation: withSimple(listStarredProjects),
      summary: 'List the projects that a user has starred.',
      names,
      parameters: projectList,
      scopes,
      shape: listedProjectShape,
    }),
    route({
      method: 'POST',
      path: '/users',
      operation: createUser,
      summary: 'Create a user. Only for administrators.',
      shape: userShape,
      parameters: newUser,
    }),
    route({
      method: 'PUT',
      path: '/users/:id',
      operation: updateUser,
      summary: 'Update a user. Only for administrators.',
      names,
      shape: userShape,
      parameters: changedUser,
    }),
    route({
      method: 'DELETE',
      path: '/users/:id',
      operation: removeUser,
      summary: 'Delete a user and the projects in the namespace of the user. Only for administrators.',
      names,
    }),
    ...Object.entries({
      block: blockUser,
      unblock: unblockUser,
      activate: activateUser,
      deactivate: deactivateUser,
    }).map(([verb, operation]) =>
      route({
        method: 'POST',
        path: `/users/:id/${verb}`,
        operation,
        summary: `${verb.charAt(0).toUpperCase()}${verb.slice(1)} a user. Only for administrators.`,
        names,
        shape: doneShape,
      }),
    ),
  ],
}
