import {
  createFeatureFlag,
  createUserList,
  flagFields,
  getFeatureFlag,
  getUserList,
  listFeatureFlags,
  listUserLists,
  removeFeatureFlag,
  removeUserList,
  type ShownFeatureFlag,
  type UserList,
  updateFeatureFlag,
  updateUserList,
  userListFields,
} from '@penstock/core'
import { z } from 'zod'
import { eachFullMessage } from '../routing/field-error-text.ts'
import { jsonShape, member, membersOf, pick } from '../routing/json-shape.ts'
import { type Area, route } from '../routing/route.ts'
import { orderedList } from './parameters/lists.ts'

const names = { project: 'id' }
const flags = '/projects/:id/feature_flags'
const oneFlag = `${flags}/:feature_flag_name`
const lists = '/projects/:id/feature_flags_user_lists'
const oneList = `${lists}/:iid`

const newStrategy = 'a new flag has no strategies yet'

const namedListSchema = z.object({ id: z.int(), iid: z.int(), name: z.string() }).meta({ id: 'NamedUserList' })
const strategySchema = z
  .object({
    id: z.int(),
    name: z.string(),
    parameters: z.record(z.string(), z.string()),
    scopes: z.array(z.object({ id: z.int(), environment_scope: z.string() })),
    /** Only of the strategy `gitlabUserList`. */
    user_list: namedListSchema.nullable(),
  })
  .meta({ id: 'FeatureFlagStrategy' })

const flagShape = jsonShape<ShownFeatureFlag>('FeatureFlag', {
  ...pick(membersOf(flagFields), 'name', 'description', 'active'),
  version: member(z.literal('new_version_flag'), () => 'new_version_flag'),
  ...pick(membersOf(flagFields), 'createdAt', 'updatedAt'),
  // Scopes of a flag itself belonged to an earlier version.
  scopes: member(z.array(z.never()), () => []),
  strategies: member(z.array(strategySchema), ({ strategies }) =>
    strategies.map(({ id, name, parameters, scopes, userList }) => ({
      id,
      name,
      parameters,
      scopes: scopes.map((scope) => ({ id: scope.id, environment_scope: scope.environmentScope })),
      user_list: userList === undefined ? null : { id: userList.id, iid: userList.iid, name: userList.name },
    })),
  ),
})

const listShape = jsonShape<UserList>(
  'FeatureFlagUserList',
  pick(membersOf(userListFields), 'id', 'iid', 'name', 'userXids', 'projectId', 'createdAt', 'updatedAt'),
)

export const featureFlagsArea: Area = {
  tag: 'Feature flags',
  routes: [
    route({
      method: 'GET',
      path: flags,
      operation: listFeatureFlags,
      parameters: orderedList,
      names,
      shape: flagShape,
      summary: 'List the feature flags of a project, by name.',
    }),
    route({
      method: 'POST',
      path: flags,
      operation: createFeatureFlag,
      parameters: { refused: { 'strategies[][id]': newStrategy, 'strategies[][_destroy]': newStrategy } },
      names,
      shape: flagShape,
      invalid: eachFullMessage,
      summary: 'Create a feature flag.',
    }),
    route({
      method: 'GET',
      path: oneFlag,
      operation: getFeatureFlag,
      names,
      endsInName: true,
      shape: flagShape,
      summary: 'Get a feature flag by its name.',
    }),
    route({
      method: 'PUT',
      path: oneFlag,
      operation: updateFeatureFlag,
      names,
      endsInName: true,
      shape: flagShape,
      invalid: eachFullMessage,
      summary:
        'Update a feature flag. Strategies and scopes with an `id` change, or end with `_destroy`; others are added.',
    }),
    route({
      method: 'DELETE',
      path: oneFlag,
      operation: removeFeatureFlag,
      names,
      endsInName: true,
      shape: flagShape,
      summary: 'Delete a feature flag.',
    }),
    route({
      method: 'GET',
      path: lists,
      operation: listUserLists,
      parameters: orderedList,
      names,
      shape: listShape,
      summary: 'List the lists of users of a project.',
    }),
    route({
      method: 'POST',
      path: lists,
      operation: createUserList,
      names,
      shape: listShape,
      invalid: eachFullMessage,
      summary: 'Create a list of users, for strategies of feature flags.',
    }),
    route({
      method: 'GET',
      path: oneList,
      operation: getUserList,
      names,
      shape: listShape,
      summary: 'Get a list of users.',
    }),
    route({
      method: 'PUT',
      path: oneList,
      operation: updateUserList,
      parameters: {
        noEffect: { user_x_ids: 'a field that gitbeaker lets callers send; the parameter is `user_xids`' },
      },
      names,
      shape: listShape,
      invalid: eachFullMessage,
      summary: 'Update a list of users.',
    }),
    route({
      method: 'DELETE',
      path: oneList,
      operation: removeUserList,
      names,
      summary: 'Delete a list of users that no strategy uses.',
    }),
  ],
}
