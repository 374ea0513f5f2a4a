import { browseSnippets, listSnippetsOfEachProject, listSnippetsOfEachUser } from '@penstock/core'
import { GraphQLError } from 'graphql'
import { loadBatched, readOrNull } from '../../request/request-context.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { lookup } from '../../schema/cost.ts'
import type { Kit } from '../../schema/kit.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'
import type { ArgumentsMaker } from '../../schema/schema-types.ts'

/** Adds the fields that list snippets, newest first. */
export function addSnippetLists(kit: Kit): void {
  const { builder } = kit
  const visibilityScope = builder.enumType('VisibilityScopesEnum', {
    values: ['internal', 'private', 'public'] as const,
  })
  const kind = builder.enumType('TypeEnum', { values: ['personal', 'project'] as const })
  const filters = (t: ArgumentsMaker) => ({
    ids: t.arg({ type: ['SnippetID'] }),
    visibility: t.arg({ type: visibilityScope }),
  })
  const kinds = (t: ArgumentsMaker) => ({ type: t.arg({ type: kind }) })

  builder.objectFields('Project', (t) => ({
    snippets: connectionField(kit, t, 'Snippet', {
      cost: lookup,
      args: filters(t),
      list: (project, args, context) => loadBatched(context, listSnippetsOfEachProject, project, omitNullish(args)),
    }),
  }))
  builder.interfaceFields('User', (t) => ({
    snippets: connectionField(kit, t, 'Snippet', {
      description: 'The snippets that the user has written',
      cost: lookup,
      args: { ...filters(t), ...kinds(t) },
      list: ({ id }, args, context) => loadBatched(context, listSnippetsOfEachUser, { id }, omitNullish(args)),
    }),
  }))
  builder.queryFields((t) => ({
    snippets: connectionField(kit, t, 'Snippet', {
      description: 'All snippets that the caller may read',
      cost: lookup,
      args: {
        ...filters(t),
        ...kinds(t),
        authorId: t.arg({ type: 'UserID' }),
        projectId: t.arg({ type: 'ProjectID' }),
        explore: t.arg.boolean({ description: 'Only public and internal personal snippets' }),
      },
      list: (_root, args, context) => {
        if (args.authorId != null && args.projectId != null) {
          throw new GraphQLError('Filtering by both an author and a project is not supported')
        }
        return readOrNull(context, browseSnippets, omitNullish(args))
      },
    }),
  }))
}
