import { oncePerBuilder } from '../../schema/once-per-builder.ts'

/** The types that issues and merge requests share for filters and changes. */
export const issuableTypes = oncePerBuilder((builder) => ({
  assigneeWildcard: builder.enumType('AssigneeWildcardId', {
    values: { ANY: { value: 'any' }, NONE: { value: 'none' } } as const,
  }),
  milestoneWildcard: builder.enumType('MilestoneWildcardId', {
    values: {
      ANY: { value: 'any' },
      NONE: { value: 'none' },
      STARTED: { value: 'started', description: 'Open, and started by today' },
      UPCOMING: { value: 'upcoming', description: 'Open, and due after today' },
    } as const,
  }),
  subscriptionStatus: builder.enumType('SubscriptionStatus', {
    values: {
      EXPLICITLY_SUBSCRIBED: { value: 'subscribed' },
      EXPLICITLY_UNSUBSCRIBED: { value: 'unsubscribed' },
    } as const,
  }),
  searchableField: builder.enumType('IssuableSearchableField', {
    values: { TITLE: { value: 'title' }, DESCRIPTION: { value: 'description' } } as const,
  }),
  operationMode: builder.enumType('MutationOperationMode', {
    description: 'How an assignment-like mutation combines its list with the stored one',
    values: { APPEND: { value: 'append' }, REMOVE: { value: 'remove' }, REPLACE: { value: 'replace' } } as const,
  }),
  taskCompletionStatus: builder
    .objectRef<{ readonly count: number; readonly completedCount: number }>('TaskCompletionStatus')
    .implement({
      description: 'List items in the description that start with a checkbox',
      fields: (t) => ({
        count: t.exposeInt('count', { nullable: false }),
        completedCount: t.exposeInt('completedCount', { nullable: false }),
      }),
    }),
}))

/** Parses an `iid`. Returns 0, which no object has, if the text is not a valid number. */
export const iidIn = (text: string): number =>
  /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : 0
