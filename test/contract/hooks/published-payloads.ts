/**
 * The published members of a payload. A value is a type, one of several types between `|`, a list with the shape of its
 * elements, the shape of an object, or one that may be null. A member with `?` in its name exists only sometimes.
 */
export type Shape = string | readonly [Shape] | readonly ['null', Shape] | { readonly [member: string]: Shape }

/** Lists and objects that may be null, with a type that spreads keep. */
const listOf = (shape: Shape): readonly [Shape] => [shape]
const orNull = (shape: Shape): readonly ['null', Shape] => ['null', shape]

const user = { id: 'integer', name: 'text', username: 'text', avatar_url: 'text|null', email: 'text' }
/** The user of a forge, as a recorded pipeline has it. */
const recordedUser = { ...user, id: 'integer|null' }
const briefProject = {
  ...{ id: 'integer', name: 'text', description: 'text|null', web_url: 'text', avatar_url: 'text|null' },
  ...{ git_ssh_url: 'text', git_http_url: 'text', namespace: 'text', visibility_level: 'integer' },
  ...{ path_with_namespace: 'text', default_branch: 'text|null', ci_config_path: 'text|null' },
}
const project = { ...briefProject, homepage: 'text', url: 'text', ssh_url: 'text', http_url: 'text' }
const repository = { name: 'text', url: 'text', description: 'text|null', homepage: 'text' }
const clonedRepository = { ...repository, git_http_url: 'text', git_ssh_url: 'text', visibility_level: 'integer' }
const label = {
  ...{ id: 'integer', title: 'text', color: 'text', project_id: 'integer|null', created_at: 'time' },
  ...{ updated_at: 'time', template: 'flag', description: 'text|null', type: 'text', group_id: 'integer|null' },
}
const commit = {
  ...{ id: 'sha', message: 'text', title: 'text', timestamp: 'iso time', url: 'text' },
  author: { name: 'text', email: 'text' },
}
const changes = { '*': { previous: 'any', current: 'any' } }
const timeSpent = {
  ...{ time_estimate: 'integer', total_time_spent: 'integer', time_change: 'integer' },
  ...{ human_time_estimate: 'text|null', human_total_time_spent: 'text|null', human_time_change: 'text|null' },
}

const pushed = {
  ...{ object_kind: 'text', event_name: 'text', before: 'sha', after: 'sha', ref: 'text', ref_protected: 'flag' },
  ...{ checkout_sha: 'sha|null', message: 'text|null', user_id: 'integer', user_name: 'text', user_username: 'text' },
  ...{
    user_email: 'text|null',
    user_avatar: 'text|null',
    project_id: 'integer',
    project,
    total_commits_count: 'integer',
  },
  ...{ push_options: {}, repository: clonedRepository },
  commits: [{ ...commit, added: listOf('text'), modified: listOf('text'), removed: listOf('text') }],
} as const

const issue = {
  ...{ id: 'integer', iid: 'integer', title: 'text', description: 'text|null', author_id: 'integer' },
  ...{ project_id: 'integer', created_at: 'time', updated_at: 'time', updated_by_id: 'integer|null' },
  ...{ last_edited_at: 'time|null', last_edited_by_id: 'integer|null', closed_at: 'time|null' },
  ...{ relative_position: 'integer', milestone_id: 'integer|null', state_id: 'integer', state: 'text' },
  ...{ confidential: 'flag', discussion_locked: 'flag|null', due_date: 'day|null', moved_to_id: 'integer|null' },
  ...{ duplicated_to_id: 'integer|null', ...timeSpent, weight: 'integer|null', health_status: 'text|null' },
  ...{ type: 'text', url: 'text', severity: 'text', assignee_ids: listOf('integer'), assignee_id: 'integer|null' },
  labels: listOf(label),
} as const

const mergeRequest = {
  ...{ id: 'integer', iid: 'integer', title: 'text', description: 'text|null', state: 'text', state_id: 'integer' },
  ...{
    author_id: 'integer',
    assignee_id: 'integer|null',
    assignee_ids: listOf('integer'),
    reviewer_ids: listOf('integer'),
  },
  ...{ source_branch: 'text', target_branch: 'text', target_branch_protected: 'flag', source_project_id: 'integer' },
  ...{
    target_project_id: 'integer',
    source: project,
    target: project,
    labels: listOf(label),
    milestone_id: 'integer|null',
  },
  ...{ head_pipeline_id: 'integer|null', merge_commit_sha: 'sha|null', squash_commit_sha: 'sha|null' },
  ...{ merged_at: 'time|null', merge_error: 'text|null', merge_params: { '*': 'any' }, merge_status: 'text' },
  ...{ detailed_merge_status: 'text', merge_user_id: 'integer|null', merge_when_pipeline_succeeds: 'flag' },
  ...{ draft: 'flag', work_in_progress: 'flag', first_contribution: 'flag', blocking_discussions_resolved: 'flag' },
  ...{ prepared_at: 'time|null', created_at: 'time', updated_at: 'time', updated_by_id: 'integer|null' },
  ...{ last_edited_at: 'time|null', last_edited_by_id: 'integer|null', ...timeSpent, url: 'text' },
  ...{ approval_rules: listOf({ '*': 'any' }), last_commit: commit },
} as const

const snippet = {
  ...{ id: 'integer', title: 'text', description: 'text|null', content: 'text', author_id: 'integer' },
  ...{ project_id: 'integer', created_at: 'time', updated_at: 'time', file_name: 'text', type: 'text' },
  ...{ visibility_level: 'integer', url: 'text' },
}

const note = {
  ...{ id: 'integer', note: 'text', description: 'text', noteable_type: 'text', noteable_id: 'integer|null' },
  ...{ author_id: 'integer', project_id: 'integer', created_at: 'time', updated_at: 'time' },
  ...{ updated_by_id: 'integer|null', attachment: 'text|null', line_code: 'text|null', commit_id: 'sha|null' },
  ...{ discussion_id: 'text', type: 'text|null', position: 'null', original_position: 'null', change_position: 'null' },
  ...{ resolved_at: 'time|null', resolved_by_id: 'integer|null', resolved_by_push: 'flag|null', system: 'flag' },
  ...{ internal: 'flag', st_diff: 'null', url: 'text' },
}

const runner = {
  ...{
    id: 'integer',
    runner_type: 'text',
    description: 'text',
    active: 'flag',
    is_shared: 'flag',
    tags: listOf('text'),
  },
} as const
const environment = { name: 'text', action: 'text', deployment_tier: 'text' }
const job = {
  ...{
    id: 'integer',
    stage: 'text',
    name: 'text',
    status: 'text',
    created_at: 'exact time',
    started_at: 'exact time|null',
  },
  ...{
    finished_at: 'exact time|null',
    duration: 'number|null',
    queued_duration: 'number|null',
    failure_reason: 'text|null',
  },
  ...{ when: 'text', manual: 'flag', allow_failure: 'flag', user: recordedUser, runner },
  ...{ artifacts_file: { filename: 'text|null', size: 'integer|null' }, environment: orNull(environment) },
} as const

/** The published members, by `object_kind` and, for notes and reactions, by what they are on. */
export const publishedPayloads: Readonly<Record<string, Shape>> = {
  push: pushed,
  tag_push: pushed,
  issue: {
    ...{ object_kind: 'text', event_type: 'text', user, project, labels: listOf(label), changes, repository },
    ...{ 'assignees?': listOf(user), 'assignee?': user, object_attributes: { ...issue, action: 'text' } },
  },
  ...Object.fromEntries(
    Object.entries({ commit, issue, snippet, merge_request: { ...mergeRequest, 'assignee?': user } }).map(
      ([on, shape]): [string, Shape] => [
        `note on ${on}`,
        {
          ...{ object_kind: 'text', event_type: 'text', user, project_id: 'integer', project, repository },
          ...{ object_attributes: { ...note, action: 'text' }, [on]: shape },
        },
      ],
    ),
  ),
  merge_request: {
    ...{ object_kind: 'text', event_type: 'text', user, project, labels: listOf(label), changes, repository },
    ...{ assignees: listOf(user), reviewers: listOf({ ...user, state: 'text', re_requested: 'flag' }) },
    object_attributes: {
      ...{ ...mergeRequest, action: 'text', actioned_at: 'time', system: 'flag', 'system_action?': 'text' },
      'oldrev?': 'sha',
    },
  },
  build: {
    ...{ object_kind: 'text', ref: 'text', tag: 'flag', before_sha: 'sha', sha: 'sha', retries_count: 'integer' },
    ...{ build_id: 'integer', build_name: 'text', build_stage: 'text', build_status: 'text' },
    ...{ build_created_at: 'iso time', build_started_at: 'iso time|null', build_finished_at: 'iso time|null' },
    ...{ build_created_at_iso: 'iso time', build_started_at_iso: 'iso time|null' },
    ...{ build_finished_at_iso: 'iso time|null', build_duration: 'number|null', build_queued_duration: 'number|null' },
    ...{ build_allow_failure: 'flag', build_failure_reason: 'text', pipeline_id: 'integer', runner },
    ...{ project_id: 'integer', project_name: 'text', user: recordedUser, repository: clonedRepository },
    ...{ project: briefProject, environment: orNull(environment) },
    commit: {
      ...{ id: 'integer', name: 'text|null', sha: 'sha', message: 'text', author_name: 'text', author_email: 'text' },
      ...{ author_url: 'text|null', status: 'text', duration: 'number|null', started_at: 'iso time|null' },
      ...{ finished_at: 'iso time|null', started_at_iso: 'iso time|null', finished_at_iso: 'iso time|null' },
    },
  },
  pipeline: {
    ...{
      object_kind: 'text',
      merge_request: 'null',
      user: recordedUser,
      project: briefProject,
      commit,
      builds: listOf(job),
    },
    object_attributes: {
      ...{ id: 'integer', iid: 'integer', name: 'text|null', ref: 'text', tag: 'flag', sha: 'sha', before_sha: 'sha' },
      ...{ source: 'text', status: 'text', detailed_status: 'text', stages: listOf('text'), created_at: 'exact time' },
      ...{ finished_at: 'exact time|null', duration: 'integer|null', queued_duration: 'integer|null' },
      ...{
        protected_ref: 'flag',
        default_branch: 'flag',
        variables: listOf({ key: 'text', value: 'text' }),
        url: 'text',
      },
    },
  },
  wiki_page: {
    ...{ object_kind: 'text', user, project },
    wiki: {
      ...{ web_url: 'text', git_ssh_url: 'text', git_http_url: 'text', path_with_namespace: 'text' },
      default_branch: 'text',
    },
    object_attributes: {
      ...{ slug: 'text', title: 'text', format: 'text', content: 'text', message: 'text', version_id: 'sha' },
      ...{ url: 'text', action: 'text', diff_url: 'text' },
    },
  },
  deployment: {
    ...{ object_kind: 'text', status: 'text', status_changed_at: 'time with offset', deployment_id: 'integer' },
    ...{ deployable_id: 'integer|null', deployable_url: 'text|null', environment: 'text', environment_tier: 'text' },
    ...{ environment_slug: 'text', environment_external_url: 'text|null', project, short_sha: 'text', user },
    ...{ user_url: 'text', commit_url: 'text', commit_title: 'text' },
  },
  release: {
    ...{ id: 'integer', created_at: 'time', description: 'text', name: 'text', released_at: 'time', tag: 'text' },
    ...{ object_kind: 'text', project, url: 'text', action: 'text', commit },
    assets: {
      count: 'integer',
      links: [{ id: 'integer', link_type: 'text', name: 'text', url: 'text' }],
      sources: [{ format: 'text', url: 'text' }],
    },
  },
  milestone: {
    ...{ object_kind: 'text', event_type: 'text', project, action: 'text' },
    object_attributes: {
      ...{ id: 'integer', iid: 'integer', title: 'text', description: 'text|null', state: 'text', created_at: 'time' },
      ...{ updated_at: 'time', due_date: 'day|null', start_date: 'day|null', group_id: 'integer|null' },
      project_id: 'integer',
    },
  },
  feature_flag: {
    ...{ object_kind: 'text', project, user, user_url: 'text' },
    object_attributes: { id: 'integer', name: 'text', description: 'text', active: 'flag' },
  },
  ...Object.fromEntries(
    Object.entries<Readonly<Record<string, Shape>>>({
      issue: { issue },
      note: { note, issue },
      snippet: { snippet },
    }).map(([on, shapes]): [string, Shape] => [
      `emoji on ${on}`,
      {
        ...{ object_kind: 'text', event_type: 'text', user, project_id: 'integer', project, ...shapes },
        object_attributes: {
          ...{ id: 'integer', user_id: 'integer', name: 'text', awardable_type: 'text', awardable_id: 'integer' },
          ...{ created_at: 'time', updated_at: 'time', action: 'text', awarded_on_url: 'text' },
        },
      },
    ]),
  ),
  access_token: {
    ...{ object_kind: 'text', project, event_name: 'text' },
    object_attributes: {
      ...{ id: 'integer', user_id: 'integer', name: 'text', created_at: 'time', expires_at: 'day' },
      last_used_at: 'time|null',
    },
  },
  deploy_token: {
    ...{ object_kind: 'text', project, event_name: 'text' },
    object_attributes: {
      ...{ id: 'integer', name: 'text', created_at: 'time', expires_at: 'time', revoked: 'flag' },
      deploy_token_type: 'text',
    },
  },
  repository_update: {
    ...{ event_name: 'text', user_id: 'integer', user_name: 'text', user_email: 'text', user_avatar: 'text|null' },
    ...{
      project_id: 'integer',
      project,
      changes: listOf({ before: 'sha', after: 'sha', ref: 'text' }),
      refs: listOf('text'),
    },
  },
}

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  any: () => true,
  null: (value) => value === null,
  flag: (value) => typeof value === 'boolean',
  integer: Number.isSafeInteger,
  number: Number.isFinite,
  text: (value) => typeof value === 'string',
  sha: (value) => typeof value === 'string' && /^[0-9a-f]{40}$/.test(value),
  day: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value),
  time: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/.test(value),
  // Published without milliseconds; ours has those of the record.
  'exact time': (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{3})? UTC$/.test(value),
  'time with offset': (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000$/.test(value),
  'iso time': (value) =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?(?:Z|[+-]\d\d:\d\d)$/.test(value),
}

const isList = (shape: Shape): shape is readonly [Shape] | readonly ['null', Shape] => Array.isArray(shape)

/** Returns how a value differs from its shape, a line per member. */
export function publishedDifferences(value: unknown, shape: Shape, path = ''): string[] {
  if (typeof shape === 'string') {
    return shape.split('|').some((type) => types[type]!(value)) ? [] : [`${path} is not ${shape}`]
  }
  if (isList(shape)) {
    if (shape.length === 2) return value === null ? [] : publishedDifferences(value, shape[1], path)
    if (!Array.isArray(value)) return [`${path} is not a list`]
    return value.flatMap((element) => publishedDifferences(element, shape[0], `${path}[]`))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${path} is not an object`]
  const members = shape as Exclude<Shape, string | readonly unknown[]>
  const others = members['*']
  const names = Object.keys(members).filter((name) => name !== '*')
  const known = new Set(names.map((name) => name.replace('?', '')))
  return [
    ...names.filter((name) => !name.endsWith('?') && !(name in value)).map((name) => `${path}.${name} is missing`),
    ...Object.entries(value).flatMap(([name, member]) => {
      const expected = members[name] ?? members[`${name}?`] ?? others
      return expected === undefined
        ? [`${path}.${name} is not published`]
        : publishedDifferences(member, expected, known.has(name) ? `${path}.${name}` : `${path}.*`)
    }),
  ]
}
