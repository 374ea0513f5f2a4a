import {
  type Changes,
  type DescribedIssue,
  durationText,
  type ProjectFacts,
  type User,
  type WithLabels,
} from '@penstock/core'
import { changesJson, type NamedThings, stateId } from './changed-values.ts'
import {
  hookTime,
  hookTimeOrNull,
  type Json,
  labelJson,
  projectJson,
  repositoryJson,
  userJson,
  withImageUrls,
} from './shared-objects.ts'

export interface IssueFacts {
  readonly facts: ProjectFacts
  readonly user: User | undefined
  readonly issue: WithLabels<DescribedIssue>
  readonly action: 'open' | 'close' | 'reopen' | 'update'
  readonly changes: Changes
  readonly things: NamedThings
}

export function issuePayload({ facts, user, issue, action, changes, things }: IssueFacts, externalUrl: string): Json {
  const assignees = issue.assignees.map((assignee) => userJson(assignee, externalUrl))
  const labels = issue.labelDetails.map(labelJson)
  return {
    object_kind: issue.type === 'task' ? 'work_item' : 'issue',
    event_type: issue.isConfidential ? 'confidential_issue' : 'issue',
    user: userJson(user, externalUrl),
    project: projectJson(facts, externalUrl),
    object_attributes: { ...issueAttributes(issue, externalUrl), ...timeChange(changes), action },
    labels,
    changes: changesJson(changes, things, externalUrl),
    repository: repositoryJson(facts, externalUrl),
    ...(assignees.length > 0 && { assignees, assignee: assignees[0] }),
  }
}

const types = { issue: 'Issue', incident: 'Incident', test_case: 'Test Case', task: 'Task' } as const

/** Returns an issue as its own events and those of its notes show it. */
export function issueAttributes(issue: WithLabels<DescribedIssue>, externalUrl: string): Json {
  return {
    id: issue.id,
    iid: issue.iid,
    title: issue.title,
    description:
      issue.description === undefined ? null : withImageUrls(issue.description, issue.projectPath, externalUrl),
    author_id: issue.author?.id ?? null,
    project_id: issue.projectId,
    created_at: hookTime(issue.createdAtMs),
    updated_at: hookTime(issue.updatedAtMs),
    updated_by_id: null,
    last_edited_at: null,
    last_edited_by_id: null,
    closed_at: hookTimeOrNull(issue.closedAtMs),
    relative_position: 0,
    milestone_id: issue.milestone?.id ?? null,
    state_id: stateId(issue.state),
    state: issue.state,
    confidential: issue.isConfidential,
    discussion_locked: issue.isDiscussionLocked ?? null,
    due_date: issue.dueDate ?? null,
    moved_to_id: issue.movedToId ?? null,
    duplicated_to_id: null,
    ...timesJson(issue),
    weight: issue.weight ?? null,
    health_status: null,
    type: types[issue.type],
    url: `${externalUrl}/${issue.projectPath}/-/issues/${issue.iid}`,
    severity: issue.severity,
    assignee_ids: issue.assignees.map(({ id }) => id),
    assignee_id: issue.assignees[0]?.id ?? null,
    labels: issue.labelDetails.map(labelJson),
    ...(issue.type === 'incident' && { escalation_status: 'triggered', escalation_policy: null }),
  }
}

/** Returns the estimate and the time spent on an issue or merge request. */
export const timesJson = ({
  timeEstimateSeconds,
  timeSpentSeconds,
}: Pick<DescribedIssue, 'timeEstimateSeconds' | 'timeSpentSeconds'>) => ({
  time_estimate: timeEstimateSeconds,
  total_time_spent: timeSpentSeconds,
  time_change: 0,
  human_time_estimate: durationText(timeEstimateSeconds) ?? null,
  human_total_time_spent: durationText(timeSpentSeconds) ?? null,
  human_time_change: null as string | null,
})

/** Returns the time that this change has added. */
export function timeChange({ timeSpentSeconds: spent }: Changes) {
  const seconds = spent === undefined ? 0 : Number(spent.current ?? 0) - Number(spent.previous ?? 0)
  return { time_change: seconds, human_time_change: durationText(seconds) ?? null }
}
