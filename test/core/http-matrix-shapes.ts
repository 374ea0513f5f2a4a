/** The kinds of values in an answer. A kind with `?` may be null. */
export type Kind = 'int' | 'text' | 'flag' | 'time' | 'date' | 'map'
export type Shape =
  | Kind
  | `${Kind}?`
  | { readonly is: unknown }
  | { readonly listOf: Shape }
  | { readonly has: Members; readonly lacks?: readonly string[]; readonly nullable?: true }
  | { readonly exactly: Members; readonly nullable?: true }
type Members = Readonly<Record<string, Shape>>

const kinds: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  int: Number.isInteger,
  text: (value) => typeof value === 'string',
  flag: (value) => typeof value === 'boolean',
  time: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|[+-]\d\d:\d\d)$/.test(value),
  date: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value),
  map: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}

/** Returns where a value differs from its shape, or `undefined` if it does not. */
export function differenceFrom(shape: Shape, value: unknown, at = 'body'): string | undefined {
  if (typeof shape === 'string') {
    if (shape.endsWith('?') && value === null) return undefined
    return kinds[shape.replace('?', '') as Kind](value) ? undefined : `${at} is not of the kind ${shape}`
  }
  if ('is' in shape) return JSON.stringify(value) === JSON.stringify(shape.is) ? undefined : `${at} differs`
  if ('listOf' in shape) {
    if (!Array.isArray(value)) return `${at} is not a list`
    return firstOf(value.map((item, index) => differenceFrom(shape.listOf, item, `${at}[${index}]`)))
  }
  if (shape.nullable && value === null) return undefined
  if (!kinds.map(value)) return `${at} is not an object`
  const object = value as Record<string, unknown>
  const members = 'exactly' in shape ? shape.exactly : shape.has
  const tooMany = Object.keys(object).filter((key) =>
    'exactly' in shape ? !Object.hasOwn(members, key) : shape.lacks?.includes(key),
  )
  if (tooMany.length > 0) return `${at} has unexpected members: ${tooMany}`
  return firstOf(Object.entries(members).map(([key, member]) => differenceFrom(member, object[key], `${at}.${key}`)))
}

const firstOf = (differences: readonly (string | undefined)[]) => differences.find((each) => each !== undefined)

export const listOf = (shape: Shape): Shape => ({ listOf: shape })

export const basicUserMembers = {
  id: 'int',
  username: 'text',
  public_email: 'text?',
  name: 'text',
  state: 'text',
  locked: 'flag',
  avatar_url: 'text?',
  web_url: 'text',
} as const
export const basicUser: Shape = { exactly: basicUserMembers }
const basicUserOrNull: Shape = { exactly: basicUserMembers, nullable: true }
export const accepted: Shape = { is: { message: '202 Accepted' } }

export const project: Shape = {
  has: {
    id: 'int',
    name: 'text',
    path: 'text',
    name_with_namespace: 'text',
    path_with_namespace: 'text',
    description: 'text?',
    default_branch: 'text?',
    visibility: 'text',
    archived: 'flag',
    web_url: 'text',
    created_at: 'time',
    last_activity_at: 'time',
    namespace: { has: { id: 'int', path: 'text', kind: 'text', full_path: 'text' } },
    _links: 'map',
  },
}

export const member: Shape = {
  has: { ...basicUserMembers, access_level: 'int', created_at: 'time', expires_at: 'date?' },
  lacks: ['email'],
}

/** The members that issues and merge requests share. */
const issuableMembers = {
  id: 'int',
  iid: 'int',
  project_id: 'int',
  title: 'text',
  description: 'text?',
  state: 'text',
  created_at: 'time',
  updated_at: 'time',
  closed_at: 'time?',
  closed_by: basicUserOrNull,
  labels: { listOf: 'text' },
  assignees: { listOf: basicUser },
  author: basicUser,
  assignee: basicUserOrNull,
  user_notes_count: 'int',
  upvotes: 'int',
  downvotes: 'int',
  discussion_locked: 'flag?',
  milestone: 'map?',
  web_url: 'text',
  time_stats: {
    has: {
      time_estimate: 'int',
      total_time_spent: 'int',
      human_time_estimate: 'text?',
      human_total_time_spent: 'text?',
    },
  },
  task_completion_status: { exactly: { count: 'int', completed_count: 'int' } },
} as const

export const issue: Shape = {
  has: {
    ...issuableMembers,
    type: { is: 'ISSUE' },
    issue_type: { is: 'issue' },
    merge_requests_count: 'int',
    due_date: 'date?',
    confidential: 'flag',
    weight: 'int?',
    blocking_issues_count: 'int',
  },
}

export const mergeRequest: Shape = {
  has: {
    ...issuableMembers,
    target_branch: 'text',
    source_branch: 'text',
    source_project_id: 'int',
    target_project_id: 'int',
    reviewers: { listOf: basicUser },
    draft: 'flag',
    work_in_progress: 'flag',
    imported: 'flag',
    imported_from: 'text',
    merge_status: 'text',
    detailed_merge_status: 'text',
    merge_user: basicUserOrNull,
    merged_by: basicUserOrNull,
    merged_at: 'time?',
    merge_when_pipeline_succeeds: 'flag',
    merge_commit_sha: 'text?',
    squash_commit_sha: 'text?',
    squash: 'flag',
    squash_on_merge: 'flag',
    should_remove_source_branch: 'flag?',
    force_remove_source_branch: 'flag?',
    prepared_at: 'time?',
    reference: 'text',
    references: { exactly: { short: 'text', relative: 'text', full: 'text' } },
    has_conflicts: 'flag',
    blocking_discussions_resolved: 'flag',
  },
}

/** The members of a commit that all answers show alike. */
export const commitMembers = {
  id: 'text',
  short_id: 'text',
  created_at: 'time',
  title: 'text',
  message: 'text',
  author_name: 'text',
  author_email: 'text',
  authored_date: 'time',
  committer_name: 'text',
  committer_email: 'text',
  committed_date: 'time',
  trailers: 'map',
} as const
/** The members that every commit of a repository has. */
export const commit: Shape = {
  has: { ...commitMembers, parent_ids: { listOf: 'text' }, extended_trailers: 'map?', web_url: 'text' },
}
export const diff: Shape = { has: { diff: 'text', new_path: 'text', old_path: 'text', new_file: 'flag' } }
