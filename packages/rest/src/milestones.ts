import { type BurndownEvent, groupMilestones, projectMilestones } from '@penstock/core'
import { z } from 'zod'
import { issueShape } from './issues.ts'
import { mergeRequestShape } from './merge-requests.ts'
import { milestoneShape } from './milestone-shape.ts'
import { fieldErrorText } from './field-error-text.ts'
import { type Area, type RestRoute, route, type Shape } from './route.ts'

const burndownEventShape: Shape<BurndownEvent> = {
  schema: z.object({
    created_at: z.string(),
    weight: z.int().nullable(),
    action: z.enum(['created', 'closed', 'reopened']),
  }),
  of: ({ atMs, weight, action }) => ({ created_at: new Date(atMs).toISOString(), weight: weight ?? null, action }),
}

/** @see spec/rest-part2-details.md 8 */
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
      summary: `The milestones of a ${parent}, the soonest due first`,
      names,
      shape: milestoneShape,
    }),
    route({
      method: 'GET',
      path: one,
      operation: operations.get,
      summary: `A milestone of a ${parent}`,
      names,
      shape: milestoneShape,
    }),
    route({
      method: 'POST',
      path: all,
      operation: operations.create,
      summary: `Adds a milestone to a ${parent}`,
      names,
      shape: milestoneShape,
      invalid: fieldErrorText('Failed to create milestone'),
    }),
    route({
      method: 'PUT',
      path: one,
      operation: operations.update,
      summary: `Changes a milestone of a ${parent}`,
      names,
      shape: milestoneShape,
      invalid: fieldErrorText('Failed to update milestone'),
    }),
    route({
      method: 'DELETE',
      path: one,
      operation: operations.remove,
      summary: `Removes a milestone of a ${parent}`,
      names,
    }),
    route({
      method: 'GET',
      path: `${one}/issues`,
      operation: operations.issues,
      summary: `The issues of a milestone of a ${parent}, the most urgent first`,
      names,
      shape: issueShape,
    }),
    route({
      method: 'GET',
      path: `${one}/merge_requests`,
      operation: operations.mergeRequests,
      summary: `The merge requests of a milestone of a ${parent}, the most urgent first`,
      names,
      shape: mergeRequestShape,
    }),
    route({
      method: 'GET',
      path: `${one}/burndown_events`,
      operation: operations.burndownEvents,
      summary: `When the issues of a milestone of a ${parent} were created, closed and reopened`,
      names,
      shape: burndownEventShape,
      isList: true,
    }),
  ]
}
