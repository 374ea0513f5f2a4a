import { countAllIssues, countGroupIssues, countProjectIssues } from '@penstock/core'
import { z } from 'zod'
import { type RestRoute, route, type Shape } from '../routing/route.ts'
import { issueStatistics as parameters } from './parameters/issues.ts'

interface Counts {
  readonly opened: number
  readonly closed: number
}

const shape: Shape<Counts> = {
  schema: z
    .object({ statistics: z.object({ counts: z.object({ all: z.int(), closed: z.int(), opened: z.int() }) }) })
    .meta({ id: 'IssueStatistics' }),
  of: ({ opened, closed }) => ({ statistics: { counts: { all: opened + closed, closed, opened } } }),
}

export const issueStatisticsRoutes: readonly RestRoute[] = [
  route({
    method: 'GET',
    path: '/issues_statistics',
    operation: countAllIssues,
    parameters,
    shape,
    summary: 'Count the issues of all projects, by default those that the caller created.',
  }),
  route({
    method: 'GET',
    path: '/groups/:id/issues_statistics',
    operation: countGroupIssues,
    names: { group: 'id' },
    parameters,
    shape,
    summary: 'Count the issues of the projects in a group and its subgroups.',
  }),
  route({
    method: 'GET',
    path: '/projects/:id/issues_statistics',
    operation: countProjectIssues,
    names: { project: 'id' },
    parameters,
    shape,
    summary: 'Count the issues of a project.',
  }),
]
