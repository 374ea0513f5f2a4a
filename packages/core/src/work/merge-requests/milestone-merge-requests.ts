import { onGroupsAndProjects } from '../../identity/parents/parent-operations.ts'
import { milestoneContents } from '../issues/milestone-issues.ts'
import { pageOfMilestoneInput } from '../milestones/milestone.ts'
import { getMilestone } from '../milestones/milestone-store.ts'
import { pageOfMergeRequests } from './merge-request-list-store.ts'

/** Lists the merge requests of a milestone, most urgent first. */
export const { group: listGroupMilestoneMergeRequests, project: listProjectMilestoneMergeRequests } =
  onGroupsAndProjects(
    { noun: 'MilestoneMergeRequest', permissions: () => ({ read: 'read_milestone', write: 'admin_milestone' }) },
    (on) =>
      on.list(pageOfMilestoneInput, async (context, input) => {
        const { id } = await getMilestone(context, context.subject, input.milestoneId)
        const filter = { ...milestoneContents(context.subject), milestoneId: id }
        return pageOfMergeRequests(context, context.actor, filter, input)
      }),
  )
