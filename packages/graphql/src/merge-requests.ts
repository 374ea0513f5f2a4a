import type { Kit } from './kit.ts'

/** @see spec/graphql-contract.md 5.7 */
export function addMergeRequests({ builder, globalIds }: Kit): void {
  builder.objectType('MergeRequest', {
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ id }) => globalIds.of('MergeRequest', id) }),
    }),
  })
}
