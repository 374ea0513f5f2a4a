import {
  browseGroups,
  findEachGroup,
  type Group,
  groupMembers,
  listGroupsBelowEach,
  listProjectsOfEachGroup,
  mayLeaveEach,
  showGroup,
} from '@penstock/core'
import { GraphQLError } from 'graphql'
import { loadBatched, readOrNull } from '../../request/request-context.ts'
import { avatarUrlOf } from '../../schema/avatar-url.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { lookup, withCost } from '../../schema/cost.ts'
import { orderIn, sharedEnums } from '../../schema/enums.ts'
import type { Kit } from '../../schema/kit.ts'
import { countOf } from '../../schema/listed-count.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'
import type { NamespaceSource } from '../../schema/sources.ts'
import { type PermissionFields, permissionFields, standingIn } from './access-levels.ts'
import { namespaceProjectArguments, namespaceProjectInput } from './namespaces.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    GroupPermissions: Group
  }
}

const permissions = {
  readGroup: 'read_group',
  createProjects: 'create_project',
  changeGroup: 'admin_group',
  archiveGroup: 'never',
  removeGroup: 'remove_group',
  viewEditPage: 'admin_group',
  adminIssue: 'update_issue',
  createCustomEmoji: 'never',
} as const satisfies PermissionFields

export function addGroups(kit: Kit): void {
  const { builder, connections, globalIds, web } = kit
  connections.count('Group', 'exact')
  const { groupSort, visibility } = sharedEnums(kit)

  builder.objectType('GroupPermissions', {
    fields: (t) => ({
      ...permissionFields(t, permissions, standingIn),
      canLeave: t.boolean({
        nullable: false,
        resolve: (group, _args, context) => loadBatched(context, mayLeaveEach, group),
      }),
    }),
  })

  builder.interfaceType('GroupInterface', {
    fields: (t) => ({
      id: t.id({ resolve: ({ id }) => globalIds.of('Group', id) }),
      name: t.exposeString('name'),
      fullName: t.exposeString('fullName'),
      fullPath: t.exposeID('fullPath', { nullable: false }),
      avatarUrl: t.string({ resolve: avatarUrlOf(kit, 'group') }),
      webUrl: t.string({ resolve: ({ fullPath }) => web.url(`groups/${fullPath}`) }),
      userPermissions: t.field({ type: 'GroupPermissions', resolve: (group) => group }),
    }),
  })

  builder.objectType('Group', {
    interfaces: ['GroupInterface', 'Todoable'],
    fields: (t) => ({
      // These fields differ from the interface, or occur in both interfaces.
      name: t.exposeString('name'),
      webUrl: t.string({ nullable: false, resolve: ({ fullPath }) => web.url(`groups/${fullPath}`) }),
      userPermissions: t.field({ type: 'GroupPermissions', nullable: false, resolve: (group) => group }),

      path: t.exposeString('path', { nullable: false }),
      description: t.exposeString('description'),
      descriptionHtml: t.string({ description: 'Not rendered here', resolve: () => null }),
      visibility: t.exposeString('visibility'),
      webPath: t.string({ nullable: false, resolve: ({ fullPath }) => web.path(`groups/${fullPath}`) }),
      editPath: t.string({ nullable: false, resolve: ({ fullPath }) => web.path(`groups/${fullPath}/-/edit`) }),
      createdAt: t.field({ type: 'Time', resolve: ({ createdAtMs }) => createdAtMs }),
      updatedAt: t.field({ type: 'Time', resolve: ({ updatedAtMs }) => updatedAtMs }),
      archived: t.boolean({ resolve: () => false }),
      markedForDeletion: t.boolean({ nullable: false, resolve: () => false }),
      lfsEnabled: t.boolean({ resolve: ({ settings }) => settings.lfsEnabled }),
      mentionsDisabled: t.boolean({ resolve: ({ settings }) => settings.mentionsDisabled }),
      emailsEnabled: t.boolean({ resolve: ({ settings }) => settings.emailsEnabled }),
      emailsDisabled: t.boolean({
        deprecationReason: 'Inverse kept for old clients: emailsEnabled.',
        resolve: ({ settings }) => !settings.emailsEnabled,
      }),
      requestAccessEnabled: t.exposeBoolean('requestAccessEnabled'),
      requireTwoFactorAuthentication: t.boolean({ resolve: () => false }),
      twoFactorGracePeriod: t.int({ resolve: ({ settings }) => settings.twoFactorGracePeriod }),
      shareWithGroupLock: t.boolean({ resolve: ({ settings }) => settings.shareWithGroupLock }),
      projectCreationLevel: t.string({ resolve: ({ creation }) => creation.projectCreationLevel }),
      subgroupCreationLevel: t.string({ resolve: ({ creation }) => creation.subgroupCreationLevel }),
      groupMembersCount: t.int({
        nullable: false,
        description: 'Number of direct members; 0 if the caller may not see them',
        resolve: async (group, _args, context) =>
          (await countOf(context, groupMembers.listEach, group, { relations: ['direct'] })) ?? 0,
      }),
      projectsCount: t.int({
        nullable: false,
        description: 'Number of projects directly in the group',
        resolve: async (group, _args, context) => (await countOf(context, listProjectsOfEachGroup, group)) ?? 0,
      }),
      descendantGroupsCount: t.int({
        nullable: false,
        description: 'Number of direct subgroups',
        resolve: async (group, _args, context) =>
          (await countOf(context, listGroupsBelowEach, group, { depth: 'direct' })) ?? 0,
      }),
      maxAccessLevel: t.field({
        type: 'AccessLevel',
        nullable: false,
        resolve: async (group, _args, context) => (await standingIn(group, context)).level,
      }),
      parent: t.field({
        type: 'Group',
        resolve: ({ parentId }, _args, context) =>
          parentId === undefined ? null : loadBatched(context, findEachGroup, parentId),
      }),
      rootNamespace: t.field({
        type: 'Namespace',
        nullable: false,
        resolve: async ({ groupIds }, _args, context): Promise<NamespaceSource> => ({
          group: (await loadBatched(context, findEachGroup, groupIds[0]!))!,
        }),
      }),
      descendantGroups: connectionField(kit, t, 'Group', {
        cost: lookup,
        args: {
          ids: t.arg.idList(),
          archived: t.arg.boolean(),
          owned: t.arg.boolean(),
          includeParentDescendants: t.arg.boolean({ defaultValue: true }),
          search: t.arg.string(),
          sort: t.arg({ type: groupSort, defaultValue: 'name asc' }),
        },
        list: (group, { ids, archived, owned, includeParentDescendants, search, sort }, context) =>
          loadBatched(context, listGroupsBelowEach, group, {
            ...omitNullish({ ids: globalIds.numbersInArgument(ids, 'Group'), archived, owned, search }),
            depth: includeParentDescendants === false ? 'direct' : 'any',
            ...orderIn(sort),
          }),
      }),
      projects: connectionField(kit, t, 'Project', {
        nullable: false,
        cost: lookup,
        args: namespaceProjectArguments(kit, t),
        list: (group, { includeSubgroups, ...args }, context) => {
          const input = { ...namespaceProjectInput(kit, args), ...omitNullish({ includeSubgroups }) }
          return loadBatched(context, listProjectsOfEachGroup, group, input)
        },
      }),
    }),
  })

  builder.queryFields((t) => ({
    group: t.field({
      type: 'Group',
      ...withCost(lookup),
      args: { fullPath: t.arg.id({ required: true }) },
      resolve: (_root, { fullPath }, context) => readOrNull(context, showGroup, { group: fullPath }),
    }),
    groups: connectionField(kit, t, 'Group', {
      cost: lookup,
      args: {
        ids: t.arg.idList(),
        search: t.arg.string(),
        sort: t.arg.string({ defaultValue: 'name_asc', description: 'Column and direction: name_asc' }),
        ownedOnly: t.arg.boolean({ defaultValue: false }),
        topLevelOnly: t.arg.boolean({ defaultValue: false }),
        allAvailable: t.arg.boolean({ defaultValue: true }),
        parentPath: t.arg.id(),
        includeSubgroups: t.arg.boolean({ defaultValue: false }),
        active: t.arg.boolean({ description: 'False lists no group: none is archived or marked for deletion' }),
        visibilityLevel: t.arg({ type: visibility }),
      },
      list: (_root, { ids, ownedOnly, active, visibilityLevel, sort, ...args }, context) =>
        readOrNull(context, browseGroups, {
          ...omitNullish(args),
          ...omitNullish({
            ids: globalIds.numbersInArgument(ids, 'Group'),
            owned: ownedOnly,
            visibility: visibilityLevel,
          }),
          ...(active === false && { archived: true }),
          ...groupOrderIn(sort ?? 'name_asc'),
        }),
    }),
  }))
}

/** Parses a sort such as `name_asc`, `created_desc` or `similarity`. @throws GraphQLError */
function groupOrderIn(text: string) {
  const match = /^(id|name|path|created|updated|created_at|updated_at|similarity)(?:_(asc|desc))?$/i.exec(text)
  if (match === null) throw new GraphQLError(`${text} is not a sort`)
  const column = match[1]!.toLowerCase().replace(/^(created|updated)$/, '$1_at')
  return { orderBy: column, sort: match[2]?.toLowerCase() ?? (column === 'similarity' ? 'desc' : 'asc') }
}
