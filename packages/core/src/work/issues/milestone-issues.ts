import { z } from 'zod'
import type { Subject } from '../../base/access/subject.ts'
import { unscopedBatchQuery } from '../../base/operations/operation.ts'
import { onGroupsAndProjects } from '../../identity/parents/parent-operations.ts'
import { type Milestone, milestoneInput, pageOfMilestoneInput } from '../milestones/milestone.ts'
import { getMilestone } from '../milestones/milestone-store.ts'
import { burndownEvents } from './burndown.ts'
import { burndownIssues } from './burndown-store.ts'
import { type IssueCounts, issueCountsByMilestone, pageOfIssues } from './issue-list-store.ts'

const permissions = () => ({ read: 'read_milestone', write: 'admin_milestone' }) as const

/** Lists the issues of a milestone, most urgent first. */
export const { group: listGroupMilestoneIssues, project: listProjectMilestoneIssues } = onGroupsAndProjects(
  { noun: 'MilestoneIssue', permissions },
  (on) =>
    on.list(pageOfMilestoneInput, async (context, input) => {
      const { id } = await getMilestone(context, context.subject, input.milestoneId)
      return pageOfIssues(context, context.actor, { ...milestoneContents(context.subject), milestoneId: id }, input)
    }),
)

export const { group: listGroupMilestoneBurndownEvents, project: listProjectMilestoneBurndownEvents } =
  onGroupsAndProjects({ noun: 'MilestoneBurndownEvent', permissions }, (on) =>
    on.list(milestoneInput, async (context, input) => {
      const milestone = await getMilestone(context, context.subject, input.milestoneId)
      if (milestone.startDate === undefined || milestone.dueDate === undefined) return []
      const { startDate, dueDate } = milestone
      const issues = await burndownIssues(context, context.actor, milestone)
      return burndownEvents({ startDate, dueDate }, issues, context.nowMs)
    }),
  )

/** Counts the issues that the actor may see, by milestone and state. */
export const countIssuesOfEachMilestone = unscopedBatchQuery(
  { name: 'countIssuesOfEachMilestone', input: z.object({}) },
  async (context, milestones: readonly Milestone[]): Promise<IssueCounts[]> => {
    const ids = milestones.map(({ id }) => id)
    const counts = await issueCountsByMilestone(context, context.actor, ids)
    return ids.map((id) => counts.get(id) ?? { opened: 0, closed: 0 })
  },
)

/** Returns the filter for a milestone's issues or merge requests: for a group, only those of its direct projects. */
export const milestoneContents = (subject: Subject) => ({
  within: subject.kind === 'group' ? { group: subject, withSubgroups: false } : { projectId: subject.id },
  orderBy: 'label_priority' as const,
})
