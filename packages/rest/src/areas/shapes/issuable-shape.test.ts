import { createIssue } from '@penstock/core'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { issueShape } from './issue-shape.ts'
import { mergeRequestShape } from './merge-request-shape.ts'

let world: World
beforeEach(async () => {
  world = await World.open()
})
afterEach(() => world.close())

/** Returns the names of the members that are sent: those without a value are not. */
const namesIn = (json: object) => Object.keys(JSON.parse(JSON.stringify(json))).join(' ')
const context = { externalUrl: 'https://svc.example.test', serviceName: 'svc', nowMs: Date.UTC(2026, 1, 3) }

async function projectWithOwner() {
  const mira = await world.user('mira', { isAdministrator: true })
  return { mira, tools: await world.project('tools', await world.group('ops')) }
}

test('an issue has the fields of GitLab in their order', async () => {
  const { mira, tools } = await projectWithOwner()
  const input = { project: tools.id, title: 'Broken', description: '- [x] found\n- [ ] fixed', assigneeId: mira.id }
  const json = issueShape.of(await world.perform(mira, createIssue, input), context)
  expect(namesIn(json)).toBe(
    'id iid project_id title description state created_at updated_at closed_at closed_by labels milestone assignees ' +
      'author type assignee user_notes_count merge_requests_count upvotes downvotes due_date confidential ' +
      'discussion_locked issue_type web_url time_stats task_completion_status weight blocking_issues_count has_tasks ' +
      'task_status _links references severity subscribed moved_to_id imported imported_from service_desk_reply_to ' +
      'epic_iid epic iteration health_status',
  )
  expect(issueShape.schema.parse(json)).toEqual(json)
  expect(json).toMatchObject({
    iid: 1,
    created_at: '2026-02-03T04:05:06.789Z',
    closed_at: null,
    assignee: { username: 'mira' },
    web_url: 'https://svc.example.test/ops/tools/-/issues/1',
    task_completion_status: { count: 2, completed_count: 1 },
    has_tasks: true,
    task_status: '1 of 2 checklist items completed',
    _links: {
      self: 'https://svc.example.test/api/v4/projects/1/issues/1',
      project: 'https://svc.example.test/api/v4/projects/1',
    },
    references: { short: '#1', relative: '#1', full: 'ops/tools#1' },
    severity: 'UNKNOWN',
    subscribed: true,
    moved_to_id: null,
  })
})

test('counts the checkboxes at the beginning of lines in a description', async () => {
  const { mira, tools } = await projectWithOwner()
  const description = `- [ ] one${'\n'.repeat(500_000)}  2. [X] two\n-\n[ ] no\ntext - [x] no`
  const issue = await world.perform(mira, createIssue, { project: tools.id, title: 'x', description })
  expect(issueShape.of(issue, context)).toMatchObject({ task_completion_status: { count: 2, completed_count: 1 } })
})

test('a merge request has the fields of GitLab in their order', async () => {
  const { mira, tools } = await projectWithOwner()
  const input = { project: tools.id, title: 'Draft: Retry', sourceBranch: 'retry', targetBranch: 'main' }
  const json = mergeRequestShape.of(await world.mergeRequest(mira, input), context)
  expect(namesIn(json)).toBe(
    'id iid project_id title description state created_at updated_at merged_by merge_user merged_at closed_by closed_at ' +
      'target_branch source_branch user_notes_count upvotes downvotes author assignees assignee reviewers ' +
      'source_project_id target_project_id labels draft imported imported_from work_in_progress milestone ' +
      'merge_when_pipeline_succeeds merge_status detailed_merge_status merge_after sha merge_commit_sha ' +
      'squash_commit_sha discussion_locked should_remove_source_branch force_remove_source_branch prepared_at ' +
      'reference references web_url time_stats squash squash_on_merge task_completion_status has_conflicts ' +
      'blocking_discussions_resolved allow_collaboration allow_maintainer_to_push approvals_before_merge has_tasks',
  )
  expect(mergeRequestShape.schema.parse(json)).toEqual(json)
  expect(json).toMatchObject({
    draft: true,
    references: { short: '!1', relative: '!1', full: 'ops/tools!1' },
    web_url: 'https://svc.example.test/ops/tools/-/merge_requests/1',
  })
})
