import { type Namespace, type ProjectView, visibilities } from '@penstock/core'
import { z } from 'zod'
import type { JsonContext, Shape } from '../../routing/route.ts'
import { basicUserShape } from './basic-user.ts'

const roleSchema = z.object({ access_level: z.int(), notification_level: z.int() }).nullable()

/** The `notification_level` of a user without a setting for the project: the user's global setting applies. */
const NOTIFICATION_LEVEL_GLOBAL = 3

const namespaceShape = {
  schema: z
    .object({
      id: z.int(),
      name: z.string(),
      path: z.string(),
      kind: z.enum(['group', 'user']),
      full_path: z.string(),
      parent_id: z.int().nullable(),
      avatar_url: z.string().nullable(),
      web_url: z.string(),
    })
    .meta({ id: 'Namespace' }),
  of: ({ id, name, path, kind, fullPath, parentId }: Namespace, { externalUrl }: JsonContext) => ({
    id,
    name,
    path,
    kind,
    full_path: fullPath,
    parent_id: parentId ?? null,
    avatar_url: null,
    web_url: kind === 'group' ? `${externalUrl}/groups/${fullPath}` : `${externalUrl}/${fullPath}`,
  }),
} satisfies Shape<Namespace>

/** A project, in lists and by itself. */
export const projectShape: Shape<ProjectView> = {
  schema: z
    .object({
      id: z.int(),
      description: z.string().nullable(),
      name: z.string(),
      name_with_namespace: z.string(),
      path: z.string(),
      path_with_namespace: z.string(),
      created_at: z.string(),
      default_branch: z.string().nullable(),
      tag_list: z.array(z.string()),
      topics: z.array(z.string()),
      ssh_url_to_repo: z.string(),
      http_url_to_repo: z.string(),
      web_url: z.string(),
      readme_url: z.string().nullable(),
      forks_count: z.int(),
      avatar_url: z.string().nullable(),
      star_count: z.int(),
      last_activity_at: z.string(),
      updated_at: z.string(),
      visibility: z.enum(visibilities),
      namespace: namespaceShape.schema,
      owner: basicUserShape.schema.optional(),
      _links: z.object({ self: z.string(), members: z.string() }),
      archived: z.boolean(),
      creator_id: z.int().nullable(),
      request_access_enabled: z.boolean(),
      empty_repo: z.boolean(),
      shared_with_groups: z.array(z.unknown()),
      permissions: z.object({ project_access: roleSchema, group_access: roleSchema }).optional(),
    })
    .meta({ id: 'Project' }),
  of: ({ project, namespace, owner, nameWithNamespace, roles }, context) => {
    const webUrl = `${context.externalUrl}/${project.fullPath}`
    const apiUrl = `${context.externalUrl}/api/v4/projects/${project.id}`
    return {
      id: project.id,
      description: project.description ?? null,
      name: project.name,
      name_with_namespace: nameWithNamespace,
      path: project.path,
      path_with_namespace: project.fullPath,
      created_at: new Date(project.createdAtMs).toISOString(),
      default_branch: project.defaultBranch ?? null,
      tag_list: [],
      topics: [],
      ssh_url_to_repo: `git@${new URL(context.externalUrl).hostname}:${project.fullPath}.git`,
      http_url_to_repo: `${webUrl}.git`,
      web_url: webUrl,
      readme_url: null,
      forks_count: 0,
      avatar_url: null,
      star_count: 0,
      last_activity_at: new Date(project.lastActivityAtMs).toISOString(),
      updated_at: new Date(project.lastActivityAtMs).toISOString(),
      visibility: project.visibility,
      namespace: namespaceShape.of(namespace, context),
      ...(owner !== undefined && { owner: basicUserShape.of(owner, context) }),
      _links: { self: apiUrl, members: `${apiUrl}/members` },
      archived: project.isArchived,
      creator_id: project.creatorId ?? null,
      request_access_enabled: project.requestAccessEnabled,
      empty_repo: project.isEmpty,
      shared_with_groups: [],
      ...(roles !== undefined && {
        permissions: { project_access: roleJson(roles.project), group_access: roleJson(roles.group) },
      }),
    }
  },
}

const roleJson = (level: number) =>
  level === 0 ? null : { access_level: level, notification_level: NOTIFICATION_LEVEL_GLOBAL }
