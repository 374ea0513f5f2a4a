import { perform, showProject } from '@penstock/core'
import { orNull } from './failure.ts'
import type { Kit } from './kit.ts'

/** @see spec/graphql-contract.md 5.4 */
export function addProjects({ builder, globalIds }: Kit): void {
  builder.objectType('Project', {
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ id }) => globalIds.of('Project', id) }),
      name: t.exposeString('name', { nullable: false }),
    }),
  })

  builder.queryField('project', (t) =>
    t.field({
      type: 'Project',
      args: { fullPath: t.arg.id({ required: true }) },
      resolve: async (_root, { fullPath }, { core, actor }) => {
        const view = await orNull(perform(core, actor, showProject, { project: fullPath }))
        return view === null ? null : view.project
      },
    }),
  )
}
