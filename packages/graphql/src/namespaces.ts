import { findEachGroup, listProjectsOfEachGroup, listProjectsOfEachUser, showNamespace } from '@penstock/core'
import { answerOf, type PermissionFields, standingIn } from './access-levels.ts'
import { orderIn, sharedEnums } from './enums.ts'
import { connectionField, type Kit, listOf } from './kit.ts'
import { ask, read } from './request-context.ts'
import type { FieldsOf } from './schema-types.ts'
import type { NamespaceSource } from './sources.ts'
import { shownName } from './user-name.ts'
import { webAddressOf } from './web-address.ts'

declare module './schema-types.ts' {
  interface InterfaceSources {
    Todoable: object
  }
  interface ObjectSources {
    NamespacePermissions: NamespaceSource
  }
}

const permissions: PermissionFields<
  'createProjects' | 'readNamespace' | 'createWorkItem' | 'adminIssue' | 'adminLabel' | 'adminProject'
> = {
  createProjects: 'create_project',
  readNamespace: 'read_group',
  createWorkItem: 'never',
  adminIssue: 'update_issue',
  adminLabel: 'admin_label',
  adminProject: 'admin_project',
}

/** @see spec/graphql-contract.md 5.3 */
export function addNamespaces(kit: Kit): void {
  const { builder, globalIds } = kit
  const web = webAddressOf(kit)
  const pathOf = ({ group, user }: NamespaceSource) => group?.fullPath ?? user!.username
  const webPathOf = (source: NamespaceSource) => (source.group ? `groups/${pathOf(source)}` : pathOf(source))

  builder.interfaceType('Todoable', {
    description: 'Things that can be the target of a to-do item',
    fields: (t) => ({ name: t.string({}), webUrl: t.string({}) }),
  })

  builder.objectType('NamespacePermissions', {
    fields: (t) =>
      Object.fromEntries(
        Object.entries(permissions).map(([field, permission]) => [
          field,
          t.boolean({
            nullable: false,
            resolve: async ({ group, user }, _args, context) => {
              if (group !== undefined) return answerOf(await standingIn(context, group), permission)
              if (field === 'readNamespace') return true
              const { actor } = context
              return permission !== 'never' && (actor?.isAdministrator === true || actor?.id === user!.id)
            },
          }),
        ]),
      ),
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
      lfsEnabled: t.boolean({ resolve: () => false }),
      requestAccessEnabled: t.boolean({ resolve: ({ group }) => group?.requestAccessEnabled ?? false }),
      avatarUrl: t.string({ resolve: () => null }),
      webPath: t.string({ resolve: (source) => web.path(webPathOf(source)) }),
      webUrl: t.string({ resolve: (source) => web.url(webPathOf(source)) }),
      rootNamespace: t.field({
        type: 'Namespace',
        nullable: false,
        resolve: async (source, _args, context): Promise<NamespaceSource> => {
          if (source.group === undefined) return source
          return { group: (await ask(context, findEachGroup, source.group.groupIds[0]!))! }
        },
      }),
      userPermissions: t.field({ type: 'NamespacePermissions', nullable: false, resolve: (source) => source }),
      projects: connectionField(kit, t, 'Project', {
        nullable: false,
        args: namespaceProjectArguments(kit, t),
        list: ({ group, user }, { includeSubgroups, ...args }, context) => {
          const input = namespaceProjectInput(kit, args)
          return group === undefined
            ? listOf(listProjectsOfEachUser)(user!, input, context)
            : listOf(listProjectsOfEachGroup)(group, { ...input, includeSubgroups }, context)
        },
      }),
    }),
  })

  builder.queryField('namespace', (t) =>
    t.field({
      type: 'Namespace',
      args: { fullPath: t.arg.id({ required: true }) },
      resolve: (_root, { fullPath }, context) => read(context, showNamespace, { path: String(fullPath) }),
    }),
  )
}

/** Of lists of the projects of a namespace. Issues and merge requests are enabled everywhere, and nothing is to be removed. */
export const namespaceProjectArguments = <Parent>(kit: Kit, t: FieldsOf<Parent>) => ({
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
  readonly ids?: readonly (string | number)[] | null | undefined
  readonly includeArchived?: boolean | null | undefined
  readonly archivedOnly?: boolean | null | undefined
  readonly search?: string | null | undefined
  readonly sort?: `${string} ${'asc' | 'desc'}` | null | undefined
}

export const namespaceProjectInput = (
  { globalIds }: Kit,
  { ids, includeArchived, archivedOnly, search, sort }: NamespaceProjectArguments,
) => ({
  ids: ids?.map((id) => globalIds.numberInArgument(String(id), 'Project')),
  search: search ?? undefined,
  archived: archivedOnly ? true : includeArchived === false ? false : undefined,
  ...orderIn(sort),
})
