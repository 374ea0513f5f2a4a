import type { DescribedMilestone, ProjectFacts } from '@penstock/core'
import { hookTime, type Json, projectJson } from './shared-objects.ts'

export interface MilestoneFacts {
  readonly facts: ProjectFacts
  readonly milestone: DescribedMilestone
  readonly action: 'create' | 'close' | 'reopen' | 'delete'
}

export const milestonePayload = ({ facts, milestone, action }: MilestoneFacts, externalUrl: string): Json => ({
  object_kind: 'milestone',
  event_type: 'milestone',
  project: projectJson(facts, externalUrl),
  object_attributes: {
    id: milestone.id,
    iid: milestone.iid,
    title: milestone.title,
    description: milestone.description ?? null,
    state: milestone.state,
    created_at: hookTime(milestone.createdAtMs),
    updated_at: hookTime(milestone.updatedAtMs),
    due_date: milestone.dueDate ?? null,
    start_date: milestone.startDate ?? null,
    group_id: null,
    project_id: facts.project.id,
  },
  action,
})
