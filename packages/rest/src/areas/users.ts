import {
  activateUser,
  blockUser,
  createUser,
  deactivateUser,
  getCurrentUser,
  getUserProfile,
  listOwnEmails,
  listUserProjects,
  listUsers,
  removeUser,
  type User,
  type UserProfile,
  unblockUser,
  updateUser,
  userNamespaceId,
} from '@penstock/core'
import { z } from 'zod'
import { type Area, route, type Shape } from '../routing/route.ts'
import { projectList } from './parameters/projects.ts'
import { changedUser, oneUser, ownUser, userList } from './parameters/users.ts'
import { basicUserShape } from './shapes/basic-user.ts'
import { listedProjectShape } from './shapes/project-shape.ts'

const privateFieldsSchema = z.object({
  email: z.string(),
  commit_email: z.string(),
  is_admin: z.boolean(),
  namespace_id: z.int(),
  last_activity_on: z.string().nullable(),
  confirmed_at: z.string(),
  external: z.boolean(),
  private_profile: z.boolean(),
  two_factor_enabled: z.boolean(),
  can_create_group: z.boolean(),
  can_create_project: z.boolean(),
  projects_limit: z.int(),
  identities: z.array(z.unknown()),
})

/** GitLab's default. There is no limit here, but clients expect the field. */
const PROJECTS_LIMIT = 100_000

/** A user. The fields of `privateFieldsSchema` are present only for administrators and for the user itself. */
const userShape: Shape<UserProfile> = {
  schema: basicUserShape.schema
    .extend({ created_at: z.string(), bot: z.boolean() })
    .extend(privateFieldsSchema.partial().shape)
    .meta({ id: 'User' }),
  of: ({ user, isWhole }, context) => ({
    ...basicUserShape.of(user, context),
    created_at: new Date(user.createdAtMs).toISOString(),
    bot: user.isBot,
    ...(isWhole && {
      email: user.email,
      commit_email: user.email,
      is_admin: user.isAdministrator,
      namespace_id: userNamespaceId(user.id),
      last_activity_on: user.lastActivityOn ?? null,
      confirmed_at: new Date(user.createdAtMs).toISOString(),
      external: false,
      private_profile: false,
      two_factor_enabled: false,
      can_create_group: true,
      can_create_project: true,
      projects_limit: PROJECTS_LIMIT,
      identities: [],
    }),
  }),
}

/** An e-mail address. It is always confirmed, because only administrators set addresses. */
const emailShape: Shape<User> = {
  schema: z.object({ id: z.int(), email: z.string(), confirmed_at: z.string() }).meta({ id: 'Email' }),
  of: ({ id, email, createdAtMs }) => ({ id, email, confirmed_at: new Date(createdAtMs).toISOString() }),
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
      parameters: ownUser,
      summary: 'Get the current user.',
      scopes,
      shape: userShape,
    }),
    route({
      method: 'GET',
      path: '/user/emails',
      operation: listOwnEmails,
      summary: 'List the e-mail addresses of the current user.',
      scopes: [...scopes, 'email'],
      shape: emailShape,
      isList: true,
    }),
    route({
      method: 'GET',
      path: '/users',
      operation: listUsers,
      parameters: userList,
      summary: 'List users.',
      scopes,
      shape: userShape,
    }),
    route({
      method: 'GET',
      path: '/users/:id',
      operation: getUserProfile,
      parameters: oneUser,
      summary: 'Get a user.',
      names,
      scopes,
      shape: userShape,
    }),
    route({
      method: 'GET',
      path: '/users/:id/projects',
      operation: listUserProjects,
      parameters: projectList,
      summary: 'List the projects in the namespace of a user.',
      names,
      scopes,
      shape: listedProjectShape,
    }),
    route({
      method: 'POST',
      path: '/users',
      operation: createUser,
      parameters: changedUser,
      summary: 'Create a user. Only for administrators.',
      shape: userShape,
    }),
    route({
      method: 'PUT',
      path: '/users/:id',
      operation: updateUser,
      parameters: changedUser,
      summary: 'Update a user. Only for administrators.',
      names,
      shape: userShape,
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
