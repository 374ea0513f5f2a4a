import {
  findEachGroup,
  listProjectsOfEachGroup,
  listProjectsOfEachUser,
  type ShownStanding,
  showNamespace,
} from '@penstock/core'
import { loadBatched, type RequestContext, readOrNull } from '../../request/request-context.ts'
import { avatarUrlOf } from '../../schema/avatar-url.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { lookup, withCost } from '../../schema/cost.ts'
import { orderIn, sharedEnums } from '../../schema/enums.ts'
import type { Kit } from '../../schema/kit.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'
import type { ArgumentsMaker } from '../../schema/schema-types.ts'
import type { NamespaceSource } from '../../schema/sources.ts'
import { shownName } from '../users/user-name.ts'
import { type PermissionFields, permissionFields, standingIn } from './access-levels.ts'

declare module '../../schema/schema-types.ts' {
  interface InterfaceSources {
    Todoable: object
  }
  interface ObjectSources {
    NamespacePermissions: NamespaceSource
  }
}

const permissions = {
  createProjects: 'create_project',
  readNamespace: 'read_group',
  createWorkItem: 'never',
  adminIssue: 'update_issue',
  adminLabel: 'admin_label',
  adminProject: 'admin_project',
} as const satisfies PermissionFields

/** Returns the permissions of the caller in a namespace. A personal namespace is public, and its user has all permissions. */
function standingAt({ group, user }: NamespaceSource, context: RequestContext): Promise<Pick<ShownStanding, 'allows'>> {
  if (group !== undefined) return standingIn(group, context)
  const { actor } = context
  const isOwner = actor?.isAdministrator === true || actor?.id === user.id
  return Promise.resolve({ allows: (permission) => isOwner || permission === permissions.readNamespace })
}

export function addNamespaces(kit: Kit): void {
  const { builder, globalIds, web } = kit
  const pathOf = ({ group, user }: NamespaceSource) => group?.fullPath ?? user!.username
  const webPathOf = (source: NamespaceSource) => (source.group ? `groups/${pathOf(source)}` : pathOf(source))

  builder.interfaceType('Todoable', {
    description: 'Things that can be the target of a to-do item',
    fields: (t) => ({ name: t.string({}), webUrl: t.string({}) }),
  })

  builder.objectType('NamespacePermissions', {
    fields: (t) => permissionFields(t, permissions, standingAt),
  })

  builder.objectType('Namespace', {
    description: 'Group or personal namespace, seen through its path',
    interfaces: ['Todoable'],
    fields: (t) => ({
      id: t.id({
        nullable: false,
        resolve: ({ group, user }) =>
          group ? globalIds.of('Group', group.id) : globalIds.of('Namespaces::UserNamespace', user!.id),
      }),
      name: t.string({
        nullable: false,
        resolve: ({ group, user }, _args, context) => group?.name ?? shownName(context, user!),
      }),
      path: t.string({ nullable: false, resolve: ({ group, user }) => group?.path ?? user!.username }),
      fullName: t.string({
        nullable: false,
        resolve: ({ group, user }, _args, context) => group?.fullName ?? shownName(context, user!),
      }),
      fullPath: t.id({ nullable: false, resolve: pathOf }),
      description: t.string({ resolve: ({ group }) => group?.description }),
      descriptionHtml: t.string({ description: 'Not rendered here', resolve: () => null }),
      visibility: t.string({ resolve: ({ group }) => group?.visibility ?? 'public' }),
      lfsEnabled: t.boolean({ resolve: ({ group }) => group?.settings.lfsEnabled ?? false }),
      requestAccessEnabled: t.boolean({ resolve: ({ group }) => group?.requestAccessEnabled ?? false }),
      avatarUrl: t.string({
        resolve: ({ group, user }) =>
          group === undefined ? avatarUrlOf(kit, 'user')(user!) : avatarUrlOf(kit, 'group')(group),
      }),
      webPath: t.string({ resolve: (source) => web.path(webPathOf(source)) }),
      webUrl: t.string({ resolve: (source) => web.url(webPathOf(source)) }),
      rootNamespace: t.field({
        type: 'Namespace',
        nullable: false,
        resolve: async (source, _args, context): Promise<NamespaceSource> => {
          if (source.group === undefined) return source
          return { group: (await loadBatched(context, findEachGroup, source.group.groupIds[0]!))! }
        },
      }),
      userPermissions: t.field({ type: 'NamespacePermissions', nullable: false, resolve: (source) => source }),
      projects: connectionField(kit, t, 'Project', {
        nullable: false,
        args: namespaceProjectArguments(kit, t),
        list: ({ group, user }, { includeSubgroups, ...args }, context) => {
          const input = namespaceProjectInput(kit, args)
          return group === undefined
            ? loadBatched(context, listProjectsOfEachUser, user!, input)
            : loadBatched(context, listProjectsOfEachGroup, group, { ...input, includeSubgroups })
        },
      }),
    }),
  })

  builder.queryField('namespace', (t) =>
    t.field({
      type: 'Namespace',
      ...withCost(lookup),
      args: { fullPath: t.arg.id({ required: true }) },
      resolve: (_root, { fullPath }, context) => readOrNull(context, showNamespace, { path: fullPath }),
    }),
  )
}

/**
 * Returns the arguments of project lists. The last one has no effect: no project is marked for deletion.
 */
export const namespaceProjectArguments = (kit: Kit, t: ArgumentsMaker) => ({
  ids: t.arg.idList(),
  includeSubgroups: t.arg.boolean({ defaultValue: false }),
  includeArchived: t.arg.boolean({ defaultValue: true }),
  archivedOnly: t.arg.boolean(),
  search: t.arg.string(),
  sort: t.arg({ type: sharedEnums(kit).namespaceProjectSort }),
  withIssuesEnabled: t.arg.boolean(),
  withMergeRequestsEnabled: t.arg.boolean(),
  notAimedForDeletion: t.arg.boolean({ defaultValue: false }),
})

interface NamespaceProjectArguments {
  readonly ids?: readonly string[] | null | undefined
  readonly includeArchived?: boolean | null | undefined
  readonly archivedOnly?: boolean | null | undefined
  readonly search?: string | null | undefined
  readonly withIssuesEnabled?: boolean | null | undefined
  readonly withMergeRequestsEnabled?: boolean | null | undefined
  readonly sort?: `${string} ${'asc' | 'desc'}` | null | undefined
}

export const namespaceProjectInput = (
  { globalIds }: Kit,
  {
    ids,
    includeArchived,
    archivedOnly,
    sort,
    search,
    withIssuesEnabled,
    withMergeRequestsEnabled,
  }: NamespaceProjectArguments,
) => ({
  ...omitNullish({
    ids: globalIds.numbersInArgument(ids, 'Project'),
    search,
    withIssuesEnabled,
    withMergeRequestsEnabled,
  }),
  archived: archivedOnly ? true : includeArchived === false ? false : undefined,
  ...orderIn(sort),
})
