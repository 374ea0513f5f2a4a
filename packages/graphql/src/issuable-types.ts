import { oncePerBuilder } from './once-per-builder.ts'

/** What issues and merge requests are found and changed by alike. @see spec/graphql-contract.md 5.1, 5.7 */
export const issuableTypes = oncePerBuilder((builder) => ({
  assigneeWildcard: builder.enumType('AssigneeWildcardId', {
    values: { ANY: { value: 'any' }, NONE: { value: 'none' } } as const,
  }),
  milestoneWildcard: builder.enumType('MilestoneWildcardId', {
    values: {
      ANY: { value: 'any' },
      NONE: { value: 'none' },
      STARTED: { value: 'started', description: 'Open, and begun by today' },
      UPCOMING: { value: 'upcoming', description: 'Open, and due after today' },
    } as const,
  }),
  searchableField: builder.enumType('IssuableSearchableField', {
    values: { TITLE: { value: 'title' }, DESCRIPTION: { value: 'description' } } as const,
  }),
  /** Core's word for how a list that is given goes with the one that is there. */
  operationMode: builder.enumType('MutationOperationMode', {
    description: 'How an assignment-like mutation combines its list with the stored one',
    values: { APPEND: { value: 'append' }, REMOVE: { value: 'remove' }, REPLACE: { value: 'replace' } } as const,
  }),
  taskCompletionStatus: builder
    .objectRef<{ readonly count: number; readonly completedCount: number }>('TaskCompletionStatus')
    .implement({
      description: 'Items of lists in the description that begin with a box',
      fields: (t) => ({
        count: t.exposeInt('count', { nullable: false }),
        completedCount: t.exposeInt('completedCount', { nullable: false }),
      }),
    }),
}))

/** The number in its project of an `iid`, which another forge may have given; what is no such number is that of nothing. */
export const iidIn = (text: string): number =>
  /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : 0
