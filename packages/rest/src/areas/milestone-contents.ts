import {
  type BurndownEvent,
  listGroupMilestoneBurndownEvents,
  listGroupMilestoneIssues,
  listGroupMilestoneMergeRequests,
  listProjectMilestoneBurndownEvents,
  listProjectMilestoneIssues,
  listProjectMilestoneMergeRequests,
} from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../routing/iso-time.ts'
import { jsonShape, member } from '../routing/json-shape.ts'
import { parentNames as names, type ParentKind } from '../routing/parent-routes.ts'
import { route } from '../routing/route.ts'
import { orderedList, wholeList } from './parameters/lists.ts'
import { issueShape } from './shapes/issue-shape.ts'
import { mergeRequestShape } from './shapes/merge-request-shape.ts'

const burndownEventShape = jsonShape<BurndownEvent>('BurndownEvent', {
  createdAt: member(z.string(), ({ atMs }) => isoTime(atMs)),
  weight: member(z.int().nullable(), ({ weight }) => weight ?? null),
  action: member(z.enum(['created', 'closed', 'reopened']), ({ action }) => action),
})

const operations = {
  group: {
    issues: listGroupMilestoneIssues,
    mergeRequests: listGroupMilestoneMergeRequests,
    burndownEvents: listGroupMilestoneBurndownEvents,
  },
  project: {
    issues: listProjectMilestoneIssues,
    mergeRequests: listProjectMilestoneMergeRequests,
    burndownEvents: listProjectMilestoneBurndownEvents,
  },
}

/** Returns the routes for what belongs to a milestone: issues, merge requests and burndown events. */
export function milestoneContentRoutes(kind: ParentKind, { one }: { readonly one: string }) {
  const { issues, mergeRequests, burndownEvents } = operations[kind]
  return [
    route({
      method: 'GET',
      path: `${one}/issues`,
      operation: issues,
      parameters: orderedList,
      summary: `List the issues of a milestone of a ${kind}, most urgent first.`,
      names,
      shape: issueShape,
    }),
    route({
      method: 'GET',
      path: `${one}/merge_requests`,
      operation: mergeRequests,
      parameters: orderedList,
      summary: `List the merge requests of a milestone of a ${kind}, most urgent first.`,
      names,
      shape: mergeRequestShape,
    }),
    route({
      method: 'GET',
      path: `${one}/burndown_events`,
      operation: burndownEvents,
      parameters: wholeList,
      summary: `List the burndown events of a milestone of a ${kind}: when its issues were created, closed and reopened.`,
      names,
      shape: burndownEventShape,
      isList: true,
    }),
  ]
}
