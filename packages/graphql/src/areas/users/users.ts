import {
  browseUsers,
  canCreatePersonalSnippet,
  findUserProfile,
  getCurrentUser,
  getUserProfile,
  listGroupsOfEachUser,
  listMembershipsOfEach,
  listProjectsWithEachUser,
  profileOf,
  type User,
} from '@penstock/core'
import { GraphQLError } from 'graphql'
import { loadBatched, type RequestContext, readOrNull } from '../../request/request-context.ts'
import { avatarUrlOf } from '../../schema/avatar-url.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { lookup, withCost } from '../../schema/cost.ts'
import { orderIn, sharedEnums } from '../../schema/enums.ts'
import type { Kit } from '../../schema/kit.ts'
import { countOf } from '../../schema/listed-count.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'
import { userKindsIn } from './user-kinds.ts'
import { shownName } from './user-name.ts'
import { addUserStatus } from './user-status.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    UserPermissions: User
  }
}

const mergeRequestUsers = {
  MergeRequestAuthor: 'Author of a merge request',
  MergeRequestAssignee: 'Assignee of a merge request',
  MergeRequestReviewer: 'Reviewer of a merge request',
  MergeRequestParticipant: 'Participant of a merge request',
} as const

export function addUsers(kit: Kit): void {
  const { builder, connections, globalIds, web } = kit
  connections.count('UserCore', 'exact')
  const { groupSort, userType } = sharedEnums(kit)

  const state = builder.enumType('UserState', {
    values: ['active', 'blocked', 'blocked_pending_approval', 'banned', 'deactivated', 'ldap_blocked'] as const,
  })
  const groupPermission = builder.enumType('GroupPermission', {
    description: 'Each requires the role for creating a project',
    values: ['CREATE_PROJECTS', 'IMPORT_PROJECTS', 'TRANSFER_PROJECTS'] as const,
  })
  builder.objectType('UserPermissions', {
    fields: (t) => ({
      createSnippet: t.boolean({
        nullable: false,
        description: 'Whether the caller, not this user, may create personal snippets',
        resolve: (_user, _args, { actor }) => canCreatePersonalSnippet(actor),
      }),
    }),
  })
  addUserStatus(kit)

  builder.interfaceType('User', {
    interfaces: ['Todoable'],
    fields: (t) => {
      const profileText = (name: 'bio' | 'jobTitle' | 'location' | 'organization' | 'pronouns') =>
        t.string({ resolve: ({ settings }) => settings[name] || null })
      return {
        id: t.field({ type: 'UserID', nullable: false, resolve: ({ id }) => globalIds.of('User', id) }),
        username: t.exposeString('username', { nullable: false }),
        name: t.string({
          nullable: false,
          description: '`****` for bots of groups and projects that the caller cannot see',
          resolve: (user, _args, context) => shownName(context, user),
        }),
        state: t.field({ type: state, nullable: false, resolve: (user) => user.state }),
        type: t.field({
          type: userType,
          nullable: false,
          resolve: ({ isBot }) => (isBot ? 'PROJECT_BOT' : 'HUMAN'),
        }),
        bot: t.exposeBoolean('isBot', { nullable: false }),
        human: t.boolean({ resolve: ({ isBot }) => !isBot }),
        active: t.boolean({ resolve: (user) => user.state === 'active' }),
        webUrl: t.string({ nullable: false, resolve: ({ username }) => web.url(username) }),
        webPath: t.string({ nullable: false, resolve: ({ username }) => web.path(username) }),
        avatarUrl: t.string({ resolve: avatarUrlOf(kit, 'user') }),
        publicEmail: t.exposeString('publicEmail'),
        email: t.exposeString('publicEmail', { deprecationReason: 'Renamed: publicEmail.' }),
        commitEmail: t.string({
          description: 'Visible to the user and to administrators',
          resolve: (user, _args, context) => (isWhole(user, context) ? user.email : null),
        }),
        bio: profileText('bio'),
        jobTitle: profileText('jobTitle'),
        location: profileText('location'),
        organization: profileText('organization'),
        pronouns: profileText('pronouns'),
        createdAt: t.field({ type: 'Time', resolve: ({ createdAtMs }) => createdAtMs }),
        lastActivityOn: t.field({
          type: 'Date',
          description: 'Visible to the user and to administrators',
          resolve: (user, _args, context) => (isWhole(user, context) ? user.lastActivityOn : null),
        }),
        status: t.field({
          type: 'UserStatus',
          description: 'Always null: this service has no user statuses',
          resolve: () => null,
        }),
        namespace: t.field({ type: 'Namespace', resolve: (user) => ({ user }) }),
        userPermissions: t.field({ type: 'UserPermissions', nullable: false, resolve: (user) => user }),
        groupCount: t.int({
          description: 'Visible to the user and to administrators',
          resolve: (user, _args, context) => countOf(context, listGroupsOfEachUser, user),
        }),
        projectCount: t.int({
          description: 'Visible to the user and to administrators',
          resolve: (user, _args, context) => countOf(context, listProjectsWithEachUser, user),
        }),
        groups: connectionField(kit, t, 'Group', {
          description: 'Visible to the user and to administrators',
          args: {
            permissionScope: t.arg({ type: groupPermission }),
            search: t.arg.string(),
            sort: t.arg({ type: groupSort }),
          },
          list: (user, { permissionScope, search, sort }, context) => {
            const input = { forProjects: permissionScope != null, ...omitNullish({ search }), ...orderIn(sort) }
            return loadBatched(context, listGroupsOfEachUser, user, input)
          },
        }),
        groupMemberships: connectionField(kit, t, 'GroupMember', {
          list: (user, _args, context) => loadBatched(context, listMembershipsOfEach, user, { where: 'groups' }),
        }),
        projectMemberships: connectionField(kit, t, 'ProjectMember', {
          list: (user, _args, context) => loadBatched(context, listMembershipsOfEach, user, { where: 'projects' }),
        }),
      }
    },
  })

  builder.objectType('UserCore', { description: 'Any user in general', interfaces: ['Todoable', 'User'] })
  builder.objectType('CurrentUser', {
    description: 'The caller',
    interfaces: ['Todoable', 'User'],
    fields: (t) => ({
      admin: t.exposeBoolean('isAdministrator', {
        nullable: false,
        description: 'Administrator flag of the caller',
      }),
    }),
  })
  for (const [name, description] of Object.entries(mergeRequestUsers)) {
    builder.objectType(name as keyof typeof mergeRequestUsers, { description, interfaces: ['Todoable', 'User'] })
  }

  addUserQueries(kit)
}

function addUserQueries(kit: Kit): void {
  const { builder, globalIds } = kit
  const { sort, userType } = sharedEnums(kit)

  builder.queryFields((t) => ({
    currentUser: t.field({
      type: 'CurrentUser',
      description: 'Signed-in caller, null when anonymous',
      resolve: async (_root, _args, context) => (await readOrNull(context, getCurrentUser, {}))?.user,
    }),
    user: t.field({
      type: 'UserCore',
      description: 'By GID or by username, exactly one',
      ...withCost(lookup),
      args: { id: t.arg({ type: 'UserID' }), username: t.arg.string() },
      resolve: async (_root, { id, username }, context) => {
        if ((id == null) === (username == null)) throw new GraphQLError('Provide either a single username or id')
        const found =
          id == null
            ? readOrNull(context, findUserProfile, { username })
            : readOrNull(context, getUserProfile, { user: id })
        return (await found)?.user
      },
    }),
    users: connectionField(kit, t, 'UserCore', {
      description: 'Anonymous callers must pass usernames, else null',
      cost: lookup,
      args: {
        ids: t.arg.idList(),
        usernames: t.arg.stringList(),
        search: t.arg.string(),
        sort: t.arg({ type: sort, defaultValue: 'created_at desc' }),
        admins: t.arg.boolean({
          defaultValue: false,
          description: 'Lists administrators only; ignored unless the caller is an administrator',
        }),
        active: t.arg.boolean(),
        humans: t.arg.boolean(),
        userTypes: t.arg({ type: [userType] }),
        groupId: t.arg({ type: 'GroupID' }),
      },
      list: (_root, { ids, sort: order, userTypes, ...args }, context) => {
        if (ids?.length && args.usernames?.length) throw new GraphQLError('Provide either a list of usernames or ids')
        return readOrNull(context, browseUsers, {
          ...omitNullish(args),
          ids: globalIds.numbersInArgument(ids, 'User'),
          kinds: userKindsIn(userTypes),
          sort: orderIn(order).sort,
        })
      },
    }),
  }))
}

const isWhole = (user: User, { actor }: RequestContext): boolean => profileOf(user, actor).isWhole
