import { createIssue, type Issue, issueTracking, moveIssue, setIssueAssignees, updateIssue } from '@penstock/core'
import { performIn, type RequestContext } from '../../request/request-context.ts'
import type { Kit } from '../../schema/kit.ts'
import { mutation, type PayloadSource } from '../../schema/mutation.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'
import { refusedMember } from '../../schema/refused-arguments.ts'
import type { FieldsOf, Types } from '../../schema/schema-types.ts'
import { iidIn, issuableTypes } from './issuable-types.ts'
import { issueEnums } from './issue-types.ts'

type InputFields = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>

export function addIssueMutations(kit: Kit): void {
  const { globalIds } = kit
  const { severity, stateEvent, type } = issueEnums(kit)
  const { operationMode } = issuableTypes(kit)

  const one = (t: InputFields) => ({
    projectPath: t.id({ required: true }),
    iid: t.string({ required: true }),
  })
  const payload = (t: FieldsOf<PayloadSource<{ issue: Issue }>>) => ({
    issue: t.field({ type: 'Issue', resolve: ({ issue }) => issue }),
  })
  const update = async ({ projectPath, iid, ...changes }: Changes, context: RequestContext) => {
    const input = { project: projectPath, issueIid: iidIn(iid), ...changes, captcha: context.captcha }
    return { issue: await performIn(context, updateIssue, input) }
  }

  mutation(kit, 'createIssue', {
    input: (t) => ({
      projectPath: t.id({ required: true }),
      title: t.string({ required: true }),
      description: t.string(),
      type: t.field({ type }),
      confidential: t.boolean(),
      locked: t.boolean(),
      dueDate: t.field({ type: 'ISO8601Date' }),
      labels: t.stringList({ description: 'Label titles; cannot be combined with `labelIds`' }),
      labelIds: t.field({ type: ['LabelID'] }),
      milestoneId: t.field({ type: 'MilestoneID' }),
      assigneeIds: t.field({ type: ['UserID'] }),
      iid: t.int({ description: 'For owners and administrators' }),
      createdAt: t.field({ type: 'Time', description: 'For owners and administrators' }),
      mergeRequestToResolveDiscussionsOf: t.field({ type: 'MergeRequestID', ...refusedMember }),
      discussionToResolve: t.string(refusedMember),
      moveBeforeId: t.field({ type: 'IssueID', ...refusedMember }),
      moveAfterId: t.field({ type: 'IssueID', ...refusedMember }),
    }),
    run: async ({ projectPath, type: issueType, locked, labelIds, iid, createdAt, ...draft }, context) => {
      const input = {
        project: projectPath,
        ...omitNullish({ issueType, labelIds, iid, createdAt }),
        discussionLocked: locked,
        ...draft,
        captcha: context.captcha,
      }
      return { issue: await performIn(context, createIssue, input) }
    },
    payload,
  })
  mutation(kit, 'updateIssue', {
    input: (t) => ({
      ...one(t),
      title: t.string(),
      description: t.string(),
      type: t.field({ type }),
      confidential: t.boolean(),
      locked: t.boolean(),
      dueDate: t.field({ type: 'ISO8601Date' }),
      stateEvent: t.field({ type: stateEvent }),
      labelIds: t.idList({ description: 'Cannot be combined with `addLabelIds` or `removeLabelIds`' }),
      addLabelIds: t.idList(),
      removeLabelIds: t.idList(),
      milestoneId: t.id(),
      timeEstimate: t.string({ description: 'Such as `3h 30m`; `0` removes the estimate' }),
    }),
    run: ({ type: issueType, locked, title, stateEvent, milestoneId, timeEstimate, ...input }, context) => {
      const labels = (ids: readonly string[] | null | undefined) =>
        ids?.map((id) => globalIds.numberInIdOrNumber(id, 'ProjectLabel', 'GroupLabel'))
      return update(
        {
          ...input,
          ...omitNullish({ title, issueType, stateEvent, timeEstimate }),
          discussionLocked: locked,
          labelIds: labels(input.labelIds),
          addLabelIds: labels(input.addLabelIds),
          removeLabelIds: labels(input.removeLabelIds),
          milestoneId: milestoneId == null ? milestoneId : globalIds.numberInIdOrNumber(milestoneId, 'Milestone'),
        },
        context,
      )
    },
    payload,
  })
  mutation(kit, 'issueSetAssignees', {
    input: (t) => ({
      ...one(t),
      assigneeUsernames: t.stringList({ required: true }),
      operationMode: t.field({ type: operationMode, defaultValue: 'replace' }),
    }),
    run: async ({ projectPath, iid, assigneeUsernames, operationMode: mode }, context) => {
      const input = {
        project: projectPath,
        issueIid: iidIn(iid),
        usernames: assigneeUsernames,
        ...omitNullish({ mode }),
      }
      return { issue: await performIn(context, setIssueAssignees, input) }
    },
    payload,
  })
  mutation(kit, 'issueSetConfidential', {
    input: (t) => ({ ...one(t), confidential: t.boolean({ required: true }) }),
    run: update,
    payload,
  })
  mutation(kit, 'issueSetDueDate', {
    input: (t) => ({ ...one(t), dueDate: t.field({ type: 'Time' }) }),
    run: ({ dueDate, ...input }, context) =>
      update({ ...input, dueDate: dueDate?.slice(0, 'YYYY-MM-DD'.length) ?? dueDate }, context),
    payload,
  })
  mutation(kit, 'issueSetSeverity', {
    description: 'Sets the severity of an incident',
    input: (t) => ({ ...one(t), severity: t.field({ type: severity, required: true }) }),
    run: update,
    payload,
  })
  mutation(kit, 'issueSetSubscription', {
    input: (t) => ({ ...one(t), subscribedState: t.boolean({ required: true }) }),
    run: async ({ projectPath, iid, subscribedState }, context) => {
      const operation = subscribedState ? issueTracking.subscribe : issueTracking.unsubscribe
      return { issue: await performIn(context, operation, { project: projectPath, issueIid: iidIn(iid) }) }
    },
    payload,
  })
  mutation(kit, 'issueMove', {
    input: (t) => ({ ...one(t), targetProjectPath: t.id({ required: true }) }),
    run: async ({ projectPath, iid, targetProjectPath: toProject }, context) => ({
      issue: await performIn(context, moveIssue, { project: projectPath, issueIid: iidIn(iid), toProject }),
    }),
    payload,
  })
  mutation(kit, 'issueSetLocked', {
    input: (t) => ({ ...one(t), locked: t.boolean({ required: true }) }),
    run: ({ locked, ...input }, context) => update({ ...input, discussionLocked: locked }, context),
    payload,
  })
}

interface Changes {
  readonly projectPath: string
  readonly iid: string
  readonly [change: string]: unknown
}
