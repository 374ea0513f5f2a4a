import { expect, test } from 'vitest'
import { describeWithProgram } from '../../interop/prepared.ts'
import { GoClient } from '../core/client-go/go-client.ts'
import { hookActions } from './hook-actions.ts'
import { HookedProject, signingToken } from './hooked-project.ts'

/**
 * Members of client-go's types that describe more than webhooks: for users, repositories and projects it uses the types of the
 * API, and `changes` has only what changed.
 */
const ofOtherTypes = /^\.user\.|^\.repository\.|^\.changes\.|\.visibility$/

/** The members that the payloads do not have. */
const lacked: Readonly<Record<string, readonly string[]>> = {
  // What the reaction is on is one of them.
  EmojiEvent: [
    ...['.commit', '.issue', '.merge_request', '.note', '.project_snippet', '.project_snippet.expires_at'],
    ...['.project_snippet.repository_read_only', '.project_snippet.secret'],
  ],
  // Columns of the platform's tables, which its documentation does not name.
  IssueCommentEvent: ['.issue.branch_name', '.issue.last_edit_at', '.issue.position', '.issue.start_date'],
  // Without assignees; escalations are of incidents.
  IssueEvent: [
    ...['.assignee', '.assignees', '.object_attributes.branch_name', '.object_attributes.escalation_policy'],
    ...['.object_attributes.escalation_status', '.object_attributes.start_date'],
  ],
  // Of child pipelines.
  JobEvent: ['.source_pipeline'],
  MergeCommentEvent: [
    ...['.merge_request.approvals_before_merge', '.merge_request.deleted_at'],
    ...['.merge_request.in_progress_merge_commit_sha', '.merge_request.lock_version', '.merge_request.locked_at'],
    ...['.merge_request.position', '.merge_request.rebase_commit_sha', '.merge_request.squash'],
  ],
  MergeEvent: [
    ...['.object_attributes.approvals_before_merge', '.object_attributes.deleted_at'],
    ...['.object_attributes.in_progress_merge_commit_sha', '.object_attributes.lock_version'],
    ...['.object_attributes.locked_at', '.object_attributes.merge_when_build_succeeds', '.object_attributes.oldrev'],
    ...['.object_attributes.position', '.object_attributes.rebase_commit_sha', '.object_attributes.st_commits'],
    ...['.object_attributes.st_diffs', '.object_attributes.system_action'],
  ],
  MilestoneWebhookEvent: ['.group'],
  PipelineEvent: ['.project.homepage', '.project.http_url', '.project.ssh_url', '.project.url', '.source_pipeline'],
  SnippetCommentEvent: ['.snippet.expires_at', '.snippet.repository_read_only', '.snippet.secret'],
}

interface Parsed {
  readonly type: string
  readonly lacking: readonly string[]
  readonly unknown: readonly string[]
  readonly refusal: string
}

describeWithProgram('client-go', ['goClient'], () => {
  test('reads the payload of each webhook, with the members that its types have, and verifies the signatures', async () => {
    const project = await HookedProject.start()
    const client = new GoClient('http://127.0.0.1:1')
    const lacking: Record<string, Set<string>> = {}
    const unread = new Set<string>()
    for (const { act } of hookActions) {
      await act(project)
      for (const { event, text, headers } of await project.calls()) {
        const { result, error } = await client.call('', 'ParseWebhook', headers, text, signingToken)
        const parsed = result as Parsed
        expect(parsed.refusal, event).toBe('')
        if (error !== undefined) unread.add(`${event}: ${error}`)
        for (const path of (parsed.lacking ?? []).filter((each) => !ofOtherTypes.test(each))) {
          lacking[parsed.type] ??= new Set()
          lacking[parsed.type]!.add(path)
        }
      }
    }
    await client.close()
    const seen = Object.fromEntries(Object.entries(lacking).map(([type, paths]) => [type, [...paths].toSorted()]))
    expect(seen).toEqual(lacked)
    // client-go has no types for these.
    expect([...unread].toSorted()).toEqual([
      'Repository Update Hook: unexpected event type: Repository Update Hook',
      'Resource Deploy Token Hook: unexpected event type: Resource Deploy Token Hook',
    ])
  })
})
