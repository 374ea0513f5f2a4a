import type { Kit } from './kit.ts'

/** @see spec/graphql-contract.md 5.2 */
export function addUsers({ builder, globalIds }: Kit): void {
  builder.objectType('UserCore', {
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ id }) => globalIds.of('User', id) }),
    }),
  })
}
