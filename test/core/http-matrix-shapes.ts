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

/** The user as shown to themselves and to administrators. */
export const wholeUser: Shape = {
  has: { ...basicUserMembers, created_at: 'time', email: 'text', is_admin: 'flag' },
  lacks: ['password', 'password_hash'],
}
export const user: Shape = { has: basicUserMembers, lacks: ['password', 'password_hash'] }
export const email: Shape = { has: { id: 'int', email: 'text', confirmed_at: 'time?' } }
export const done: Shape = { is: true }
export const accepted: Shape = { is: { message: '202 Accepted' } }

/** The members of a token. Its value is shown only when it is created or rotated. */
const tokenMembers = {
  id: 'int',
  name: 'text',
  revoked: 'flag',
  active: 'flag',
  created_at: 'time',
  expires_at: 'date?',
  last_used_at: 'time?',
  scopes: { listOf: 'text' },
  user_id: 'int',
} as const
export const token: Shape = { has: tokenMembers, lacks: ['token', 'digest'] }
export const issuedToken: Shape = { has: { ...tokenMembers, token: 'text' }, lacks: ['digest'] }

export const group: Shape = {
  has: {
    id: 'int',
    web_url: 'text',
    name: 'text',
    path: 'text',
    description: 'text',
    visibility: 'text',
    full_name: 'text',
    full_path: 'text',
    parent_id: 'int?',
    created_at: 'time',
    request_access_enabled: 'flag',
  },
}

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

/** The members that every commit has. */
export const commit: Shape = {
  has: {
    id: 'text',
    short_id: 'text',
    created_at: 'time',
    parent_ids: { listOf: 'text' },
    title: 'text',
    message: 'text',
    author_name: 'text',
    author_email: 'text',
    authored_date: 'time',
    committer_name: 'text',
    committer_email: 'text',
    committed_date: 'time',
    trailers: 'map',
    extended_trailers: 'map?',
    web_url: 'text',
  },
}
export const branch: Shape = {
  has: { name: 'text', commit, merged: 'flag', protected: 'flag', default: 'flag', can_push: 'flag', web_url: 'text' },
}
export const tag: Shape = { has: { name: 'text', message: 'text', target: 'text', commit, protected: 'flag' } }
export const diff: Shape = { has: { diff: 'text', new_path: 'text', old_path: 'text', new_file: 'flag' } }
export const treeEntry: Shape = { has: { id: 'text', name: 'text', type: 'text', path: 'text', mode: 'text' } }
export const blob: Shape = { has: { size: 'int', encoding: { is: 'base64' }, content: 'text', sha: 'text' } }
export const file: Shape = {
  has: {
    file_name: 'text',
    file_path: 'text',
    size: 'int',
    encoding: { is: 'base64' },
    content: 'text',
    content_sha256: 'text',
    ref: 'text',
    blob_id: 'text',
    commit_id: 'text',
    last_commit_id: 'text',
  },
}
export const changedFile: Shape = { exactly: { file_path: 'text', branch: 'text' } }

export const version: Shape = { has: { version: 'text', revision: 'text' } }

/** The members that pipelines have on GitLab. Fields that a record leaves out are null. */
const pipelineMembers = {
  id: 'int',
  iid: 'int?',
  project_id: 'int',
  sha: 'text?',
  ref: 'text?',
  status: 'text',
  source: 'text?',
  created_at: 'time?',
  updated_at: 'time',
  web_url: 'text',
} as const
export const listedPipeline: Shape = {
  has: { ...pipelineMembers, name: 'text?' },
  lacks: ['variables', 'payload', 'key', 'digest'],
}
export const pipeline: Shape = {
  has: {
    ...pipelineMembers,
    name: 'text?',
    before_sha: 'text?',
    tag: 'flag?',
    yaml_errors: 'text?',
    user: 'map?',
    started_at: 'time?',
    finished_at: 'time?',
    committed_at: 'time?',
    duration: 'int?',
    queued_duration: 'int?',
    coverage: 'text?',
    detailed_status: { has: { icon: 'text', text: 'text', label: 'text', group: 'text', details_path: 'text' } },
  },
  lacks: ['variables', 'payload', 'key', 'digest'],
}
const jobMembers = {
  id: 'int',
  status: 'text',
  stage: 'text?',
  name: 'text?',
  ref: 'text?',
  tag: 'flag?',
  allow_failure: 'flag',
  created_at: 'time?',
  started_at: 'time?',
  finished_at: 'time?',
  duration: 'int?',
  queued_duration: 'int?',
  user: 'map?',
  commit: 'map?',
  pipeline: { has: pipelineMembers },
  web_url: 'text',
} as const
export const job: Shape = { has: { ...jobMembers, runner: 'map?', artifacts: { listOf: 'map' } } }
export const bridge: Shape = { has: { ...jobMembers, downstream_pipeline: 'map?' } }
export const pipelineVariable: Shape = {
  exactly: { variable_type: 'text', key: 'text', value: 'text', raw: 'flag' },
}
export const testReport: Shape = {
  exactly: {
    total_time: 'int',
    total_count: 'int',
    success_count: 'int',
    failed_count: 'int',
    skipped_count: 'int',
    error_count: 'int',
    test_suites: { listOf: 'map' },
  },
}
export const testReportSummary: Shape = { exactly: { total: 'map', test_suites: { listOf: 'map' } } }
export const pipelineExport: Shape = {
  exactly: { signals: { listOf: 'text' }, token_set: 'flag', warnings: { listOf: 'text' } },
}
