import type { Kit } from './kit.ts'

/** @see spec/graphql-contract.md 5.5 */
export function addPipelines({ builder, globalIds }: Kit): void {
  builder.objectType('Pipeline', {
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ id }) => globalIds.of('Ci::Pipeline', id) }),
    }),
  })
}
