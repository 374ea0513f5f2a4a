import type { Kit } from './kit.ts'

/** @see spec/graphql-contract.md 5.8 */
export function addIssues({ builder, globalIds }: Kit): void {
  builder.objectType('Issue', {
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ id }) => globalIds.of('Issue', id) }),
    }),
  })
}
