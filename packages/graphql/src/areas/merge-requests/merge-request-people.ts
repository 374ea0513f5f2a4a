import {
  findEachMergeRequest,
  type Listed,
  type MergeRequest,
  rightsOfMergeRequestParticipants,
  type User,
} from '@penstock/core'
import { loadBatched } from '../../request/request-context.ts'
import { connectionField } from '../../schema/connection-field.ts'
import type { Kit } from '../../schema/kit.ts'
import { listed } from '../../schema/listed.ts'
import type { PersonOfMergeRequest } from '../../schema/sources.ts'
import { distinctUsers } from '../users/distinct-users.ts'
import { mergeRequestEnums } from './merge-request-types.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    UserMergeRequestInteraction: PersonOfMergeRequest
  }
}

const approvalOf = ({ id, mergeRequest }: PersonOfMergeRequest) =>
  mergeRequest.approvals.find(({ user }) => user.id === id)
const reviewerIn = ({ id, mergeRequest }: PersonOfMergeRequest) =>
  mergeRequest.reviewers.find((reviewer) => reviewer.id === id)

function listedPeople(mergeRequest: MergeRequest, people: readonly User[]): Listed<PersonOfMergeRequest> {
  return listed(people.map((user) => ({ ...user, mergeRequest })))
}

/** Adds the author, assignees, reviewers and participants of merge requests. */
export function addPeopleOfMergeRequests(kit: Kit): void {
  const { builder, connections } = kit
  for (const node of ['MergeRequestAssignee', 'MergeRequestReviewer', 'MergeRequestParticipant'] as const) {
    connections.count(node, 'exact')
  }
  const { reviewState } = mergeRequestEnums(kit)

  builder.objectFields('MergeRequest', (t) => ({
    author: t.field({
      type: 'MergeRequestAuthor',
      resolve: (source) => source.author && { ...source.author, mergeRequest: source },
    }),
    assignees: connectionField(kit, t, 'MergeRequestAssignee', {
      list: async (source) => listedPeople(source, source.assignees),
    }),
    reviewers: connectionField(kit, t, 'MergeRequestReviewer', {
      list: async (source) => listedPeople(source, source.reviewers),
    }),
    participants: connectionField(kit, t, 'MergeRequestParticipant', {
      list: async (source) => {
        const { author, assignees, reviewers } = source
        return listedPeople(source, distinctUsers(author, ...assignees, ...reviewers))
      },
    }),
    approvedBy: connectionField(kit, t, 'UserCore', {
      list: async ({ approvals }) => listed(approvals.map(({ user }) => user)),
    }),
  }))

  builder.objectType('UserMergeRequestInteraction', {
    description: 'What a user did and may do on one merge request',
    fields: (t) => ({
      approved: t.boolean({ nullable: false, resolve: (person) => approvalOf(person) !== undefined }),
      approvedAt: t.field({ type: 'Time', resolve: (person) => approvalOf(person)?.approvedAtMs }),
      canMerge: t.boolean({
        nullable: false,
        resolve: async (person, _args, context) =>
          (await loadBatched(context, rightsOfMergeRequestParticipants, person)).merges,
      }),
      canUpdate: t.boolean({
        nullable: false,
        resolve: async (person, _args, context) =>
          (await loadBatched(context, rightsOfMergeRequestParticipants, person)).updates,
      }),
      reviewState: t.field({
        type: reviewState,
        description: 'Null if the user is not a reviewer',
        resolve: (person) => reviewerIn(person)?.reviewState,
      }),
      reviewed: t.boolean({
        nullable: false,
        description: 'True for every state after the review has started',
        resolve: (person) =>
          !['unreviewed', 'review_started'].includes(reviewerIn(person)?.reviewState ?? 'unreviewed'),
      }),
      updatedAt: t.field({
        type: 'Time',
        description: 'The last change of the review state',
        resolve: (person) => reviewerIn(person)?.reviewedAtMs,
      }),
    }),
  })

  const people = [
    'MergeRequestAuthor',
    'MergeRequestAssignee',
    'MergeRequestReviewer',
    'MergeRequestParticipant',
  ] as const
  for (const name of people) {
    builder.objectField(name, 'mergeRequestInteraction', (t) =>
      t.field({ type: 'UserMergeRequestInteraction', resolve: (person) => person }),
    )
  }

  builder.interfaceField('MemberInterface', 'mergeRequestInteraction', (t) =>
    t.field({
      type: 'UserMergeRequestInteraction',
      args: { id: t.arg({ type: 'MergeRequestID', required: true }) },
      resolve: async ({ user }, { id }, context) => {
        const mergeRequest = await loadBatched(context, findEachMergeRequest, id)
        return mergeRequest && { ...user, mergeRequest }
      },
    }),
  )
}
