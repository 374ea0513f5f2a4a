import type { Issue, IssuePermissions } from '@penstock/core'
import { oldNames, timeSorts } from '../../schema/enums.ts'
import { oncePerBuilder } from '../../schema/once-per-builder.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    IssuePermissions: IssuePermissions
    IssueStatusCountsType: Readonly<Record<Issue['state'], number>>
  }
  interface ObjectSums {
    Issue: 'weight'
  }
}

const states = ['all', 'opened', 'closed', 'locked'] as const

export const issueEnums = oncePerBuilder((builder) => ({
  state: builder.enumType('IssueState', { values: states }),
  wantedState: builder.enumType('IssuableState', { values: states }),
  stateEvent: builder.enumType('IssueStateEvent', {
    values: { CLOSE: { value: 'close' }, REOPEN: { value: 'reopen' } } as const,
  }),
  type: builder.enumType('IssueType', {
    description: 'Issues of this service have one of the types ISSUE, INCIDENT, TEST_CASE and TASK',
    values: {
      ISSUE: { value: 'issue' },
      INCIDENT: { value: 'incident' },
      TASK: { value: 'task' },
      TICKET: { value: 'ticket' },
      TEST_CASE: { value: 'test_case' },
      REQUIREMENT: { value: 'requirement' },
      OBJECTIVE: { value: 'objective' },
      KEY_RESULT: { value: 'key_result' },
      EPIC: { value: 'epic' },
    } as const,
  }),
  severity: builder.enumType('IssuableSeverity', {
    values: {
      UNKNOWN: { value: 'unknown' },
      LOW: { value: 'low' },
      MEDIUM: { value: 'medium' },
      HIGH: { value: 'high' },
      CRITICAL: { value: 'critical' },
    } as const,
  }),
  sort: builder.enumType('IssueSort', {
    values: {
      ...timeSorts,
      CLOSED_AT_ASC: { value: 'closed_at asc' },
      CLOSED_AT_DESC: { value: 'closed_at desc' },
      DUE_DATE_ASC: { value: 'due_date asc' },
      DUE_DATE_DESC: { value: 'due_date desc' },
      TITLE_ASC: { value: 'title asc' },
      TITLE_DESC: { value: 'title desc' },
      LABEL_PRIORITY_ASC: { value: 'label_priority asc' },
      LABEL_PRIORITY_DESC: { value: 'label_priority desc' },
      MILESTONE_DUE_ASC: { value: 'milestone_due asc' },
      MILESTONE_DUE_DESC: { value: 'milestone_due desc' },
      PRIORITY_ASC: { value: 'priority asc' },
      PRIORITY_DESC: { value: 'priority desc' },
      POPULARITY_ASC: { value: 'popularity asc' },
      POPULARITY_DESC: { value: 'popularity desc' },
      RELATIVE_POSITION_ASC: { value: 'relative_position asc' },
      SEVERITY_ASC: { value: 'severity asc' },
      SEVERITY_DESC: { value: 'severity desc' },
      ESCALATION_STATUS_ASC: { value: 'escalation_status asc' },
      ESCALATION_STATUS_DESC: { value: 'escalation_status desc' },
      ...oldNames,
    } as const,
  }),
  negatedMilestoneWildcard: builder.enumType('NegatedMilestoneWildcardId', {
    values: { STARTED: { value: 'started' }, UPCOMING: { value: 'upcoming' } } as const,
  }),
}))
