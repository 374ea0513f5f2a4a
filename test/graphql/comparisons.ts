import type { Place } from './populate.ts'
import type { Json } from './served-world.ts'

/** A request to REST and the equivalent query to GraphQL. */
export interface Comparison {
  readonly name: string
  /** The path after `/api/v4`. */
  readonly rest: string
  /** The fields around the field. */
  readonly within: readonly string[]
  readonly field: string
  /** The arguments of a list besides the paging arguments. */
  readonly args?: string
  readonly isList: boolean
  /** The field to compare. Default: the number at the end of the id. */
  readonly select?: string
  /** Whether the two lists have different orders. */
  readonly isUnordered?: boolean
  /** Returns the value to compare from a row of REST. Default: its id. */
  readonly restValue?: (row: Json) => unknown
}

const list = (
  name: string,
  within: readonly string[],
  field: string,
  args: string,
  rest: string,
  more: Partial<Comparison> = {},
) => ({
  ...{ name, within, field, args, rest, isList: true },
  ...more,
})
const one = (name: string, within: readonly string[], field: string, rest: string, more: Partial<Comparison> = {}) => ({
  ...{ name, within, field, rest, isList: false },
  ...more,
})
const byKey: Partial<Comparison> = { select: 'key', restValue: ({ key }) => key }
const bySha: Partial<Comparison> = { select: 'sha', restValue: ({ id }) => id }
/** Compares members by user, because REST has no membership ids. */
const byUser: Partial<Comparison> = { select: 'user { id }', isUnordered: true }

/** The orders and filters that both support. */
const issuableOrders = [
  ['', 'order_by=created_at&sort=desc'],
  ['sort: CREATED_ASC', 'order_by=created_at&sort=asc'],
  ['sort: UPDATED_DESC', 'order_by=updated_at&sort=desc'],
  ['sort: TITLE_ASC', 'order_by=title&sort=asc'],
  ['state: closed', 'state=closed&order_by=created_at&sort=desc'],
  ['search: "zebra"', 'search=zebra&order_by=created_at&sort=desc'],
] as const

const issuables = (name: string, within: readonly string[], rest: string, more: string) =>
  issuableOrders.flatMap(([args, query]) => [
    list(`${name}.issues ${args}`, within, 'issues', [args, more].join(' '), `${rest}/issues?${query}`),
    list(
      `${name}.mergeRequests ${args}`,
      within,
      'mergeRequests',
      [args, more].join(' '),
      `${rest}/merge_requests?${query}`,
    ),
  ])

export function projectComparisons(project: Place): Comparison[] {
  const within = [`project(fullPath: ${JSON.stringify(project.path)})`]
  const rest = `/projects/${project.id}`
  const at = (name: string) => `Project.${name}`
  return [
    one('Query.project', [], `project(fullPath: ${JSON.stringify(project.path)})`, rest),
    list(at('labels'), within, 'labels', 'includeAncestorGroups: true', `${rest}/labels`),
    list(at('labels, own'), within, 'labels', '', `${rest}/labels?include_ancestor_groups=false`),
    list(at('milestones'), within, 'milestones', '', `${rest}/milestones`),
    list(at('milestones, closed'), within, 'milestones', 'state: closed', `${rest}/milestones?state=closed`),
    list(at('projectMembers'), within, 'projectMembers', '', `${rest}/members/all`, byUser),
    ...issuables('Project', within, rest, ''),
    list(at('pipelines'), within, 'pipelines', '', `${rest}/pipelines`),
    list(at('pipelines, failed'), within, 'pipelines', 'status: FAILED', `${rest}/pipelines?status=failed`),
    list(at('jobs'), within, 'jobs', '', `${rest}/jobs`),
    list(at('jobs, failed'), within, 'jobs', 'statuses: [FAILED]', `${rest}/jobs?scope[]=failed`),
    list(at('snippets'), within, 'snippets', '', `${rest}/snippets`),
    list(at('ciVariables'), within, 'ciVariables', '', `${rest}/variables`, byKey),
    one('Repository.commit', [...within, 'repository'], 'commit(ref: "main")', `${rest}/repository/commits/main`, {
      select: 'sha',
    }),
    list(
      'Repository.commits',
      [...within, 'repository'],
      'commits',
      'ref: "main"',
      `${rest}/repository/commits`,
      bySha,
    ),
    list(
      'Tree.blobs',
      [...within, 'repository', 'tree(path: "src")'],
      'blobs',
      '',
      `${rest}/repository/tree?path=src`,
      bySha,
    ),
    ...[1, 2].map((iid) => one('Project.issue', within, `issue(iid: "${iid}")`, `${rest}/issues/${iid}`)),
    ...[1, 2].map((iid) =>
      one('Project.mergeRequest', within, `mergeRequest(iid: "${iid}")`, `${rest}/merge_requests/${iid}`),
    ),
  ]
}

export function pipelineComparisons(project: Place, id: number): Comparison[] {
  const within = [`project(fullPath: ${JSON.stringify(project.path)})`, `pipeline(id: "gid://svc/Ci::Pipeline/${id}")`]
  const rest = `/projects/${project.id}/pipelines/${id}`
  return [
    one('Project.pipeline', within.slice(0, 1), within[1]!, rest),
    list('Pipeline.jobs', within, 'jobs', 'jobKind: BUILD', `${rest}/jobs?include_retried=true`),
  ]
}

export function groupComparisons(group: Place): Comparison[] {
  const within = [`group(fullPath: ${JSON.stringify(group.path)})`]
  const rest = `/groups/${group.id}`
  const at = (name: string) => `Group.${name}`
  return [
    one('Query.group', [], within[0]!, rest),
    list(
      at('projects'),
      within,
      'projects',
      'includeSubgroups: true sort: PATH_ASC',
      `${rest}/projects?include_subgroups=true&order_by=path&sort=asc`,
    ),
    list(at('descendantGroups'), within, 'descendantGroups', '', `${rest}/descendant_groups`),
    list(at('labels'), within, 'labels', 'includeAncestorGroups: true onlyGroupLabels: true', `${rest}/labels`),
    list(at('milestones'), within, 'milestones', '', `${rest}/milestones`),
    list(at('groupMembers'), within, 'groupMembers', '', `${rest}/members/all`, byUser),
    ...issuables('Group', within, rest, 'includeSubgroups: true'),
    list(at('ciVariables'), within, 'ciVariables', '', `${rest}/variables`, byKey),
  ]
}

export const globalComparisons: readonly Comparison[] = [
  list('Query.projects', [], 'projects', 'sort: "id_desc"', '/projects?order_by=id&sort=desc'),
  list('Query.groups', [], 'groups', '', '/groups'),
  list('Query.users', [], 'users', '', '/users?order_by=id&sort=desc'),
  list('Query.users(usernames:)', [], 'users', 'usernames: ["guest"]', '/users?username=guest'),
  list('Query.users(search:)', [], 'users', 'search: "er"', '/users?search=er&order_by=id&sort=desc'),
  one('Query.metadata', [], 'metadata', '/metadata', { select: 'version', restValue: ({ version }) => version }),
  list(
    'Query.issues',
    [],
    'issues',
    'sort: CREATED_DESC state: opened',
    '/issues?scope=all&state=opened&order_by=created_at&sort=desc',
  ),
  list('Query.mergeRequests', [], 'mergeRequests', '', '/merge_requests?scope=all&order_by=created_at&sort=desc'),
  one('Query.currentUser', [], 'currentUser', '/user'),
]
