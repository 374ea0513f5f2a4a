import { type DescribedMilestone, isMilestoneExpired, type Milestone, milestoneStates } from '@penstock/core'
import { z } from 'zod'
import type { Shape } from '../../routing/route.ts'

/** A milestone, with its fields in the order of GitLab's API. */
export const milestoneShape: Shape<DescribedMilestone> = {
  schema: z.object({
    id: z.int(),
    iid: z.int(),
    group_id: z.int().optional(),
    project_id: z.int().optional(),
    title: z.string(),
    description: z.string().nullable(),
    state: z.enum(milestoneStates),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    due_date: z.iso.date().nullable(),
    start_date: z.iso.date().nullable(),
    expired: z.boolean(),
    web_url: z.string(),
  }),
  of: (milestone, { externalUrl, nowMs }) => ({
    id: milestone.id,
    iid: milestone.iid,
    ...(milestone.parent.kind === 'group' ? { group_id: milestone.parent.id } : { project_id: milestone.parent.id }),
    title: milestone.title,
    description: milestone.description ?? null,
    state: milestone.state,
    created_at: new Date(milestone.createdAtMs).toISOString(),
    updated_at: new Date(milestone.updatedAtMs).toISOString(),
    due_date: milestone.dueDate ?? null,
    start_date: milestone.startDate ?? null,
    expired: isMilestoneExpired(milestone, nowMs),
    web_url: `${externalUrl}/${pathOf(milestone)}`,
  }),
}

const pathOf = ({ iid, parent: { kind, fullPath } }: Milestone) =>
  `${kind === 'group' ? 'groups/' : ''}${fullPath}/-/milestones/${iid}`
