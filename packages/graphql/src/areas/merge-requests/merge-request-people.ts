import {
  findEachMergeRequest,
  type Listed,
  type MergeRequest,
  type User,
  updatersOfMergeRequests,
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
      list: async () => listed<User>([]),
    }),
  }))

  builder.objectType('UserMergeRequestInteraction', {
    description: 'What a user did and may do on one merge request',
    fields: (t) => ({
      // This service cannot review, approve or merge merge requests yet.
      approved: t.boolean({ nullable: false, resolve: () => false }),
      approvedAt: t.field({ type: 'Time', resolve: () => null }),
      canMerge: t.boolean({ nullable: false, resolve: () => false }),
      canUpdate: t.boolean({
        nullable: false,
        resolve: (person, _args, context) => loadBatched(context, updatersOfMergeRequests, person),
      }),
      reviewState: t.field({
        type: reviewState,
        description: 'Null if the user is not a reviewer',
        resolve: ({ id, mergeRequest }) =>
          mergeRequest.reviewers.some((reviewer) => reviewer.id === id) ? 'UNREVIEWED' : null,
      }),
      reviewed: t.boolean({ nullable: false, resolve: () => false }),
      updatedAt: t.field({ type: 'Time', resolve: () => null }),
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
