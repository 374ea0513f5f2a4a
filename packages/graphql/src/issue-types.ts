import type { Issue, IssuePermissions } from '@penstock/core'
import { oldNames, timeSorts } from './enums.ts'
import type { Kit } from './kit.ts'
import type { Builder } from './schema-types.ts'

declare module './schema-types.ts' {
  interface ObjectSources {
    IssuePermissions: IssuePermissions
    IssueStatusCountsType: Readonly<Record<Issue['state'], number>>
  }
}

/** Made once. @see spec/graphql-contract.md 5.8 */
export function issueEnums({ builder }: Kit): IssueEnums {
  const known = made.get(builder)
  if (known !== undefined) return known
  const enums = define(builder)
  made.set(builder, enums)
  return enums
}

type IssueEnums = ReturnType<typeof define>
const made = new WeakMap<Builder, IssueEnums>()

const states = ['all', 'opened', 'closed', 'locked'] as const

const define = (builder: Builder) => ({
  state: builder.enumType('IssueState', { values: states }),
  wantedState: builder.enumType('IssuableState', { values: states }),
  stateEvent: builder.enumType('IssueStateEvent', {
    values: { CLOSE: { value: 'close' }, REOPEN: { value: 'reopen' } } as const,
  }),
  type: builder.enumType('IssueType', {
    description: 'All issues of this service are of the first kind',
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
  severity: builder.enumType('IssuableSeverity', { values: ['UNKNOWN', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] as const }),
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
      // In what follows all issues are alike.
      POPULARITY_ASC: { value: 'id asc' },
      POPULARITY_DESC: { value: 'id desc' },
      RELATIVE_POSITION_ASC: { value: 'id asc' },
      SEVERITY_ASC: { value: 'id asc' },
      SEVERITY_DESC: { value: 'id desc' },
      ESCALATION_STATUS_ASC: { value: 'id asc' },
      ESCALATION_STATUS_DESC: { value: 'id desc' },
      ...oldNames,
    } as const,
  }),
  negatedMilestoneWildcard: builder.enumType('NegatedMilestoneWildcardId', {
    values: { STARTED: { value: 'started' }, UPCOMING: { value: 'upcoming' } } as const,
  }),
})
