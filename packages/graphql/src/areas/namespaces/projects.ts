import {
  browseProjects,
  countIssuesOfEachProject,
  groupsOfProjects,
  listMergeRequestsOfEachProject,
  locateProject,
  namespaceOwnersOfProjects,
  type Project,
  sshCloneUrl,
  topicsOfProjects,
  viewsOfProjects,
} from '@penstock/core'
import { html } from '@penstock/http'
import { GraphQLError } from 'graphql'
import { loadBatched, type RequestContext, readOrNull } from '../../request/request-context.ts'
import { avatarUrlOf } from '../../schema/avatar-url.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { lookup, withCost } from '../../schema/cost.ts'
import { sharedEnums } from '../../schema/enums.ts'
import type { Kit } from '../../schema/kit.ts'
import { countOf } from '../../schema/listed-count.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'
import { refusedArgument } from '../../schema/refused-arguments.ts'
import { standingIn } from './access-levels.ts'
import { projectSettingFields } from './project-settings.ts'

export function addProjects(kit: Kit): void {
  const { builder, connections, globalIds, settings, web } = kit
  connections.count('Project', 'exact')
  const webUrlOf = ({ fullPath }: Project) => web.url(fullPath)

  builder.interfaceType('ProjectInterface', {
    fields: (t) => ({
      id: t.id({ resolve: ({ id }) => globalIds.of('Project', id) }),
      name: t.exposeString('name', { nullable: true }),
      nameWithNamespace: t.string({ resolve: nameWithNamespace }),
      fullPath: t.id({ resolve: ({ fullPath }) => fullPath }),
      description: t.exposeString('description'),
      avatarUrl: t.string({ resolve: avatarUrlOf(kit, 'project') }),
      webUrl: t.string({ resolve: webUrlOf }),
      userPermissions: t.field({ type: 'ProjectPermissions', resolve: (project) => project }),
    }),
  })

  builder.objectType('Project', {
    interfaces: ['ProjectInterface', 'Todoable'],
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ id }) => globalIds.of('Project', id) }),
      name: t.exposeString('name', { nullable: false }),
      nameWithNamespace: t.string({ nullable: false, resolve: nameWithNamespace }),
      path: t.exposeString('path', { nullable: false }),
      webUrl: t.string({ resolve: webUrlOf }),
      fullPath: t.id({ nullable: false, resolve: ({ fullPath }) => fullPath }),
      descriptionHtml: t.string({ resolve: ({ description = '' }) => html`${description}`.text }),
      visibility: t.exposeString('visibility'),
      archived: t.exposeBoolean('isArchived'),
      topics: t.stringList({
        resolve: async (project, _args, context) => [...(await loadBatched(context, topicsOfProjects, project))],
      }),
      tagList: t.string({
        deprecationReason: 'Use topics.',
        resolve: async (project, _args, context) => (await loadBatched(context, topicsOfProjects, project)).join(', '),
      }),
      webPath: t.string({ nullable: false, resolve: ({ fullPath }) => web.path(fullPath) }),
      editPath: t.string({ nullable: false, resolve: ({ fullPath }) => web.path(`${fullPath}/edit`) }),
      httpUrlToRepo: t.string({ resolve: (project) => `${webUrlOf(project)}.git` }),
      sshUrlToRepo: t.string({
        resolve: ({ fullPath }) => sshCloneUrl(settings.externalUrl, `${fullPath}.git`),
      }),
      createdAt: t.field({ type: 'Time', resolve: ({ createdAtMs }) => createdAtMs }),
      updatedAt: t.field({ type: 'Time', resolve: ({ lastActivityAtMs }) => lastActivityAtMs }),
      lastActivityAt: t.field({ type: 'Time', resolve: ({ lastActivityAtMs }) => lastActivityAtMs }),
      openIssuesCount: t.int({
        resolve: async (project, _args, context) =>
          (await loadBatched(context, countIssuesOfEachProject, project))?.opened ?? null,
      }),
      openMergeRequestsCount: t.int({ resolve: countOpenMergeRequests }),
      requestAccessEnabled: t.exposeBoolean('requestAccessEnabled'),
      ciConfigPathOrDefault: t.string({ nullable: false, resolve: () => `.${settings.serviceName}-ci.yml` }),
      group: t.field({
        type: 'Group',
        resolve: (project, _args, context) => loadBatched(context, groupsOfProjects, project, { which: 'nearest' }),
      }),
      rootGroup: t.field({
        type: 'Group',
        resolve: (project, _args, context) => loadBatched(context, groupsOfProjects, project, { which: 'root' }),
      }),
      namespace: t.field({
        type: 'Namespace',
        resolve: (project, _args, context) => loadBatched(context, namespaceOwnersOfProjects, project),
      }),
      forkedFrom: t.field({ type: 'Project', resolve: () => null }),
      maxAccessLevel: t.field({
        type: 'AccessLevel',
        nullable: false,
        resolve: async (project, _args, context) => (await standingIn(project, context)).level,
      }),
      userPermissions: t.field({ type: 'ProjectPermissions', nullable: false, resolve: (project) => project }),
      ...projectSettingFields(t),
    }),
  })

  const archived = builder.enumType('ProjectArchived', {
    values: { EXCLUDE: { value: 'no' }, INCLUDE: { value: 'either' }, ONLY: { value: 'yes' } } as const,
  })
  const enums = sharedEnums(kit)
  builder.queryFields((t) => ({
    project: t.field({
      type: 'Project',
      ...withCost(lookup),
      args: { fullPath: t.arg.id({ required: true }) },
      resolve: (_root, { fullPath }, context) => readOrNull(context, locateProject, { project: fullPath }),
    }),
    projects: connectionField(kit, t, 'Project', {
      cost: lookup,
      args: {
        ids: t.arg.idList(),
        fullPaths: t.arg.idList(),
        search: t.arg.string(),
        searchNamespaces: t.arg.boolean(),
        membership: t.arg.boolean(),
        personal: t.arg.boolean(),
        namespacePath: t.arg.id(),
        topics: t.arg.stringList(),
        minAccessLevel: t.arg({ type: enums.accessLevel }),
        visibilityLevel: t.arg({ type: enums.visibility }),
        archived: t.arg({ type: archived }),
        active: t.arg.boolean({ description: 'Whether the projects are not archived' }),
        programmingLanguageName: t.arg.string(refusedArgument('languages are not stored')),
        withIssuesEnabled: t.arg.boolean(),
        withMergeRequestsEnabled: t.arg.boolean(),
        sort: t.arg.string({ defaultValue: null, description: sortDescription }),
      },
      list: (_root, { ids, visibilityLevel, sort, active, programmingLanguageName: _, ...args }, context) => {
        if (active != null && args.archived != null) {
          throw new GraphQLError('Only one of [active, archived] arguments is allowed at the same time.')
        }
        const input = {
          ...omitNullish({ ...args, visibility: visibilityLevel, ids: globalIds.numbersInArgument(ids, 'Project') }),
          archived:
            args.archived === 'yes' ? true : args.archived === 'no' ? false : active == null ? undefined : !active,
          ...orderOf(sort),
        }
        return readOrNull(context, browseProjects, input)
      },
    }),
  }))
}

const nameWithNamespace = async (project: Project, _args: object, context: RequestContext): Promise<string> =>
  (await loadBatched(context, viewsOfProjects, project)).nameWithNamespace

const countOpenMergeRequests = (project: Project, _args: object, context: RequestContext) =>
  countOf(context, listMergeRequestsOfEachProject, project, { state: 'opened' })

const sortDescription = 'Column and direction, for example name_asc; or similarity'

/** The core's columns by the names that clients use. */
const sortColumns: Readonly<Record<string, string>> = {
  id: 'id',
  name: 'name',
  path: 'path',
  full_path: 'full_path',
  created: 'created_at',
  created_at: 'created_at',
  updated: 'updated_at',
  updated_at: 'updated_at',
  latest_activity: 'last_activity_at',
  last_activity: 'last_activity_at',
  last_activity_at: 'last_activity_at',
  stars: 'star_count',
  storage_size: 'storage_size',
  similarity: 'similarity',
}

function orderOf(sort: string | null | undefined): { readonly orderBy?: string; readonly sort?: string } {
  if (!sort) return {}
  const [, column = '', direction] = /^(\w+?)(?:_(asc|desc))?$/i.exec(sort) ?? []
  const orderBy = Object.hasOwn(sortColumns, column.toLowerCase()) ? sortColumns[column.toLowerCase()] : undefined
  if (orderBy === undefined) throw new GraphQLError('Sort is not included in the list')
  return { orderBy, sort: direction?.toLowerCase() ?? 'desc' }
}
