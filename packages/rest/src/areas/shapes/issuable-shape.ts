import {
  type DescribedIssuable,
  durationText,
  type Issuable,
  type ListedIssuable,
  type TaskCompletion,
  taskCompletionOf,
} from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../../routing/iso-time.ts'
import type { JsonContext, Shape } from '../../routing/route.ts'
import { basicUserShape } from './basic-user.ts'
import { labelDetailsShape } from './label-shape.ts'
import { milestoneShape } from './milestone-shape.ts'

const timeStatsSchema = z
  .object({
    time_estimate: z.int(),
    total_time_spent: z.int(),
    human_time_estimate: z.string().nullable(),
    human_total_time_spent: z.string().nullable(),
  })
  .meta({ id: 'TimeStats' })

/** The time tracking of an issue or merge request, in seconds and as text. */
export const timeStatsShape = {
  schema: timeStatsSchema,
  of: ({ timeEstimateSeconds, timeSpentSeconds }: Pick<Issuable, 'timeEstimateSeconds' | 'timeSpentSeconds'>) => ({
    time_estimate: timeEstimateSeconds,
    total_time_spent: timeSpentSeconds,
    human_time_estimate: durationText(timeEstimateSeconds) ?? null,
    human_total_time_spent: durationText(timeSpentSeconds) ?? null,
  }),
} satisfies Shape<Issuable>

/** The fields that issues and merge requests share. */
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
  /** Names, or objects if the request had `with_labels_details`. */
  labels: z.union([z.array(z.string()), z.array(labelDetailsShape.schema)]),
  milestone: milestoneShape.schema.nullable(),
  assignees: z.array(basicUserShape.schema),
  author: basicUserShape.schema.nullable(),
  assignee: basicUserShape.schema.nullable(),
  user_notes_count: z.int(),
  upvotes: z.int(),
  downvotes: z.int(),
  discussion_locked: z.boolean().nullable(),
  web_url: z.string(),
  time_stats: timeStatsSchema,
  task_completion_status: z.object({ count: z.int(), completed_count: z.int() }),
  has_tasks: z.boolean(),
  /** Missing without tasks. */
  task_status: z.string().optional(),
  references: z.object({ short: z.string(), relative: z.string(), full: z.string() }),
  imported: z.boolean(),
  imported_from: z.string(),
}

/** Returns the values of the shared fields. The shapes of issues and merge requests pick from them, in their own order. */
export function issuableJson(
  item: ListedIssuable<DescribedIssuable>,
  segment: 'issues' | 'merge_requests',
  context: JsonContext,
) {
  const assignees = item.assignees.map((user) => basicUserShape.of(user, context))
  const tasks = taskCompletionOf(item)
  const short = `${references[segment]}${item.iid}`
  return {
    id: item.id,
    iid: item.iid,
    project_id: item.projectId,
    title: item.title,
    description: item.description ?? null,
    created_at: isoTime(item.createdAtMs),
    updated_at: isoTime(item.updatedAtMs),
    closed_at: isoTime(item.closedAtMs),
    closed_by: userOrNull(item.closedBy, context),
    labels: item.labelDetails?.map((label) => labelDetailsShape.of(label)) ?? item.labels,
    milestone: item.milestone === undefined ? null : milestoneShape.of(item.milestone, context),
    assignees,
    author: userOrNull(item.author, context),
    assignee: assignees[0] ?? null,
    user_notes_count: item.userNotesCount,
    upvotes: item.upvotes,
    downvotes: item.downvotes,
    discussion_locked: item.isDiscussionLocked ?? null,
    web_url: `${context.externalUrl}/${item.projectPath}/-/${segment}/${item.iid}`,
    time_stats: timeStatsShape.of(item),
    task_completion_status: { count: tasks.count, completed_count: tasks.completedCount },
    has_tasks: tasks.count > 0,
    task_status: tasks.count > 0 ? taskStatus(tasks) : undefined,
    references: { short, relative: short, full: `${item.projectPath}${short}` },
    imported: false,
    imported_from: 'none',
  }
}

/** The sign before the iid in references. */
const references = { issues: '#', merge_requests: '!' } as const

const taskStatus = ({ count, completedCount }: TaskCompletion): string =>
  `${completedCount} of ${count} checklist ${count === 1 ? 'item' : 'items'} completed`

export const userOrNull = (user: Issuable['author'], context: JsonContext) =>
  user === undefined ? null : basicUserShape.of(user, context)
