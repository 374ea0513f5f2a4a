import {
  findEachGroup,
  findEachProject,
  groupMembers,
  type InputSchema,
  type Member,
  notificationEmailInEachGroup,
  type Operation,
  projectMembers,
} from '@penstock/core'
import { loadBatched, performIn, type RequestContext } from '../../request/request-context.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { lookup, withCost } from '../../schema/cost.ts'
import { orderIn, sharedEnums } from '../../schema/enums.ts'
import type { Kit } from '../../schema/kit.ts'
import { mutation } from '../../schema/mutation.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'
import type { ArgumentsMaker } from '../../schema/schema-types.ts'
import { userKindsIn } from '../users/user-kinds.ts'
import { type PermissionFields, permissionFields, standingIn } from './access-levels.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    GroupMemberPermissions: Member
  }
}

const permissions = {
  readGroup: 'read_group',
  createProjects: 'create_project',
  removeGroup: 'remove_group',
  viewEditPage: 'admin_group',
  createCustomEmoji: 'never',
} as const satisfies PermissionFields

export function addMembers(kit: Kit): void {
  const { builder, globalIds } = kit
  const { accessLevel, memberAccessLevel, memberSort, userType } = sharedEnums(kit)

  builder.interfaceType('MemberInterface', {
    description: 'Membership; pending access requests and invitations are not members and never listed',
    resolveType: ({ groupId }) => (groupId === undefined ? 'ProjectMember' : 'GroupMember'),
    fields: (t) => ({
      id: t.id({
        nullable: false,
        resolve: ({ id, groupId }) => globalIds.of(groupId === undefined ? 'ProjectMember' : 'GroupMember', id),
      }),
      accessLevel: t.field({ type: 'AccessLevel', resolve: ({ level }) => level }),
      user: t.field({ type: 'UserCore', resolve: ({ user }) => user }),
      createdBy: t.field({ type: 'UserCore', resolve: ({ createdBy }) => createdBy }),
      createdAt: t.field({ type: 'Time', resolve: ({ createdAtMs }) => createdAtMs }),
      updatedAt: t.field({ type: 'Time', resolve: ({ updatedAtMs }) => updatedAtMs }),
      expiresAt: t.field({
        type: 'Time',
        description: 'The membership ends at the beginning of this day',
        resolve: ({ expiresAt }) => (expiresAt === undefined ? null : Date.parse(expiresAt)),
      }),
    }),
  })

  builder.objectType('GroupMemberPermissions', {
    fields: (t) =>
      permissionFields(t, permissions, async (member, context) => {
        const group = await groupOf(member, context)
        return group && standingIn(group, context)
      }),
  })
  builder.objectType('GroupMember', {
    interfaces: ['MemberInterface'],
    fields: (t) => ({
      group: t.field({ type: 'Group', resolve: (member, _args, context) => groupOf(member, context) }),
      notificationEmail: t.string({
        description: 'Address for notifications about the group, visible only to the member',
        ...withCost(lookup),
        resolve: async (member, _args, context) => {
          if (member.user.id !== context.actor?.id) return null
          const group = await groupOf(member, context)
          return group && loadBatched(context, notificationEmailInEachGroup, group)
        },
      }),
      userPermissions: t.field({ type: 'GroupMemberPermissions', nullable: false, resolve: (member) => member }),
    }),
  })
  builder.objectType('ProjectMember', {
    interfaces: ['MemberInterface'],
    fields: (t) => ({
      project: t.field({
        type: 'Project',
        resolve: (member, _args, context) => projectOf(member, context),
      }),
      userPermissions: t.field({
        type: 'ProjectPermissions',
        nullable: false,
        // A caller who sees the members of a project also sees the project.
        resolve: async (member, _args, context) => (await projectOf(member, context))!,
      }),
    }),
  })

  const listArguments = (t: ArgumentsMaker) => ({
    ids: t.arg.idList({ description: 'IDs of memberships' }),
    accessLevels: t.arg({ type: [accessLevel] }),
    search: t.arg.string(),
    sort: t.arg({ type: memberSort }),
  })
  const inputOf = ({ ids, accessLevels, relations, search, sort }: MemberArguments) => ({
    ...omitNullish({ accessLevels, relations, search }),
    ids: globalIds.numbersInArgument(ids, 'GroupMember', 'ProjectMember'),
    ...orderIn(sort),
  })

  const groupRelation = builder.enumType('GroupMemberRelation', {
    values: {
      DIRECT: { value: 'direct' },
      INHERITED: { value: 'inherited' },
      DESCENDANTS: { value: 'below' },
      SHARED_FROM_GROUPS: { value: 'shared', description: 'Matches no member: this service has no group sharing' },
    } as const,
  })
  builder.objectField('Group', 'groupMembers', (t) =>
    connectionField(kit, t, 'GroupMember', {
      cost: lookup,
      args: {
        ...listArguments(t),
        relations: t.arg({ type: [groupRelation], defaultValue: ['direct', 'inherited'] }),
      },
      list: (group, args, context) => loadBatched(context, groupMembers.listEach, group, inputOf(args)),
    }),
  )

  const projectRelation = builder.enumType('ProjectMemberRelation', {
    values: {
      DIRECT: { value: 'direct' },
      INHERITED: { value: 'inherited' },
      DESCENDANTS: { value: 'below', description: 'Matches no member: projects have no descendants' },
      INVITED_GROUPS: { value: 'shared', description: 'Matches no member: this service has no group invitations' },
      SHARED_INTO_ANCESTORS: { value: 'shared', description: 'Matches no member: this service has no group sharing' },
    } as const,
  })
  builder.objectField('Project', 'projectMembers', (t) =>
    connectionField(kit, t, 'MemberInterface', {
      cost: lookup,
      args: {
        ...listArguments(t),
        relations: t.arg({ type: [projectRelation], defaultValue: ['direct', 'inherited'] }),
        userTypes: t.arg({ type: [userType] }),
      },
      list: (project, { userTypes, ...args }, context) =>
        loadBatched(context, projectMembers.listEach, project, { ...inputOf(args), userKinds: userKindsIn(userTypes) }),
    }),
  )

  const change =
    <Input extends InputSchema>(operation: Operation<Input, readonly Member[]>) =>
    async (parent: number, { userIds, accessLevel: level, expiresAt }: Change, context: RequestContext) => ({
      members: await performIn(context, operation, { parent, userIds, accessLevel: level, expiresAt }),
    })
  const changeGroup = change(groupMembers.updateMany)
  const changeProject = change(projectMembers.updateMany)

  mutation(kit, 'groupMemberBulkUpdate', {
    input: (t) => ({
      groupId: t.field({ type: 'GroupID', required: true }),
      userIds: t.field({ type: ['UserID'], required: true }),
      accessLevel: t.field({ type: memberAccessLevel, required: true }),
      expiresAt: t.field({ type: 'Time' }),
    }),
    run: ({ groupId, ...input }, context) => changeGroup(groupId, input, context),
    payload: (t) => ({ groupMembers: t.field({ type: ['GroupMember'], resolve: ({ members }) => members }) }),
  })
  mutation(kit, 'projectMemberBulkUpdate', {
    input: (t) => ({
      projectId: t.field({ type: 'ProjectID', required: true }),
      userIds: t.field({ type: ['UserID'], required: true }),
      accessLevel: t.field({ type: memberAccessLevel, required: true }),
      expiresAt: t.field({ type: 'Time' }),
    }),
    run: ({ projectId, ...input }, context) => changeProject(projectId, input, context),
    payload: (t) => ({ projectMembers: t.field({ type: ['ProjectMember'], resolve: ({ members }) => members }) }),
  })
}

const projectOf = ({ projectId }: Member, context: RequestContext) => loadBatched(context, findEachProject, projectId!)
const groupOf = ({ groupId }: Member, context: RequestContext) => loadBatched(context, findEachGroup, groupId!)

interface MemberArguments {
  readonly ids?: readonly string[] | null | undefined
  readonly accessLevels?: readonly number[] | null | undefined
  readonly relations?: readonly string[] | null | undefined
  readonly search?: string | null | undefined
  readonly sort?: `${string} ${'asc' | 'desc'}` | null | undefined
}

interface Change {
  readonly userIds: readonly number[]
  readonly accessLevel: number
  readonly expiresAt?: string | null | undefined
}
