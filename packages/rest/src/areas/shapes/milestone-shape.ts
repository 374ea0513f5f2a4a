import { type DescribedMilestone, describedMilestoneFields, isMilestoneExpired, milestoneWebPath } from '@penstock/core'
import { z } from 'zod'
import { jsonShape, member, membersOf, pick } from '../../routing/json-shape.ts'

const plain = membersOf(describedMilestoneFields)
const parentId = (kind: 'group' | 'project') =>
  member(z.int().optional(), ({ parent }: DescribedMilestone) => (parent.kind === kind ? parent.id : undefined))

/** A milestone, with its fields in the order of GitLab's API. */
export const milestoneShape = jsonShape<DescribedMilestone>('Milestone', {
  ...pick(plain, 'id', 'iid'),
  groupId: parentId('group'),
  projectId: parentId('project'),
  ...pick(plain, 'title', 'description', 'state', 'createdAt', 'updatedAt', 'dueDate', 'startDate'),
  expired: member(z.boolean(), (milestone, { nowMs }) => isMilestoneExpired(milestone, nowMs)),
  webUrl: member(z.string(), (milestone, { externalUrl }) => `${externalUrl}/${milestoneWebPath(milestone)}`),
})
