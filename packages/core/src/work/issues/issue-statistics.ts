import { z } from 'zod'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { query, unscopedQuery } from '../../base/operations/operation.ts'
import { getGroup } from '../../identity/groups/group-store.ts'
import { scopeOf } from './issuable.ts'
import { issueFilterOf, restIssueFilterInput } from './issue.ts'
import { inProject, subject } from './issue-changes.ts'
import { countIssues } from './issue-list-store.ts'

const { state: _state, orderBy: _orderBy, sort: _sort, withLabelsDetails: _details, ...filter } = restIssueFilterInput

/** Counts by state the issues of all projects, by default those that the actor created. */
export const countAllIssues = unscopedQuery(
  { name: 'countAllIssues', input: z.object(filter) },
  (context, { scope = 'created_by_me', ...input }) =>
    countIssues(context, context.actor, { ...issueFilterOf(input), ...scopeOf(scope, context.actor) }),
)

/** Counts by state the issues of the projects in a group and its subgroups. */
export const countGroupIssues = query(
  {
    name: 'countGroupIssues',
    caller: 'anyone',
    input: z.object({ group: namespaceRef, ...filter }),
    permission: 'read_group',
    subject: (context, { group }) => getGroup(context, group),
  },
  (context, { scope, ...input }) => {
    const within = { group: context.subject, withSubgroups: true }
    return countIssues(context, context.actor, { ...issueFilterOf(input), ...scopeOf(scope, context.actor), within })
  },
)

/** Counts by state the issues of a project. */
export const countProjectIssues = query(
  {
    name: 'countProjectIssues',
    caller: 'anyone',
    input: z.object({ ...inProject, ...filter }),
    permission: 'read_issue',
    subject,
  },
  (context, { scope, ...input }) => {
    const within = { projectId: context.subject.id, standing: context.standing }
    return countIssues(context, context.actor, { ...issueFilterOf(input), ...scopeOf(scope, context.actor), within })
  },
)
