import { type DescribedIssuable, type Issuable, taskCompletionOf } from '@penstock/core'
import { z } from 'zod'
import type { JsonContext } from '../../routing/route.ts'
import { basicUserShape } from './basic-user.ts'
import { milestoneShape } from './milestone-shape.ts'

/** The fields that issues and merge requests share. Votes, comments and time tracking do not exist yet. */
export const issuableSchema = {
  id: z.int(),
  iid: z.int(),
  project_id: z.int(),
  title: z.string(),
  description: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  closed_at: z.string().nullable(),
  closed_by: basicUserShape.schema.nullable(),
  labels: z.array(z.string()),
  milestone: milestoneShape.schema.nullable(),
  assignees: z.array(basicUserShape.schema),
  author: basicUserShape.schema.nullable(),
  assignee: basicUserShape.schema.nullable(),
  user_notes_count: z.int(),
  upvotes: z.int(),
  downvotes: z.int(),
  discussion_locked: z.boolean().nullable(),
  web_url: z.string(),
  time_stats: z.object({
    time_estimate: z.int(),
    total_time_spent: z.int(),
    human_time_estimate: z.string().nullable(),
    human_total_time_spent: z.string().nullable(),
  }),
  task_completion_status: z.object({ count: z.int(), completed_count: z.int() }),
}

/** Returns the values of the shared fields. The shapes of issues and merge requests pick from them, in their own order. */
export function issuableJson(item: DescribedIssuable, segment: 'issues' | 'merge_requests', context: JsonContext) {
  const assignees = item.assignees.map((user) => basicUserShape.of(user, context))
  const tasks = taskCompletionOf(item)
  return {
    id: item.id,
    iid: item.iid,
    project_id: item.projectId,
    title: item.title,
    description: item.description ?? null,
    created_at: timestamp(item.createdAtMs),
    updated_at: timestamp(item.updatedAtMs),
    closed_at: timestamp(item.closedAtMs),
    closed_by: userOrNull(item.closedBy, context),
    labels: item.labels,
    milestone: item.milestone === undefined ? null : milestoneShape.of(item.milestone, context),
    assignees,
    author: userOrNull(item.author, context),
    assignee: assignees[0] ?? null,
    user_notes_count: 0,
    upvotes: 0,
    downvotes: 0,
    discussion_locked: item.isDiscussionLocked ?? null,
    web_url: `${context.externalUrl}/${item.projectPath}/-/${segment}/${item.iid}`,
    time_stats: {
      time_estimate: 0,
      total_time_spent: 0,
      human_time_estimate: null,
      human_total_time_spent: null,
    },
    task_completion_status: { count: tasks.count, completed_count: tasks.completedCount },
  }
}

export const userOrNull = (user: Issuable['author'], context: JsonContext) =>
  user === undefined ? null : basicUserShape.of(user, context)

export const timestamp = (atMs: number | undefined): string | null =>
  atMs === undefined ? null : new Date(atMs).toISOString()
