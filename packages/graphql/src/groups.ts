import { perform, showGroup } from '@penstock/core'
import { orNull } from './failure.ts'
import type { Kit } from './kit.ts'

/** @see spec/graphql-contract.md 5.3 */
export function addGroups({ builder, globalIds }: Kit): void {
  builder.objectType('Group', {
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ id }) => globalIds.of('Group', id) }),
    }),
  })

  builder.queryField('group', (t) =>
    t.field({
      type: 'Group',
      args: { fullPath: t.arg.id({ required: true }) },
      resolve: (_root, { fullPath }, { core, actor }) => orNull(perform(core, actor, showGroup, { group: fullPath })),
    }),
  )
}
