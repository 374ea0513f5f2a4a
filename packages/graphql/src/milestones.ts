import type { Kit } from './kit.ts'

/** @see spec/graphql-contract.md 5.9 */
export function addMilestones({ builder, globalIds }: Kit): void {
  builder.objectType('Milestone', {
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ id }) => globalIds.of('Milestone', id) }),
    }),
  })
}
