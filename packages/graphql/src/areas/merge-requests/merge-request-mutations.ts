import {
  createMergeRequest,
  type MergeRequest,
  mergeMergeRequest,
  mergeRequestTracking,
  requestChanges,
  requestReviewAgain,
  setMergeRequestDraft,
  setMergeRequestLabels,
  setMergeRequestPeople,
  updateMergeRequest,
} from '@penstock/core'
import { performIn } from '../../request/request-context.ts'
import type { Kit } from '../../schema/kit.ts'
import { mutation } from '../../schema/mutation.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'
import { refusedMember } from '../../schema/refused-arguments.ts'
import type { FieldsOf, Types } from '../../schema/schema-types.ts'
import { iidIn, issuableTypes } from '../issues/issuable-types.ts'
import { mergeRequestEnums } from './merge-request-types.ts'

export function addMergeRequestMutations(kit: Kit): void {
  const { newState } = mergeRequestEnums(kit)
  const { operationMode } = issuableTypes(kit)

  mutation(kit, 'mergeRequestCreate', {
    input: (t) => ({
      projectPath: t.id({ required: true }),
      title: t.string({ required: true }),
      sourceBranch: t.string({ required: true }),
      targetBranch: t.string({ required: true }),
      description: t.string(),
      labels: t.stringList(),
      removeSourceBranch: t.boolean(),
      mergeAfter: t.field({ type: 'Time', ...refusedMember }),
    }),
    run: async ({ projectPath: project, ...draft }, context) => ({
      mergeRequest: await performIn(context, createMergeRequest, { project, ...draft }),
    }),
    payload,
  })

  mutation(kit, 'mergeRequestUpdate', {
    input: (t) => ({
      ...oneOf(t),
      title: t.string(),
      description: t.string(),
      targetBranch: t.string(),
      state: t.field({ type: newState }),
      removeSourceBranch: t.boolean(),
      timeEstimate: t.string({ description: 'Such as `3h 30m`; `0` removes the estimate' }),
      mergeAfter: t.field({ type: 'Time', ...refusedMember }),
      overrideRequestedChanges: t.boolean(refusedMember),
    }),
    run: async ({ projectPath, iid, title, targetBranch, state, timeEstimate, ...clearable }, context) => {
      // A null leaves these unchanged, because they cannot be empty.
      const changes = omitNullish({ title, targetBranch, timeEstimate, stateEvent: state })
      const input = { ...refOf({ projectPath, iid }), ...changes, ...clearable }
      return { mergeRequest: await performIn(context, updateMergeRequest, input) }
    },
    payload,
  })

  const mode = { type: operationMode, defaultValue: 'replace' } as const
  mutation(kit, 'mergeRequestSetAssignees', {
    input: (t) => ({
      ...oneOf(t),
      assigneeUsernames: t.stringList({ required: true }),
      operationMode: t.field(mode),
    }),
    run: async ({ assigneeUsernames: usernames, operationMode: how, ...ref }, context) => {
      const input = { ...refOf(ref), part: 'assignees', usernames, ...omitNullish({ mode: how }) }
      return { mergeRequest: await performIn(context, setMergeRequestPeople, input) }
    },
    payload,
  })

  mutation(kit, 'mergeRequestSetReviewers', {
    input: (t) => ({
      ...oneOf(t),
      reviewerUsernames: t.stringList({ required: true }),
      operationMode: t.field(mode),
    }),
    run: async ({ reviewerUsernames: usernames, operationMode: how, ...ref }, context) => {
      const input = { ...refOf(ref), part: 'reviewers', usernames, ...omitNullish({ mode: how }) }
      return { mergeRequest: await performIn(context, setMergeRequestPeople, input) }
    },
    payload,
  })

  mutation(kit, 'mergeRequestReviewerRereview', {
    description: 'Asks a reviewer for another review',
    input: (t) => ({ ...oneOf(t), userId: t.field({ type: 'UserID', required: true }) }),
    run: async ({ userId, ...ref }, context) => ({
      mergeRequest: await performIn(context, requestReviewAgain, { ...refOf(ref), userId }),
    }),
    payload,
  })

  mutation(kit, 'mergeRequestRequestChanges', {
    description: 'Requests changes, as a reviewer',
    input: (t) => oneOf(t),
    run: async (ref, context) => ({ mergeRequest: await performIn(context, requestChanges, refOf(ref)) }),
    payload,
  })

  mutation(kit, 'mergeRequestSetDraft', {
    input: (t) => ({ ...oneOf(t), draft: t.boolean({ required: true }) }),
    run: async ({ draft, ...ref }, context) => ({
      mergeRequest: await performIn(context, setMergeRequestDraft, { ...refOf(ref), draft }),
    }),
    payload,
  })

  mutation(kit, 'mergeRequestSetLabels', {
    input: (t) => ({
      ...oneOf(t),
      labelIds: t.field({ type: ['LabelID'], required: true }),
      operationMode: t.field({ type: operationMode, description: 'Default: REPLACE' }),
    }),
    run: async ({ labelIds, operationMode: how, ...ref }, context) => {
      const input = { ...refOf(ref), labelIds, ...omitNullish({ mode: how }) }
      return { mergeRequest: await performIn(context, setMergeRequestLabels, input) }
    },
    payload,
  })

  mutation(kit, 'mergeRequestSetSubscription', {
    input: (t) => ({ ...oneOf(t), subscribedState: t.boolean({ required: true }) }),
    run: async ({ subscribedState, ...ref }, context) => {
      const operation = subscribedState ? mergeRequestTracking.subscribe : mergeRequestTracking.unsubscribe
      return { mergeRequest: await performIn(context, operation, refOf(ref)) }
    },
    payload,
  })

  const strategy = kit.builder.enumType('MergeStrategyEnum', {
    values: ['MERGE_WHEN_CHECKS_PASS', 'MERGE_TRAIN', 'ADD_TO_MERGE_TRAIN_WHEN_CHECKS_PASS'] as const,
  })
  mutation(kit, 'mergeRequestAccept', {
    description: 'Merges a merge request, at once or when its pipeline succeeds',
    input: (t) => ({
      ...oneOf(t),
      sha: t.string({ required: true, description: 'Head of the source branch that the caller has seen' }),
      strategy: t.field({ type: strategy, description: 'MERGE_WHEN_CHECKS_PASS waits for a running pipeline' }),
      commitMessage: t.string(),
      squash: t.boolean({ defaultValue: false }),
      squashCommitMessage: t.string(),
      shouldRemoveSourceBranch: t.boolean(),
    }),
    run: async ({ commitMessage: mergeCommitMessage, projectPath, iid, strategy: how, ...input }, context) => {
      if (how != null && how !== 'MERGE_WHEN_CHECKS_PASS') {
        return { mergeRequest: undefined, errors: [`The strategy ${how} is not supported`] }
      }
      const accepted = { ...refOf({ projectPath, iid }), mergeCommitMessage, autoMerge: how != null, ...input }
      return { mergeRequest: await performIn(context, mergeMergeRequest, accepted) }
    },
    payload,
  })

  mutation(kit, 'mergeRequestSetLocked', {
    input: (t) => ({ ...oneOf(t), locked: t.boolean({ required: true }) }),
    run: async ({ locked: discussionLocked, ...ref }, context) => ({
      mergeRequest: await performIn(context, updateMergeRequest, { ...refOf(ref), discussionLocked }),
    }),
    payload,
  })

  mutation(kit, 'mergeRequestSetMilestone', {
    input: (t) => ({
      ...oneOf(t),
      milestoneId: t.field({ type: 'MilestoneID', description: 'If absent, the milestone is removed' }),
    }),
    run: async ({ milestoneId = null, ...ref }, context) => ({
      mergeRequest: await performIn(context, updateMergeRequest, { ...refOf(ref), milestoneId }),
    }),
    payload,
  })
}

const oneOf = (t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>) => ({
  projectPath: t.id({ required: true }),
  iid: t.string({ required: true }),
})

const refOf = ({ projectPath, iid }: { readonly projectPath: string; readonly iid: string }) => ({
  project: projectPath,
  mergeRequestIid: iidIn(iid),
})

const payload = (t: FieldsOf<{ readonly mergeRequest?: MergeRequest | undefined }>) => ({
  mergeRequest: t.field({ type: 'MergeRequest', resolve: ({ mergeRequest }) => mergeRequest }),
})
