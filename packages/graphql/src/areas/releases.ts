import { type ListedRelease, listReleasesOfEachMilestone, nameOfRelease } from '@penstock/core'
import { loadBatched } from '../request/request-context.ts'
import { connectionField } from '../schema/connection-field.ts'
import { lookup } from '../schema/cost.ts'
import type { Kit } from '../schema/kit.ts'

declare module '../schema/schema-types.ts' {
  interface ObjectSources {
    Release: ListedRelease
  }
}

/** Adds the releases that a milestone belongs to. */
export function addReleases(kit: Kit): void {
  const { builder, globalIds } = kit
  builder.objectType('Release', {
    description: 'Release of a project, named by a tag',
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ id }) => globalIds.ofType('Release', id) }),
      name: t.string({ resolve: nameOfRelease }),
      tagName: t.string({
        description: 'Null for callers who may not read the repository',
        resolve: ({ tag, showsCode }) => (showsCode ? tag : null),
      }),
    }),
  })
  builder.objectFields('Milestone', (t) => ({
    releases: connectionField(kit, t, 'Release', {
      cost: lookup,
      list: (milestone, _args, context) => loadBatched(context, listReleasesOfEachMilestone, milestone),
    }),
  }))
}
