import { type Expression, type SqlBool, sql } from 'kysely'
import { z } from 'zod'
import { isOneOf } from '../../base/kit/conditions.ts'
import { columnsOf, fromRow } from '../../base/kit/field-table.ts'
import { type Listed, type Listing, listedEach, listingOf } from '../../base/kit/listing.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { Actor, User } from '../../base/model/user.ts'
import { descriptionsOfEach } from '../../base/operations/description-store.ts'
import { batchQuery, unscopedBatchQuery, unscopedQuery } from '../../base/operations/operation.ts'
import { type Snippet, snippetFields, snippetVisibilities } from './snippet.ts'
import { isReadableSnippet } from './snippet-access.ts'
import { withOwners } from './snippet-store.ts'

// Lists of snippets for GraphQL, newest first.

const MAX_IDS = 100
const kinds = ['personal', 'project'] as const
type SnippetKind = (typeof kinds)[number]

const filterInput = {
  ids: z.array(z.int()).max(MAX_IDS).optional(),
  visibility: z.enum(snippetVisibilities).optional(),
}
const kindInput = { type: z.enum(kinds).optional() }

interface SnippetFilter {
  readonly ids?: readonly number[] | undefined
  readonly visibility?: Snippet['visibility'] | undefined
  readonly type?: SnippetKind | undefined
  readonly authorId?: number | undefined
  readonly projectId?: number | undefined
  /** Leaves out private snippets. */
  readonly isOpen?: boolean | undefined
}

export const listSnippetsOfEachProject = batchQuery(
  { name: 'listSnippetsOfEachProject', input: z.object(filterInput), permission: 'read_snippet' },
  async (context, projects: readonly Project[], filter) => {
    const filters = projects.map(({ id }) => ({ ...filter, projectId: id }))
    return listedEach(snippetListing(context, context.actor, filters, 'project'), projects.length)
  },
)

/** Lists the snippets that each user has written. */
export const listSnippetsOfEachUser = unscopedBatchQuery(
  { name: 'listSnippetsOfEachUser', input: z.object({ ...filterInput, ...kindInput }) },
  async (context, users: readonly Pick<User, 'id'>[], filter) => {
    const filters = users.map(({ id }) => ({ ...filter, authorId: id }))
    return listedEach(
      snippetListing(context, context.actor, filters, filter.type === 'personal' ? 'personal' : 'any'),
      users.length,
    )
  },
)

/** Lists all snippets that the actor may read. `explore` leaves only public and internal personal ones. */
export const browseSnippets = unscopedQuery(
  {
    name: 'browseSnippets',
    caller: 'anyone',
    input: z.object({
      ...filterInput,
      ...kindInput,
      authorId: z.int().optional(),
      projectId: z.int().optional(),
      explore: z.boolean().default(false),
    }),
  },
  async (context, { explore, ...filter }): Promise<Listed<Snippet>> => {
    const isNothing = explore && filter.type === 'project'
    const all = {
      ...filter,
      ...(explore && { type: 'personal' as const, isOpen: true }),
      ...(isNothing && { ids: [] }),
    }
    return listedEach(
      snippetListing(context, context.actor, [all], all.type === 'personal' ? 'personal' : 'any'),
      1,
    )[0]!
  },
)

export const descriptionsOfEachSnippet = descriptionsOfEach<Snippet>('descriptionsOfEachSnippet', 'snippets')

function snippetListing(
  context: ReadContext,
  actor: Actor,
  filters: readonly SnippetFilter[],
  within: SnippetKind | 'any',
): Listing<Snippet> {
  const queries = filters.map((filter) =>
    context.db
      .selectFrom('snippets')
      .leftJoin('projects', 'projects.id', 'snippets.project_id')
      .select(columnsOf(snippetFields).map((column) => `snippets.${column}` as const))
      .where(isReadableSnippet(context, actor, within))
      .where((eb) => {
        const conditions: Expression<SqlBool>[] = []
        const { ids, visibility, type, authorId, projectId, isOpen } = filter
        // Follows from what is readable, but here an index finds the rows among many private ones.
        if (actor === undefined) conditions.push(eb('snippets.visibility', '=', 'public'))
        if (authorId !== undefined) conditions.push(eb('snippets.author_id', '=', authorId))
        if (projectId !== undefined) conditions.push(eb('snippets.project_id', '=', projectId))
        if (visibility !== undefined) conditions.push(eb('snippets.visibility', '=', visibility))
        if (isOpen) conditions.push(eb('snippets.visibility', '!=', 'private'))
        if (type !== undefined) conditions.push(eb('snippets.project_id', type === 'personal' ? 'is' : 'is not', null))
        if (ids !== undefined) conditions.push(isOneOf(sql.ref('snippets.id'), ids))
        return eb.and(conditions)
      }),
  )
  return listingOf(context, queries, {
    order: [{ column: 'snippets.id', key: 'id', direction: 'desc' }],
    itemsOf: (rows) =>
      withOwners(
        context,
        rows.map((row) => fromRow(snippetFields, row)),
      ),
  })
}
