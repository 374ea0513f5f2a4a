import {
  avatarPath,
  DEFAULT_BRANCH,
  featureSwitches,
  type Operation,
  type ProjectView,
  projectFeatureFields,
  projectSettings,
  sshCloneUrl,
  visibilities,
} from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../../routing/iso-time.ts'
import { jsonShape, type Member, type Members, member, membersOf } from '../../routing/json-shape.ts'
import { inShortForm, type Listed, presented } from '../../routing/presented.ts'
import type { JsonContext, Shape } from '../../routing/route.ts'
import { avatarUrl } from './avatar-url.ts'
import { basicUserShape } from './basic-user.ts'
import { namespaceShape } from './namespace-shape.ts'
import { constantProjectMembers } from './project-constants.ts'

const roleSchema = z.object({ access_level: z.int(), notification_level: z.int() }).nullable()

/** The `notification_level` of a user without a setting for the project: the user's global setting applies. */
const NOTIFICATION_LEVEL_GLOBAL = 3

const roleJson = (level: number) =>
  level === 0 ? null : { access_level: level, notification_level: NOTIFICATION_LEVEL_GLOBAL }

const of = (schema: z.ZodType, value: Member<ProjectView>['of']) => member<ProjectView>(schema, value)
const webUrlOf = ({ project }: ProjectView, { externalUrl }: JsonContext) => `${externalUrl}/${project.fullPath}`
const apiUrlOf = ({ project }: ProjectView, { externalUrl }: JsonContext) =>
  `${externalUrl}/api/v4/projects/${project.id}`

/** The members that identify and locate a project. */
const simpleMembers = {
  id: of(z.int(), ({ project }) => project.id),
  description: of(z.string().nullable(), ({ project }) => project.description ?? null),
  name: of(z.string(), ({ project }) => project.name),
  nameWithNamespace: of(z.string(), ({ nameWithNamespace }) => nameWithNamespace),
  path: of(z.string(), ({ project }) => project.path),
  pathWithNamespace: of(z.string(), ({ project }) => project.fullPath),
  createdAt: of(z.string(), ({ project }) => isoTime(project.createdAtMs)),
  // An empty repository has the branch that its first commit creates by default.
  defaultBranch: of(z.string(), ({ project }) => project.defaultBranch ?? DEFAULT_BRANCH),
  tagList: of(z.array(z.string()), ({ topics }) => topics),
  topics: of(z.array(z.string()), ({ topics }) => topics),
  sshUrlToRepo: of(z.string(), ({ project }, { externalUrl }) => sshCloneUrl(externalUrl, `${project.fullPath}.git`)),
  httpUrlToRepo: of(z.string(), (view, context) => `${webUrlOf(view, context)}.git`),
  webUrl: of(z.string(), webUrlOf),
  readmeUrl: of(z.string().nullable(), () => null),
  forksCount: of(z.int(), () => 0),
  avatarUrl: of(z.string().nullable(), ({ project }, context) => avatarUrl(avatarPath('project', project), context)),
  starCount: of(z.int(), ({ starCount }) => starCount),
  lastActivityAt: of(z.string(), ({ project }) => isoTime(project.lastActivityAtMs)),
  visibility: of(z.enum(visibilities), ({ project }) => project.visibility),
  namespace: of(namespaceShape.schema, ({ namespace }, context) => namespaceShape.of(namespace, context)),
}

/** The paths of the API resources that belong to the project. A disabled feature has no link. */
const links: Readonly<Record<string, (view: ProjectView) => string | undefined>> = {
  self: () => '',
  issues: ({ project }) => (project.features.issues === 'disabled' ? undefined : '/issues'),
  merge_requests: ({ project }) => (project.features.mergeRequests === 'disabled' ? undefined : '/merge_requests'),
  repo_branches: ({ project }) => (project.features.repository === 'disabled' ? undefined : '/repository/branches'),
  labels: () => '/labels',
  members: () => '/members',
}
const linksMember = of(
  z.object({ self: z.string(), members: z.string(), labels: z.string() }).catchall(z.string()),
  (view, context) =>
    Object.fromEntries(
      Object.entries(links).flatMap(([name, pathOf]) => {
        const path = pathOf(view)
        return path === undefined ? [] : [[name, apiUrlOf(view, context) + path]]
      }),
    ),
)

const switchMembers = Object.fromEntries(
  Object.entries(featureSwitches).map(([name, feature]) => [
    name,
    of(z.boolean(), ({ project }) => project.features[feature] !== 'disabled'),
  ]),
)

/** Converts JSON members of one part of a project, such as its settings, to JSON members of the project view itself. */
const inner = <Key extends 'features' | 'settings'>(
  key: Key,
  members: Readonly<Record<string, Member<ProjectView['project'][Key]>>>,
): Members<ProjectView> =>
  Object.fromEntries(
    Object.entries(members).map(([name, each]) => [
      name,
      of(each.schema, ({ project }, context) => each.of(project[key], context)),
    ]),
  )

/** A project, as a single resource. */
export const projectShape: Shape<ProjectView> = jsonShape<ProjectView>('Project', {
  ...simpleMembers,
  updatedAt: of(z.string(), ({ project }) => isoTime(project.lastActivityAtMs)),
  owner: of(basicUserShape.schema.optional(), ({ owner }, context) => owner && basicUserShape.of(owner, context)),
  _links: linksMember,
  archived: of(z.boolean(), ({ project }) => project.isArchived),
  creatorId: of(z.int().nullable(), ({ project }) => project.creatorId ?? null),
  requestAccessEnabled: of(z.boolean(), ({ project }) => project.requestAccessEnabled),
  emptyRepo: of(z.boolean(), ({ project }) => project.isEmpty),
  ...switchMembers,
  ...inner('features', membersOf(projectFeatureFields)),
  ...inner('settings', membersOf(projectSettings)),
  publicBuilds: of(z.boolean(), ({ project }) => project.settings.publicJobs),
  emailsDisabled: of(z.boolean(), ({ project }) => !project.settings.emailsEnabled),
  containerRegistryEnabled: of(
    z.boolean(),
    ({ project }) => project.settings.containerRegistryAccessLevel !== 'disabled',
  ),
  requirementsEnabled: of(z.boolean(), ({ project }) => project.settings.requirementsAccessLevel !== 'disabled'),
  securityAndComplianceEnabled: of(
    z.boolean(),
    ({ project }) => project.settings.securityAndComplianceAccessLevel !== 'disabled',
  ),
  canCreateMergeRequestIn: of(z.boolean(), ({ canCreateMergeRequest }) => canCreateMergeRequest),
  openIssuesCount: of(z.int().optional(), ({ openIssuesCount }) => openIssuesCount),
  ...constantProjectMembers,
  permissions: of(
    z.object({ project_access: roleSchema, group_access: roleSchema }).optional(),
    ({ roles }) => roles && { project_access: roleJson(roles.project), group_access: roleJson(roles.group) },
  ),
})

/** A project as embedded in other resources. */
export const simpleProjectShape = jsonShape<ProjectView>('SimpleProject', simpleMembers)

/** Returns the operation with the parameter `simple`, for the members that identify and locate a project. */
export const withSimple = <Input extends z.ZodRawShape, Result extends { readonly items: readonly ProjectView[] }>(
  operation: Operation<z.ZodObject<Input>, Result>,
) => presented(operation, { simple: z.boolean().optional() }, (page, { simple }) => (simple ? inShortForm(page) : page))

/** A project in a list, of which a caller can ask for the simple form. */
export const listedProjectShape: Shape<Listed<ProjectView>> = {
  schema: z.union([projectShape.schema, simpleProjectShape.schema]),
  of: (view, context) => (view.isSimple ? simpleProjectShape : projectShape).of(view, context),
}
