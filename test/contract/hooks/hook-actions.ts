import type { HookedProject } from './hooked-project.ts'

/** A change of a project, with the calls that it causes. */
export interface HookAction {
  readonly what: string
  readonly act: (project: HookedProject) => Promise<unknown>
  /** Each is the switch, the kind of the payload, and what it says about the change. */
  readonly calls: readonly string[]
}

const action = (what: string, act: HookAction['act'], ...calls: readonly string[]): HookAction => ({
  what,
  act,
  calls: calls.toSorted(),
})

const rest = (what: string, method: string, path: string, body: object | undefined, ...calls: readonly string[]) =>
  action(`${method} ${path.split('?')[0]}: ${what}`, (project) => project.rest(method, path, body), ...calls)

const mutation = (name: string, input: object, ...calls: readonly string[]) =>
  action(
    `mutation ${name} ${JSON.stringify(input).slice(0, 60)}`,
    (project) => project.mutate(name, { projectPath: project.path, ...input }),
    ...calls,
  )

const push = ['push_events push', 'repository_update_events repository_update']
const tagPush = ['tag_push_events tag_push', 'repository_update_events repository_update']
const commit = (branch: string, file: string, more: object = {}) => ({
  branch,
  commit_message: `Add ${file}`,
  actions: [{ action: 'create', file_path: file, content: `${file}\n` }],
  ...more,
})
/** An hour ago, because the core keeps only pipelines with plausible times. */
const at = (seconds: number) => new Date(Date.now() - 3_600_000 + seconds * 1_000).toISOString()
const forgeUser = { id: 12, name: 'Noor', username: 'noor', avatar_url: null, email: '[REDACTED]' }
const pipeline = (id: number, status: string, jobs: readonly object[], more: object = {}) => ({
  object_attributes: {
    ...{ id, status, ref: 'main', sha: '3'.repeat(40), created_at: at(0), stages: ['test', 'deploy'] },
    ...{ iid: 9, tag: false, source: 'push', protected_ref: true, queued_duration: 1 },
    ...{ before_sha: '2'.repeat(40), variables: [{ key: 'TARGET', value: 'all' }] },
    detailed_status: status === 'success' ? 'passed' : status,
    ...(status === 'running' ? {} : { finished_at: at(60), duration: 60 }),
    ...more,
  },
  user: forgeUser,
  commit: { id: '3'.repeat(40), message: 'Fix', title: 'Fix', timestamp: at(0), author: { name: 'Noor', email: '' } },
  builds: jobs,
})
const job = (id: number, name: string, status: string, more: object = {}) => ({
  ...{ id, name, stage: 'test', status, created_at: at(0), started_at: at(1), queued_duration: 0.5 },
  ...{ when: 'on_success', manual: false, allow_failure: false, retries_count: 0, user: forgeUser },
  runner: { id: 7, runner_type: 'project_type', description: 'Fast', active: true, is_shared: false, tags: ['linux'] },
  ...(status === 'running' ? {} : { finished_at: at(50), duration: 49 }),
  ...more,
})
const onStaging = { stage: 'deploy', environment: { name: 'staging', action: 'start', deployment_tier: 'staging' } }
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

/** The changes, in an order in which each finds what it needs. */
export const hookActions: readonly HookAction[] = [
  rest('the first commit', 'POST', '/repository/commits', commit('main', 'README.md'), ...push),
  rest('another commit', 'POST', '/repository/commits', commit('main', 'a.txt'), ...push),
  mutation(
    'commitCreate',
    { branch: 'main', message: 'B', actions: [{ action: 'CREATE', filePath: 'b.txt', content: 'b' }] },
    ...push,
  ),
  rest('a branch', 'POST', '/repository/branches?branch=old&ref=main', undefined, ...push),
  mutation('createBranch', { name: 'older', ref: 'main' }, ...push),
  rest('removed', 'DELETE', '/repository/branches/old', undefined, ...push),
  rest('a tag', 'POST', '/repository/tags', { tag_name: 'v0', ref: 'main', message: 'Zero' }, ...tagPush),
  rest('removed', 'DELETE', '/repository/tags/v0', undefined, ...tagPush),

  rest('a label', 'POST', '/labels', { name: 'bug', color: '#ff0000' }),
  rest(
    'opened',
    'POST',
    '/issues',
    { title: 'Leak', description: '![x](/uploads/a/b.png)' },
    'issues_events issue open',
  ),
  mutation('createIssue', { title: 'Creak' }, 'issues_events issue open'),
  rest('changed', 'PUT', '/issues/1', { title: 'Big leak', labels: 'bug' }, 'issues_events issue update'),
  mutation('updateIssue', { iid: '1', description: 'Here' }, 'issues_events issue update'),
  rest('nothing changed', 'PUT', '/issues/1', { title: 'Big leak' }),
  rest('closed', 'PUT', '/issues/1', { state_event: 'close' }, 'issues_events issue close'),
  rest('reopened', 'PUT', '/issues/1', { state_event: 'reopen' }, 'issues_events issue reopen'),
  mutation('updateIssue', { iid: '1', stateEvent: 'CLOSE' }, 'issues_events issue close'),
  mutation('updateIssue', { iid: '1', stateEvent: 'REOPEN' }, 'issues_events issue reopen'),
  rest(
    'confidential',
    'POST',
    '/issues',
    { title: 'Key', confidential: true },
    'confidential_issues_events issue open',
  ),
  mutation('issueSetConfidential', { iid: '2', confidential: true }, 'confidential_issues_events issue update'),
  mutation('issueSetConfidential', { iid: '2', confidential: false }, 'issues_events issue update'),
  rest('a subscription', 'POST', '/issues/1/unsubscribe', undefined),

  rest('on an issue', 'POST', '/issues/1/notes', { body: 'Look' }, 'note_events note create'),
  rest('changed', 'PUT', '/issues/1/notes/{notes}', { body: 'Look here' }, 'note_events note update'),
  rest('a reaction', 'POST', '/issues/1/award_emoji', { name: 'thumbsup' }, 'emoji_events emoji award'),
  rest('removed', 'DELETE', '/issues/1/award_emoji/{award_emoji}', undefined, 'emoji_events emoji revoke'),
  rest('a reaction', 'POST', '/issues/1/notes/{notes}/award_emoji', { name: 'eyes' }, 'emoji_events emoji award'),
  rest('removed', 'DELETE', '/issues/1/notes/{notes}', undefined),
  rest('a thread', 'POST', '/issues/1/discussions', { body: 'Why?' }, 'note_events note create'),
  rest(
    'internal',
    'POST',
    '/issues/1/notes',
    { body: 'Inside', internal: true },
    'confidential_note_events note create',
  ),
  rest('on a confidential issue', 'POST', '/issues/3/notes', { body: 'Sh' }, 'confidential_note_events note create'),
  rest('removed', 'DELETE', '/issues/3', undefined),
  rest('on a commit', 'POST', '/repository/commits/main/comments', { note: 'Good' }, 'note_events note create'),
  rest('a snippet', 'POST', '/snippets', {
    title: 'S',
    visibility: 'private',
    files: [{ file_path: 's.sh', content: 'ls' }],
  }),
  rest('on a snippet', 'POST', '/snippets/{snippets}/notes', { body: 'Short' }, 'note_events note create'),
  rest('a reaction', 'POST', '/snippets/{snippets}/award_emoji', { name: 'heart' }, 'emoji_events emoji award'),

  rest('created', 'POST', '/milestones', { title: 'One', due_date: inDays(9) }, 'milestone_events milestone create'),
  rest('changed', 'PUT', '/milestones/{milestones}', { title: 'First' }),
  rest('closed', 'PUT', '/milestones/{milestones}', { state_event: 'close' }, 'milestone_events milestone close'),
  rest('reopened', 'PUT', '/milestones/{milestones}', { state_event: 'activate' }, 'milestone_events milestone reopen'),
  rest('to delete', 'POST', '/milestones', { title: 'Two' }, 'milestone_events milestone create'),
  rest('deleted', 'DELETE', '/milestones/{milestones}', undefined, 'milestone_events milestone delete'),
  rest('in use', 'PUT', '/issues/1', { milestone_id: 1 }, 'issues_events issue update'),

  rest('created', 'POST', '/wikis', { title: 'Home', content: 'Hi' }, 'wiki_page_events wiki_page create'),
  rest('changed', 'PUT', '/wikis/Home', { content: 'Hello' }, 'wiki_page_events wiki_page update'),
  rest('removed', 'DELETE', '/wikis/Home', undefined, 'wiki_page_events wiki_page delete'),

  rest('on a branch', 'POST', '/repository/commits', commit('fix', 'fix.txt', { start_branch: 'main' }), ...push),
  rest(
    'opened',
    'POST',
    '/merge_requests',
    { title: 'Fix', description: 'Closes #1', source_branch: 'fix', target_branch: 'main' },
    'merge_requests_events merge_request open',
  ),
  rest(
    'new commits',
    'POST',
    '/repository/commits',
    commit('fix', 'fix2.txt'),
    ...push,
    'merge_requests_events merge_request update',
  ),
  rest(
    'changed',
    'PUT',
    '/merge_requests/1',
    { title: 'Draft: Fix', labels: 'bug', reviewer_ids: [1], assignee_ids: [1] },
    'merge_requests_events merge_request update',
  ),
  mutation('mergeRequestSetDraft', { iid: '1', draft: false }, 'merge_requests_events merge_request update'),
  mutation('mergeRequestRequestChanges', { iid: '1' }, 'merge_requests_events merge_request update'),
  mutation(
    'mergeRequestReviewerRereview',
    { iid: '1', userId: 'gid://gitlab/User/1' },
    'merge_requests_events merge_request update',
  ),
  rest('on a merge request', 'POST', '/merge_requests/1/notes', { body: 'LGTM' }, 'note_events note create'),
  rest('approved', 'POST', '/merge_requests/1/approve', undefined, 'merge_requests_events merge_request approved'),
  rest(
    'unapproved',
    'POST',
    '/merge_requests/1/unapprove',
    undefined,
    'merge_requests_events merge_request unapproved',
  ),
  rest('closed', 'PUT', '/merge_requests/1', { state_event: 'close' }, 'merge_requests_events merge_request close'),
  mutation('mergeRequestUpdate', { iid: '1', state: 'OPEN' }, 'merge_requests_events merge_request reopen'),
  rest(
    'merged',
    'PUT',
    '/merge_requests/1/merge',
    { should_remove_source_branch: true },
    ...push,
    ...push,
    'merge_requests_events merge_request merge',
    'issues_events issue close',
  ),
  rest('on a branch', 'POST', '/repository/commits', commit('next', 'next.txt', { start_branch: 'main' }), ...push),
  mutation(
    'mergeRequestCreate',
    { title: 'Next', sourceBranch: 'next', targetBranch: 'main' },
    'merge_requests_events merge_request open',
  ),
  action(
    'mutation mergeRequestAccept',
    async (project) => {
      const { sha } = await project.rest('GET', '/merge_requests/2')
      await project.mutate('mergeRequestAccept', { projectPath: project.path, iid: '2', sha })
    },
    ...push,
    'merge_requests_events merge_request merge',
  ),

  rest(
    'created',
    'POST',
    '/releases',
    { tag_name: 'v1', ref: 'main', name: 'One', description: 'First' },
    ...tagPush,
    'releases_events release create',
  ),
  rest('changed', 'PUT', '/releases/v1', { description: 'The first' }, 'releases_events release update'),
  rest('a link', 'POST', '/releases/v1/assets/links', { name: 'Tool', url: 'https://files.example.test/tool' }),
  rest('removed', 'DELETE', '/releases/v1', undefined, 'releases_events release delete'),

  rest(
    'running',
    'PUT',
    '/pipeline_records/31',
    pipeline(31, 'running', [job(311, 'unit', 'running')]),
    'pipeline_events pipeline running',
    'job_events build running',
  ),
  rest('the same again', 'PUT', '/pipeline_records/31', pipeline(31, 'running', [job(311, 'unit', 'running')])),
  rest(
    'a job starts',
    'PUT',
    '/pipeline_records/31',
    pipeline(31, 'running', [job(311, 'unit', 'success'), job(312, 'ship', 'running', onStaging)]),
    'job_events build running',
    'job_events build success',
    'deployment_events deployment running',
  ),
  rest(
    'ended',
    'PUT',
    '/pipeline_records/31',
    pipeline(31, 'success', [job(311, 'unit', 'success'), job(312, 'ship', 'success', onStaging)]),
    'pipeline_events pipeline success',
    'job_events build success',
    'deployment_events deployment success',
  ),

  action(
    'POST /deployments: reported',
    async (project) => {
      const { commit: head } = await project.rest('GET', '/repository/branches/main')
      const draft = { environment: 'prod', sha: head.id, ref: 'main', tag: false, status: 'running' }
      await project.rest('POST', '/deployments', draft)
    },
    'deployment_events deployment running',
  ),
  rest('ended', 'PUT', '/deployments/{deployments}', { status: 'success' }, 'deployment_events deployment success'),
  rest('an environment', 'POST', '/environments', { name: 'other' }),

  rest('created', 'POST', '/feature_flags', { name: 'beta', version: 'new_version_flag' }),
  rest('described', 'PUT', '/feature_flags/beta', { description: 'New' }),
  rest('switched off', 'PUT', '/feature_flags/beta', { active: false }, 'feature_flag_events feature_flag false'),
  rest('switched on', 'PUT', '/feature_flags/beta', { active: true }, 'feature_flag_events feature_flag true'),
  rest('removed', 'DELETE', '/feature_flags/beta', undefined),

  rest('a member', 'POST', '/members', { username: 'noor', access_level: 20 }),
  rest('a setting', 'PUT', '', { description: 'Tools' }),
  rest('a star', 'POST', '/star', undefined),
  rest('a variable', 'POST', '/variables', { key: 'A', value: 'b' }),
  rest('created', 'POST', '/access_tokens', { name: 'ci', scopes: ['api'], access_level: 30, expires_at: inDays(3) }),
  rest('far', 'POST', '/access_tokens', { name: 'later', scopes: ['api'], access_level: 30, expires_at: inDays(30) }),
  rest('created', 'POST', '/deploy_tokens', {
    name: 'reg',
    scopes: ['read_registry'],
    expires_at: `${inDays(3)}T00:00:00Z`,
  }),
  action(
    'a sweep',
    (project) => project.sweep(),
    'resource_access_token_events access_token expiring_access_token',
    'resource_deploy_token_events deploy_token expiring_deploy_token',
  ),
  action('another sweep', (project) => project.sweep()),
]
