import { type BurndownEvent, groupMilestones, projectMilestones } from '@penstock/core'
import { z } from 'zod'
import { fieldErrorText } from '../routing/field-error-text.ts'
import { type Area, type RestRoute, route, type Shape } from '../routing/route.ts'
import { issueShape } from './issues.ts'
import { mergeRequestShape } from './merge-requests.ts'
import { milestoneShape } from './shapes/milestone-shape.ts'

const burndownEventShape: Shape<BurndownEvent> = {
  schema: z.object({
    created_at: z.string(),
    weight: z.int().nullable(),
    action: z.enum(['created', 'closed', 'reopened']),
  }),
  of: ({ atMs, weight, action }) => ({ created_at: new Date(atMs).toISOString(), weight: weight ?? null, action }),
}

export const milestonesArea: Area = {
  tag: 'Milestones',
  routes: [...routesOf('group', groupMilestones), ...routesOf('project', projectMilestones)],
}

function routesOf(parent: 'group' | 'project', operations: typeof groupMilestones): RestRoute[] {
  const all = `/${parent}s/:id/milestones`
  const one = `${all}/:milestone_id`
  const names = { parent: 'id' }
  return [
    route({
      method: 'GET',
      path: all,
      operation: operations.list,
      summary: `List the milestones of a ${parent}, by due date.`,
      names,
      shape: milestoneShape,
    }),
    route({
      method: 'GET',
      path: one,
      operation: operations.get,
      summary: `Get a milestone of a ${parent}.`,
      names,
      shape: milestoneShape,
    }),
    route({
      method: 'POST',
      path: all,
      operation: operations.create,
      summary: `Create a milestone in a ${parent}.`,
      names,
      shape: milestoneShape,
      invalid: fieldErrorText('Failed to create milestone'),
    }),
    route({
      method: 'PUT',
      path: one,
      operation: operations.update,
      summary: `Update a milestone of a ${parent}.`,
      names,
      shape: milestoneShape,
      invalid: fieldErrorText('Failed to update milestone'),
    }),
    route({
      method: 'DELETE',
      path: one,
      operation: operations.remove,
      summary: `Delete a milestone of a ${parent}.`,
      names,
    }),
    route({
      method: 'GET',
      path: `${one}/issues`,
      operation: operations.issues,
      summary: `List the issues of a milestone of a ${parent}, most urgent first.`,
      names,
      shape: issueShape,
    }),
    route({
      method: 'GET',
      path: `${one}/merge_requests`,
      operation: operations.mergeRequests,
      summary: `List the merge requests of a milestone of a ${parent}, most urgent first.`,
      names,
      shape: mergeRequestShape,
    }),
    route({
      method: 'GET',
      path: `${one}/burndown_events`,
      operation: operations.burndownEvents,
      summary: `List the burndown events of a milestone of a ${parent}: when its issues were created, closed and reopened.`,
      names,
      shape: burndownEventShape,
      isList: true,
    }),
  ]
}
