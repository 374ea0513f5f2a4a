import { groupMilestones, projectMilestones } from '@penstock/core'
import { fieldErrorText } from '../routing/field-error-text.ts'
import { parentRoutes } from '../routing/parent-routes.ts'
import type { Area } from '../routing/route.ts'
import { milestoneContentRoutes } from './milestone-contents.ts'
import { orderedList } from './parameters/lists.ts'
import { milestoneShape } from './shapes/milestone-shape.ts'

const groupMilestoneList = {
  noEffect: { ...orderedList.noEffect, include_descendents: 'a misspelling of `include_descendants` by client-go' },
}
const newMilestone = { noEffect: { state_event: 'a new milestone is active' } }

export const milestonesArea: Area = {
  tag: 'Milestones',
  routes: parentRoutes({
    noun: 'milestone',
    key: 'milestone_id',
    operations: { group: groupMilestones, project: projectMilestones },
    shape: milestoneShape,
    listedBy: 'by due date',
    parameters: { group: { list: groupMilestoneList }, project: { list: orderedList, create: newMilestone } },
    invalid: (action) => fieldErrorText(`Failed to ${action} milestone`),
    others: milestoneContentRoutes,
  }),
}
