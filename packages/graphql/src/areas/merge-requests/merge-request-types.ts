import { detailedMergeStatuses } from '@penstock/core'
import { oldNames, timeSorts } from '../../schema/enums.ts'
import { oncePerBuilder } from '../../schema/once-per-builder.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSums {
    MergeRequest: 'msToMerge'
  }
}

export const mergeRequestEnums = oncePerBuilder((builder) => ({
  state: builder.enumType('MergeRequestState', {
    values: ['all', 'opened', 'closed', 'locked', 'merged'] as const,
  }),
  newState: builder.enumType('MergeRequestNewState', {
    values: { OPEN: { value: 'reopen' }, CLOSED: { value: 'close' } } as const,
  }),
  reviewState: builder.enumType('MergeRequestReviewState', {
    values: {
      UNREVIEWED: { value: 'unreviewed' },
      REVIEW_STARTED: { value: 'review_started' },
      REVIEWED: { value: 'reviewed' },
      REQUESTED_CHANGES: { value: 'requested_changes' },
      APPROVED: { value: 'approved' },
      UNAPPROVED: { value: 'unapproved' },
    } as const,
  }),
  reviewerWildcard: builder.enumType('ReviewerWildcardId', {
    values: { ANY: { value: 'any' }, NONE: { value: 'none' } } as const,
  }),
  mergeStatus: builder.enumType('MergeStatus', {
    values: {
      UNCHECKED: { value: 'unchecked' },
      CHECKING: { value: 'checking' },
      CAN_BE_MERGED: { value: 'can_be_merged' },
      CANNOT_BE_MERGED: { value: 'cannot_be_merged' },
      CANNOT_BE_MERGED_RECHECK: { value: 'cannot_be_merged_recheck' },
    } as const,
  }),
  detailedMergeStatus: builder.enumType('DetailedMergeStatus', {
    values: {
      ...valuesByName(detailedMergeStatuses),
      ...Object.fromEntries(otherMergeStatuses.map((name) => [name, { value: name }])),
    } as const,
  }),
  sort: builder.enumType('MergeRequestSort', {
    values: {
      ...timeSorts,
      TITLE_ASC: { value: 'title asc' },
      TITLE_DESC: { value: 'title desc' },
      MERGED_AT_ASC: { value: 'merged_at asc' },
      MERGED_AT_DESC: { value: 'merged_at desc' },
      CLOSED_AT_ASC: { value: 'closed_at asc' },
      CLOSED_AT_DESC: { value: 'closed_at desc' },
      LABEL_PRIORITY_ASC: { value: 'label_priority asc' },
      LABEL_PRIORITY_DESC: { value: 'label_priority desc' },
      MILESTONE_DUE_ASC: { value: 'milestone_due asc' },
      MILESTONE_DUE_DESC: { value: 'milestone_due desc' },
      POPULARITY_ASC: { value: 'popularity asc' },
      POPULARITY_DESC: { value: 'popularity desc' },
      PRIORITY_ASC: { value: 'priority asc' },
      PRIORITY_DESC: { value: 'priority desc' },
      ...oldNames,
    } as const,
  }),
}))

const valuesByName = <Value extends string>(values: readonly Value[]) =>
  Object.fromEntries(values.map((value) => [value.toUpperCase(), { value }])) as Record<
    Uppercase<Value>,
    { readonly value: Value }
  >

/** The merge statuses of GitLab that do not occur in this service. */
const otherMergeStatuses = [
  'CHECKING',
  'BLOCKED_STATUS',
  'EXTERNAL_STATUS_CHECKS',
  'PREPARING',
  'JIRA_ASSOCIATION',
  'APPROVALS_SYNCING',
  'LOCKED_PATHS',
  'LOCKED_LFS_FILES',
  'MERGE_TIME',
  'REQUESTED_CHANGES',
  'SECURITY_POLICIES_VIOLATIONS',
  'SECURITY_POLICY_PIPELINE_CHECK',
  'TITLE_NOT_MATCHING',
] as const
