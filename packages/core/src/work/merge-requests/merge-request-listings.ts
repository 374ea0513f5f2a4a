import { z } from 'zod'
import { can, canComment } from '../../base/access/can.ts'
import { levelsOfUsersIn } from '../../base/access/membership.ts'
import { standingsOf } from '../../base/access/subject.ts'
import { emptyListing, listedEach } from '../../base/kit/listing.ts'
import type { Group } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { descriptionsOfEach } from '../../base/operations/description-store.ts'
import { batchQuery, unscopedBatchQuery } from '../../base/operations/operation.ts'
import { canMergeInto, canPushTo, defaultBranchRulesByProject } from '../../code/repositories/branch-protection.ts'
import { findProject } from '../../identity/projects/project-store.ts'
import { labelListingOfItems } from '../issues/issuable-label-store.ts'
import { isApprovableBy, isAuthorOrAssignee, type MergeRequest } from './merge-request.ts'
import { mergeRequestsOfEachInput } from './merge-request-filter.ts'
import { findMergeRequestsById, mergeRequestListing } from './merge-request-list-store.ts'
import { projectsOf } from './merge-request-projects.ts'
import { mergeRequestTables } from './merge-request-store.ts'

/** Merge requests of archived projects are left out by default. */
const nonArchived = z.boolean().default(true)

export const listMergeRequestsOfEachProject = batchQuery(
  { name: 'listMergeRequestsOfEachProject', input: mergeRequestsOfEachInput, permission: 'read_merge_request' },
  async (context, projects: readonly Project[], filter) => {
    const filters = projects.map(({ id }) => ({ ...filter, within: { projectId: id } }))
    return listedEach(mergeRequestListing(context, context.actor, filters), projects.length)
  },
)

/** Returns the merge request with this iid in each project. */
export const findMergeRequestOfEachProject = batchQuery(
  {
    name: 'findMergeRequestOfEachProject',
    input: z.object({ mergeRequestIid: z.int() }),
    permission: 'read_merge_request',
  },
  async (context, projects: readonly Project[], { mergeRequestIid }) => {
    const filters = projects.map(({ id }) => ({ within: { projectId: id }, iids: [mergeRequestIid] }))
    const pages = await mergeRequestListing(context, context.actor, filters).pages({ first: 1 })
    return pages.map(({ items }) => items[0])
  },
)

/** Lists the merge requests in the projects of each group. */
export const listMergeRequestsOfEachGroup = batchQuery(
  {
    name: 'listMergeRequestsOfEachGroup',
    input: mergeRequestsOfEachInput.extend({ nonArchived, withSubgroups: z.boolean().default(false) }),
    permission: 'read_group',
  },
  async (context, groups: readonly Group[], { withSubgroups, ...filter }) => {
    const filters = groups.map((group) => ({ ...filter, within: { group, withSubgroups } }))
    return listedEach(mergeRequestListing(context, context.actor, filters), groups.length)
  },
)

/**
 * Lists the merge requests that each user authored, is assigned to or reviews, in all projects or in the one with this
 * full path.
 */
export const listMergeRequestsOfEachUser = unscopedBatchQuery(
  {
    name: 'listMergeRequestsOfEachUser',
    input: mergeRequestsOfEachInput.extend({
      part: z.enum(['author', 'assignee', 'reviewer']),
      projectPath: z.string().optional(),
    }),
  },
  async (context, users: readonly Pick<User, 'id'>[], { part, projectPath, ...filter }) => {
    const project = projectPath === undefined ? undefined : await findProject(context, projectPath)
    if (projectPath !== undefined && project === undefined)
      return listedEach(emptyListing<MergeRequest>(users.length), users.length)
    const place = project === undefined ? { nonArchived: true } : { within: { projectId: project.id } }
    const filters = users.map(({ id }) => ({ ...filter, ...place, [`${part}Id`]: id }))
    return listedEach(mergeRequestListing(context, context.actor, filters), users.length)
  },
)

/** Lists the merge requests of all projects that the actor may see. The actor must be signed in, as with REST. */
export const listMergeRequestsOfAll = unscopedBatchQuery(
  { name: 'listMergeRequestsOfAll', input: mergeRequestsOfEachInput.extend({ nonArchived }) },
  async (context, everywhere: readonly 'everywhere'[], filter) =>
    context.actor === undefined
      ? everywhere.map(() => undefined)
      : listedEach(
          mergeRequestListing(
            context,
            context.actor,
            everywhere.map(() => filter),
          ),
          everywhere.length,
        ),
)

/** Returns the merge requests with these ids, and `undefined` for each one that the actor may not see. */
export const findEachMergeRequest = unscopedBatchQuery(
  { name: 'findEachMergeRequest', input: z.object({}) },
  async (context, ids: readonly number[]) => {
    const found = await findMergeRequestsById(context, context.actor, ids)
    return ids.map((id) => found.get(id))
  },
)

/** Lists the labels of each merge request. Users who can see a merge request can see its labels. */
export const listLabelsOfEachMergeRequest = unscopedBatchQuery(
  { name: 'listLabelsOfEachMergeRequest', input: z.object({}) },
  async (context, mergeRequests: readonly MergeRequest[]) => {
    const ids = mergeRequests.map(({ id }) => id)
    return listedEach(labelListingOfItems(context, mergeRequestTables, ids), ids.length)
  },
)

export const descriptionsOfEachMergeRequest = descriptionsOfEach<MergeRequest>(
  'descriptionsOfEachMergeRequest',
  'merge_requests',
)

export interface MergeRequestPermissions {
  /** The actor may update any merge request of the project. */
  readonly administers: boolean
  /** The actor may update this merge request. */
  readonly updates: boolean
  /** The actor may push to the source branch. */
  readonly pushes: boolean
  /** The actor may merge into the target branch. */
  readonly merges: boolean
  readonly comments: boolean
  /** The actor may approve it now. */
  readonly approves: boolean
}

/** Returns what the actor may do with each merge request. */
export const permissionsOfEachMergeRequest = unscopedBatchQuery(
  { name: 'permissionsOfEachMergeRequest', input: z.object({}) },
  async (context, mergeRequests: readonly MergeRequest[]): Promise<(MergeRequestPermissions | undefined)[]> => {
    const projects = await projectsOf(context, mergeRequests)
    const standings = await standingsOf(context, context.actor, projects)
    const rulesOf = await defaultBranchRulesByProject(context, projects)
    return mergeRequests.map((mergeRequest) => {
      const index = projects.findIndex(({ id }) => id === mergeRequest.projectId)
      const [project, standing] = [projects[index], standings[index]]
      if (project === undefined || standing === undefined) return undefined
      const rules = rulesOf.get(project.id)!
      const isDefault = (branch: string) => branch === project.defaultBranch
      const administers = can(standing, 'update_merge_request')
      const isOwn = isAuthorOrAssignee(mergeRequest, context.actor?.id)
      return {
        administers,
        updates: administers || (isOwn && can(standing, 'update_own_merge_request')),
        pushes: canPushTo(standing, rules, { isDefault: isDefault(mergeRequest.sourceBranch) }),
        merges: canMergeInto(standing, rules, { isDefault: isDefault(mergeRequest.targetBranch) }),
        approves: can(standing, 'approve_merge_request') && isApprovableBy(mergeRequest, context.actor),
        comments: canComment(standing, { isLocked: mergeRequest.isDiscussionLocked === true }),
      }
    })
  },
)

/** A user, and a merge request that they author, review or are assigned to. */
export interface MergeRequestParticipant extends Pick<User, 'id' | 'isAdministrator'> {
  readonly mergeRequest: MergeRequest
}

/** The rights of a participant on the merge request. */
export interface ParticipantRights {
  readonly updates: boolean
  readonly merges: boolean
}

export const rightsOfMergeRequestParticipants = unscopedBatchQuery(
  { name: 'rightsOfMergeRequestParticipants', input: z.object({}) },
  async (context, people: readonly MergeRequestParticipant[]): Promise<ParticipantRights[]> => {
    const projects = await projectsOf(
      context,
      people.map(({ mergeRequest }) => mergeRequest),
    )
    const levelOf = await levelsOfUsersIn(
      context,
      people.map(({ id }) => id),
      projects,
    )
    const rulesOf = await defaultBranchRulesByProject(context, projects)
    return people.map(({ id, isAdministrator, mergeRequest }) => {
      const project = projects.find((one) => one.id === mergeRequest.projectId)
      if (project === undefined) return { updates: false, merges: false }
      const { visibility, isArchived, features } = project
      const level = levelOf(id, project)
      const standing = { level, visibility, isArchived, features, isSignedIn: true, isAdministrator }
      const isOwn = isAuthorOrAssignee(mergeRequest, id)
      return {
        updates: can(standing, 'update_merge_request') || (isOwn && can(standing, 'update_own_merge_request')),
        merges:
          can(standing, 'read_merge_request') &&
          canMergeInto(standing, rulesOf.get(project.id)!, {
            isDefault: mergeRequest.targetBranch === project.defaultBranch,
          }),
      }
    })
  },
)
