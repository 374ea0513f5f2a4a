import { projectMembers, type User } from '@penstock/core'
import { loadBatched } from '../../request/request-context.ts'
import { Connection } from '../../schema/connection.ts'
import { lookup, withCost } from '../../schema/cost.ts'
import type { Kit } from '../../schema/kit.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    AutocompletedUser: User
  }
}

const MAX_USERS = 20

/** Adds the users that a client suggests while a person types a name. */
export function addAutocompleteUsers({ builder }: Kit): void {
  builder.objectType('AutocompletedUser', { interfaces: ['Todoable', 'User'] })
  builder.objectField('Project', 'autocompleteUsers', (t) =>
    t.field({
      type: ['AutocompletedUser'],
      description: `The first ${MAX_USERS} members of the project and its groups by name; null without access to the members`,
      args: { search: t.arg.string({ description: 'A part of the name or username' }) },
      ...withCost(lookup),
      resolve: async (project, { search }, context) => {
        const listed = await loadBatched(context, projectMembers.listEach, project, {
          ...omitNullish({ search }),
          relations: ['direct', 'inherited'],
          orderBy: 'name',
          sort: 'asc',
        })
        if (listed === undefined) return null
        const { items } = await new Connection(listed, { first: MAX_USERS }, context.loaders).page()
        return items.map(({ user }) => user)
      },
    }),
  )
}
