import {
  findMergeRequestOfEachProject,
  listMergeRequestsOfAll,
  listMergeRequestsOfEachGroup,
  listMergeRequestsOfEachProject,
  listMergeRequestsOfEachUser,
  type User,
} from '@penstock/core'
import type { InputFieldMap, InputShapeFromFields } from '@pothos/core'
import { loadBatched } from '../../request/request-context.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { lookup, withCost } from '../../schema/cost.ts'
import { orderIn } from '../../schema/enums.ts'
import type { Kit } from '../../schema/kit.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'
import { refusedArgument, refusedMember } from '../../schema/refused-arguments.ts'
import type { AnyFieldsOf, ArgumentsMaker } from '../../schema/schema-types.ts'
import { iidIn, issuableTypes } from '../issues/issuable-types.ts'
import { mergeRequestEnums } from './merge-request-types.ts'

/** Adds the fields that find and list merge requests. */
export function addMergeRequestLists(kit: Kit): void {
  const { builder } = kit
  const { filterArguments, searchArguments, sortArgument } = listArguments(kit)

  builder.objectField(kit.connections.of('MergeRequest'), 'totalTimeToMerge', (t) =>
    t.float({
      description: 'Seconds from creation to merge, summed over the filtered merge requests',
      resolve: async (connection) => {
        const ms = await connection.query('msToMerge', (listing) => listing.sums('msToMerge'))
        return ms / 1_000
      },
    }),
  )

  builder.objectFields('Project', (t) => ({
    mergeRequest: t.field({
      type: 'MergeRequest',
      ...withCost(lookup),
      args: { iid: t.arg.string({ required: true }) },
      resolve: (project, { iid }, context) =>
        loadBatched(context, findMergeRequestOfEachProject, project, { mergeRequestIid: iidIn(iid) }),
    }),
    mergeRequests: connectionField(kit, t, 'MergeRequest', {
      cost: lookup,
      args: { ...filterArguments(t), ...searchArguments(t), ...sortArgument(t) },
      list: (project, args, context) => loadBatched(context, listMergeRequestsOfEachProject, project, inputOf(args)),
    }),
  }))

  const includeArchived = (t: ArgumentsMaker) => ({
    includeArchived: t.arg.boolean({ defaultValue: false }),
  })
  builder.objectFields('Group', (t) => ({
    mergeRequests: connectionField(kit, t, 'MergeRequest', {
      cost: lookup,
      args: {
        ...filterArguments(t),
        ...searchArguments(t),
        includeSubgroups: t.arg.boolean({ defaultValue: false }),
        ...includeArchived(t),
        ...sortArgument(t),
      },
      list: (group, { includeSubgroups, includeArchived: withArchived, ...args }, context) => {
        const place = { withSubgroups: includeSubgroups === true, nonArchived: withArchived !== true }
        return loadBatched(context, listMergeRequestsOfEachGroup, group, { ...inputOf(args), ...place })
      },
    }),
  }))
  builder.queryFields((t) => ({
    mergeRequests: connectionField(kit, t, 'MergeRequest', {
      description: 'Has no text search',
      cost: lookup,
      args: { ...filterArguments(t), ...includeArchived(t), ...sortArgument(t) },
      list: (_root, { includeArchived: withArchived, ...args }, context) => {
        const input = { ...inputOf(args), nonArchived: withArchived !== true }
        return loadBatched(context, listMergeRequestsOfAll, 'everywhere', input)
      },
    }),
  }))

  const userMergeRequests = (t: AnyFieldsOf<User>, part: 'author' | 'assignee' | 'reviewer') =>
    connectionField(kit, t, 'MergeRequest', {
      cost: lookup,
      args: {
        iids: t.arg.stringList(),
        projectPath: t.arg.id(),
        state: t.arg({ type: mergeRequestEnums(kit).state }),
        search: t.arg.string(),
        ...sortArgument(t),
      },
      list: (user, { projectPath, ...args }, context) => {
        const input = { ...inputOf(args), ...omitNullish({ projectPath }), part }
        return loadBatched(context, listMergeRequestsOfEachUser, user, input)
      },
    })
  builder.interfaceFields('User', (t) => ({
    authoredMergeRequests: userMergeRequests(t, 'author'),
    assignedMergeRequests: userMergeRequests(t, 'assignee'),
    reviewRequestedMergeRequests: userMergeRequests(t, 'reviewer'),
  }))
}

function listArguments(kit: Kit) {
  const { builder } = kit
  const { assigneeWildcard, milestoneWildcard, searchableField, subscriptionStatus } = issuableTypes(kit)
  const { state, reviewerWildcard, reviewState, sort } = mergeRequestEnums(kit)

  const negated = builder.inputType('MergeRequestsResolverNegatedParams', {
    fields: (t) => ({
      assigneeUsernames: t.stringList(),
      authorUsername: t.string(),
      labelName: t.stringList(),
      labels: t.stringList(),
      milestoneTitle: t.string(),
      reviewerUsername: t.string(),
      approvedBy: t.stringList(),
      myReactionEmoji: t.string(),
      onlyReviewer: t.boolean(refusedMember),
      releaseTag: t.string(),
      reviewStates: t.field({ type: [reviewState] }),
      sourceBranches: t.stringList(),
      targetBranches: t.stringList(),
    }),
  })
  const unioned = builder.inputType('UnionedMergeRequestFilterInput', {
    fields: (t) => ({
      assigneeUsernames: t.stringList(),
      onlyReviewerUsername: t.string(),
      reviewStates: t.field({ type: [reviewState] }),
      reviewerWildcard: t.field({ type: reviewerWildcard }),
    }),
  })

  const filterArguments = (t: ArgumentsMaker) => ({
    iids: t.arg.stringList(),
    state: t.arg({ type: state }),
    draft: t.arg.boolean(),
    authorUsername: t.arg.string(),
    assigneeUsername: t.arg.string(),
    assigneeUsernames: t.arg.stringList(),
    assigneeWildcardId: t.arg({ type: assigneeWildcard }),
    reviewerUsername: t.arg.string(),
    reviewerWildcardId: t.arg({ type: reviewerWildcard }),
    reviewState: t.arg({
      type: reviewState,
      description: 'State of some reviewer: of `reviewerUsername`, if it is set',
    }),
    reviewStates: t.arg({ type: [reviewState] }),
    mergedBy: t.arg.string(),
    sourceBranches: t.arg.stringList(),
    targetBranches: t.arg.stringList(),
    labelName: t.arg({ type: ['String'], required: { list: false, items: false } }),
    labels: t.arg.stringList(),
    milestoneTitle: t.arg.string(),
    milestoneWildcardId: t.arg({ type: milestoneWildcard }),
    subscribed: t.arg({ type: subscriptionStatus }),
    createdAfter: t.arg({ type: 'Time' }),
    createdBefore: t.arg({ type: 'Time' }),
    updatedAfter: t.arg({ type: 'Time' }),
    updatedBefore: t.arg({ type: 'Time' }),
    mergedAfter: t.arg({ type: 'Time' }),
    mergedBefore: t.arg({ type: 'Time' }),
    closedAfter: t.arg({ type: 'Time' }),
    closedBefore: t.arg({ type: 'Time' }),
    not: t.arg({ type: negated }),
    or: t.arg({ type: unioned }),
    approvedBy: t.arg.stringList(),
    myReactionEmoji: t.arg.string(),
    releaseTag: t.arg.string({ description: 'Tag of a release to which the milestone belongs' }),
    deployedAfter: t.arg({ type: 'Time', ...refusedArgument('merge requests are not joined with deployments') }),
    deployedBefore: t.arg({ type: 'Time', ...refusedArgument('merge requests are not joined with deployments') }),
    environmentName: t.arg.string(refusedArgument('merge requests are not joined with deployments')),
  })
  const searchArguments = (t: ArgumentsMaker) => ({
    search: t.arg.string(),
    in: t.arg({ type: [searchableField] }),
  })
  const sortArgument = (t: ArgumentsMaker) => ({
    sort: t.arg({ type: sort, defaultValue: 'created_at desc' }),
  })
  return { filterArguments, searchArguments, sortArgument }
}

type Arguments<Of extends (t: never) => InputFieldMap> = Partial<InputShapeFromFields<ReturnType<Of>>>
type Lists = ReturnType<typeof listArguments>
type ListArguments = Arguments<Lists['filterArguments']> &
  Arguments<Lists['searchArguments']> &
  Arguments<Lists['sortArgument']>

/** Converts the list arguments to the input of the core. */
function inputOf({
  iids,
  approvedBy,
  assigneeWildcardId,
  reviewerWildcardId,
  mergedBy,
  labelName,
  labels,
  milestoneTitle,
  milestoneWildcardId,
  releaseTag,
  in: searched,
  not,
  or,
  sort,
  ...same
}: ListArguments) {
  return omitNullish({
    ...same,
    iids: iids?.map(iidIn),
    approvedByUsernames: approvedBy,
    assigneeId: assigneeWildcardId,
    reviewerId: reviewerWildcardId,
    mergedByUsername: mergedBy,
    labels: namesIn(labelName, labels),
    milestoneTitles: milestoneTitle == null ? undefined : [milestoneTitle],
    milestoneWildcard: milestoneWildcardId,
    releaseTags: releaseTag == null ? undefined : [releaseTag],
    in: searched?.length ? [...new Set(searched)] : undefined,
    not: not && negatedInput(not),
    or: or && omitNullish({ ...or, reviewerWildcard: undefined, reviewers: or.reviewerWildcard }),
    ...orderIn(sort),
  })
}

const negatedInput = ({
  approvedBy,
  authorUsername,
  milestoneTitle,
  labelName,
  labels,
  releaseTag,
  ...same
}: NonNullable<ListArguments['not']>) =>
  omitNullish({
    ...same,
    approvedByUsernames: approvedBy,
    authorUsernames: authorUsername == null ? undefined : [authorUsername],
    milestoneTitles: milestoneTitle == null ? undefined : [milestoneTitle],
    releaseTags: releaseTag == null ? undefined : [releaseTag],
    labels: namesIn(labelName, labels),
  })

type Names = readonly (string | null | undefined)[] | null | undefined

/** Combines two arguments for label names. Returns `undefined` if neither has any. */
function namesIn(...lists: readonly Names[]): string[] | undefined {
  const names = lists.flatMap((list) => list ?? []).filter((name) => name != null)
  return names.length === 0 ? undefined : names
}
