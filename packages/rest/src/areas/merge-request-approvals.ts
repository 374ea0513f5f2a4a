import {
  approvalsLeft,
  approveMergeRequest,
  getApprovals,
  isApproved,
  mergeStatus,
  mergeStatuses,
  resetApprovals,
  type ShownApprovals,
  unapproveMergeRequest,
} from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../routing/iso-time.ts'
import { jsonShape, member } from '../routing/json-shape.ts'
import { type Area, route } from '../routing/route.ts'
import { approve } from './parameters/issues.ts'
import { basicUserShape } from './shapes/basic-user.ts'
import { mergeRequestShape } from './shapes/merge-request-shape.ts'

const people = z.array(basicUserShape.schema)
const none = z.array(z.never())

/** Returns a member that an object has in common with its merge request. */
const ofMergeRequest = (schema: z.ZodType, name: keyof ReturnType<typeof mergeRequestShape.of>) =>
  member<ShownApprovals>(schema, ({ mergeRequest }, context) => mergeRequestShape.of(mergeRequest, context)[name])

/** The approvals of a merge request. The members about approvers are empty, because there are no rules that name approvers. */
const approvalsShape = jsonShape<ShownApprovals>('MergeRequestApprovals', {
  id: ofMergeRequest(z.int(), 'id'),
  iid: ofMergeRequest(z.int(), 'iid'),
  projectId: ofMergeRequest(z.int(), 'project_id'),
  title: ofMergeRequest(z.string(), 'title'),
  description: ofMergeRequest(z.string().nullable(), 'description'),
  state: ofMergeRequest(z.string(), 'state'),
  createdAt: ofMergeRequest(z.iso.datetime(), 'created_at'),
  updatedAt: ofMergeRequest(z.iso.datetime(), 'updated_at'),
  mergeStatus: member(z.enum(mergeStatuses), ({ mergeRequest }) => mergeStatus(mergeRequest)),
  approved: member(z.boolean(), ({ mergeRequest }) => isApproved(mergeRequest)),
  approvalsRequired: member(z.int(), ({ mergeRequest }) => mergeRequest.approvalsRequired),
  approvalsLeft: member(z.int(), ({ mergeRequest }) => approvalsLeft(mergeRequest)),
  requirePasswordToApprove: member(z.boolean(), () => false),
  approvedBy: member(
    z.array(z.object({ user: basicUserShape.schema, approved_at: z.iso.datetime() })),
    ({ mergeRequest: { approvals } }, context) =>
      approvals.map(({ user, approvedAtMs }) => ({
        user: basicUserShape.of(user, context),
        approved_at: isoTime(approvedAtMs),
      })),
  ),
  suggestedApprovers: member(none, () => []),
  approvers: member(none, () => []),
  approverGroups: member(none, () => []),
  userHasApproved: member(z.boolean(), ({ hasApproved }) => hasApproved),
  userCanApprove: member(z.boolean(), ({ canApprove }) => canApprove),
  approvalRulesLeft: member(none, () => []),
  hasApprovalRules: member(z.boolean(), () => false),
  mergeRequestApproversAvailable: member(z.boolean(), () => false),
  multipleApprovalRulesAvailable: member(z.boolean(), () => false),
})

const ruleSchema = z
  .object({
    id: z.int(),
    name: z.string(),
    rule_type: z.literal('any_approver'),
    eligible_approvers: none,
    approvals_required: z.int(),
    users: none,
    groups: none,
    contains_hidden_groups: z.boolean(),
    approved_by: people,
    approved: z.boolean(),
  })
  .meta({ id: 'ApprovalRule' })

/** The state of the approvals. The setting of the project shows as one rule, which has the id of the merge request. */
const approvalStateShape = jsonShape<ShownApprovals>('MergeRequestApprovalState', {
  approvalRulesOverwritten: member(z.boolean(), () => false),
  rules: member(z.array(ruleSchema), ({ mergeRequest }, context) => {
    const { id, approvals, approvalsRequired } = mergeRequest
    if (approvalsRequired === 0) return []
    const rule = { id, name: 'All Members', rule_type: 'any_approver', eligible_approvers: [], users: [], groups: [] }
    return [
      {
        ...rule,
        approvals_required: approvalsRequired,
        contains_hidden_groups: false,
        approved_by: approvals.map(({ user }) => basicUserShape.of(user, context)),
        approved: approvalsLeft(mergeRequest) === 0,
      },
    ]
  }),
})

const inProject = { project: 'id' }
const one = '/projects/:id/merge_requests/:merge_request_iid'

export const mergeRequestApprovalsArea: Area = {
  tag: 'Approvals',
  routes: [
    route({
      method: 'GET',
      path: `${one}/approvals`,
      operation: getApprovals,
      names: inProject,
      shape: approvalsShape,
      summary: 'Get the approvals of a merge request.',
    }),
    route({
      method: 'GET',
      path: `${one}/approval_state`,
      operation: getApprovals,
      names: inProject,
      shape: approvalStateShape,
      summary: 'Get the approvals that a merge request needs, and those that it has.',
    }),
    route({
      method: 'POST',
      path: `${one}/approve`,
      operation: approveMergeRequest,
      parameters: approve,
      names: inProject,
      shape: approvalsShape,
      summary: 'Approve a merge request.',
    }),
    route({
      method: 'POST',
      path: `${one}/unapprove`,
      operation: unapproveMergeRequest,
      names: inProject,
      shape: approvalsShape,
      summary: "Remove the caller's approval of a merge request.",
    }),
    route({
      method: 'PUT',
      path: `${one}/reset_approvals`,
      operation: resetApprovals,
      names: inProject,
      status: 202,
      shape: approvalsShape,
      summary: 'Remove all approvals of a merge request, as a bot of a project or group.',
    }),
  ],
}
