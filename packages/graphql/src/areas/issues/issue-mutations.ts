import { createIssue, type Issue, setIssueAssignees, updateIssue } from '@penstock/core'
import { performIn, type RequestContext } from '../../request/request-context.ts'
import type { Kit } from '../../schema/kit.ts'
import { mutation, type PayloadSource } from '../../schema/mutation.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'
import type { FieldsOf, Types } from '../../schema/schema-types.ts'
import { iidIn, issuableTypes } from './issuable-types.ts'
import { issueEnums } from './issue-types.ts'

type InputFields = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>

export function addIssueMutations(kit: Kit): void {
  const { globalIds } = kit
  const { stateEvent, type } = issueEnums(kit)
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
    }),
    run: async ({ projectPath, type: issueType, locked, labelIds, ...draft }, context) => {
      const input = {
        project: projectPath,
        ...omitNullish({ issueType, labelIds }),
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
    }),
    run: ({ type: issueType, locked, title, stateEvent, milestoneId, ...input }, context) => {
      const labels = (ids: readonly string[] | null | undefined) =>
        ids?.map((id) => globalIds.numberInIdOrNumber(id, 'ProjectLabel', 'GroupLabel'))
      return update(
        {
          ...input,
          ...omitNullish({ title, issueType, stateEvent }),
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
