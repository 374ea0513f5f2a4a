import { z } from 'zod'
import { can, canComment } from '../../base/access/can.ts'
import type { Permission } from '../../base/access/permission-table.ts'
import { standingsOf } from '../../base/access/subject.ts'
import { listedEach } from '../../base/kit/listing.ts'
import type { Group } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import { descriptionsOfEach } from '../../base/operations/description-store.ts'
import { batchQuery, unscopedBatchQuery, unscopedQuery } from '../../base/operations/operation.ts'
import { findProjects } from '../../identity/projects/project-store.ts'
import { labelListingOfItems } from './issuable-label-store.ts'
import { type Issue, issuesOfEachFilter, issuesOfEachInput } from './issue.ts'
import { type IssueCounts, issueCountsByProject, issueListing } from './issue-list-store.ts'
import { findIssuesById, issueTables } from './issue-store.ts'

/** Issues of archived projects are left out by default. */
const nonArchived = z.boolean().default(true)

export const listIssuesOfEachProject = batchQuery(
  { name: 'listIssuesOfEachProject', input: issuesOfEachInput, permission: 'read_issue' },
  async (context, projects: readonly Project[], filter) => {
    const filters = projects.map(({ id }) => ({ ...filter, within: { projectId: id } }))
    return listedEach(issueListing(context, context.actor, filters), projects.length)
  },
)

/** Lists the issues in the projects of each group. */
export const listIssuesOfEachGroup = batchQuery(
  {
    name: 'listIssuesOfEachGroup',
    input: issuesOfEachInput.extend({ nonArchived, withSubgroups: z.boolean().default(false) }),
    permission: 'read_group',
  },
  async (context, groups: readonly Group[], { withSubgroups, ...filter }) => {
    const filters = groups.map((group) => ({ ...filter, within: { group, withSubgroups } }))
    return listedEach(issueListing(context, context.actor, filters), groups.length)
  },
)

/** Lists the issues of all projects that the actor may see. The actor must be signed in, as with REST. */
export const listAllIssues = unscopedQuery(
  { name: 'listAllIssues', input: issuesOfEachInput.extend({ nonArchived }) },
  async (context, filter) => listedEach(issueListing(context, context.actor, [filter]), 1)[0]!,
)

export const countIssuesOfEachProject = batchQuery(
  { name: 'countIssuesOfEachProject', input: z.object(issuesOfEachFilter), permission: 'read_issue' },
  async (context, projects: readonly Project[], filter): Promise<IssueCounts[]> => {
    const ids = projects.map(({ id }) => id)
    const counts = await issueCountsByProject(context, context.actor, ids, filter)
    return ids.map((id) => counts.get(id) ?? { opened: 0, closed: 0 })
  },
)

/** Returns the issues with these ids, and `undefined` for each one that the actor may not see. */
export const findEachIssue = unscopedBatchQuery(
  { name: 'findEachIssue', input: z.object({}) },
  async (context, ids: readonly number[]) => {
    const found = await findIssuesById(context, context.actor, ids)
    return ids.map((id) => found.get(id))
  },
)

/** Lists the labels of each issue. Users who can see an issue can see its labels. */
export const listLabelsOfEachIssue = unscopedBatchQuery(
  { name: 'listLabelsOfEachIssue', input: z.object({}) },
  async (context, issues: readonly Issue[]) => {
    const ids = issues.map(({ id }) => id)
    return listedEach(labelListingOfItems(context, issueTables, ids), ids.length)
  },
)

export const descriptionsOfEachIssue = descriptionsOfEach<Issue>('descriptionsOfEachIssue', 'issues')

export interface IssuePermissions {
  /** The actor may change metadata: labels, assignees, dates. */
  readonly administers: boolean
  /** The actor may change title and description, and close and reopen the issue. */
  readonly updates: boolean
  readonly comments: boolean
}

export const permissionsOfEachIssue = unscopedBatchQuery(
  { name: 'permissionsOfEachIssue', input: z.object({}) },
  async (context, issues: readonly Issue[]): Promise<IssuePermissions[]> => {
    const { actor } = context
    const projects = await findProjects(
      context,
      issues.map(({ projectId }) => projectId),
    )
    const all = [...projects.values()]
    const standings = await standingsOf(context, actor, all)
    const standingOf = new Map(all.map(({ id }, index) => [id, standings[index]!]))
    return issues.map(({ projectId, author, isDiscussionLocked }) => {
      const standing = standingOf.get(projectId)
      const may = (permission: Permission) => standing !== undefined && can(standing, permission)
      const administers = may('update_issue')
      const isOwn = actor !== undefined && author?.id === actor.id
      return {
        administers,
        updates: administers || (isOwn && may('update_own_issue')),
        comments: standing !== undefined && canComment(standing, { isLocked: isDiscussionLocked === true }),
      }
    })
  },
)
