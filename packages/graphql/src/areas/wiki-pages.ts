import {
  contentsOfWikiPages,
  groupWikis,
  idsOfWikiPages,
  type ListedWikiPage,
  listWikiPagesOfEach,
  projectWikis,
  type Subject,
  subscribeToWikiPage,
  subscriptionsToWikiPages,
  wikiPageWebPath,
} from '@penstock/core'
import { GraphQLError } from 'graphql'
import { loadBatched, performIn, readOrNull } from '../request/request-context.ts'
import { addToGroupsAndProjects, descriptionField } from '../schema/area-fields.ts'
import { connectionField } from '../schema/connection-field.ts'
import { constantFields } from '../schema/constant-fields.ts'
import { type Cost, withCost } from '../schema/cost.ts'
import type { NamespaceReference } from '../schema/global-id.ts'
import type { Kit } from '../schema/kit.ts'
import { mutation } from '../schema/mutation.ts'

declare module '../schema/schema-types.ts' {
  interface ObjectSources {
    WikiPage: ListedWikiPage
    WikiPagePermissions: ListedWikiPage
  }
}

/** The cost of a field that reads a wiki. */
const cost: Cost = { resolver: true, repository: true }

export function addWikiPages(kit: Kit): void {
  const { builder, globalIds, web } = kit

  builder.objectType('WikiPagePermissions', {
    description: 'What the caller may do with a wiki page that they can read',
    fields: (t) => ({
      readWikiPage: t.boolean({ nullable: false, resolve: () => true }),
      // Wiki pages have neither notes nor reactions yet.
      createNote: constantFields(t).alwaysFalse(),
      markNoteAsInternal: constantFields(t).alwaysFalse(),
      awardEmoji: constantFields(t).alwaysFalse(),
    }),
  })
  builder.objectType('WikiPage', {
    description: 'Page of the wiki of a group or project',
    interfaces: ['Todoable'],
    fields: (t) => ({
      id: t.field({
        type: 'WikiPageMetaID',
        nullable: false,
        description: 'Stays the same when the page moves',
        resolve: async (page, _args, context) =>
          globalIds.of('WikiPage::Meta', (await loadBatched(context, idsOfWikiPages, page))!),
      }),
      slug: t.exposeString('slug'),
      title: t.exposeString('title', { nullable: false }),
      name: t.exposeString('title'),
      content: descriptionField(t, contentsOfWikiPages),
      webUrl: t.string({ resolve: (page) => web.url(wikiPageWebPath(page)) }),
      subscribed: t.boolean({
        nullable: false,
        resolve: (page, _args, context) => loadBatched(context, subscriptionsToWikiPages, page),
      }),
      userPermissions: t.field({ type: 'WikiPagePermissions', nullable: false, resolve: (page) => page }),
    }),
  })

  addToGroupsAndProjects(kit, (t) => ({
    wikiPages: connectionField<Subject, 'WikiPage', Record<never, never>>(kit, t, 'WikiPage', {
      description: 'Pages by the path of their files',
      cost,
      isForwardOnly: true,
      list: (parent, _args, context) => loadBatched(context, listWikiPagesOfEach, parent),
    }),
  }))

  builder.queryField('wikiPage', (t) =>
    t.field({
      type: 'WikiPage',
      description: 'Experimental. Needs `slug`, and `namespaceId` of a group or `projectId`',
      ...withCost(cost),
      args: {
        slug: t.arg.string(),
        projectId: t.arg({ type: 'ProjectID' }),
        namespaceId: t.arg({ type: 'NamespaceID' }),
      },
      resolve: (_root, { slug, projectId, namespaceId }, context) => {
        if (projectId != null && namespaceId != null)
          throw new GraphQLError('Only one of `namespace_id` or `project_id` are allowed.')
        const groupId = groupIdOf(namespaceId)
        if (!slug) return null
        if (projectId != null) return readOrNull(context, projectWikis.find, { parent: projectId, slug })
        return groupId === undefined ? null : readOrNull(context, groupWikis.find, { parent: groupId, slug })
      },
    }),
  )

  mutation(kit, 'wikiPageSubscribe', {
    description: 'Subscribes the caller to a wiki page, or unsubscribes them',
    input: (t) => ({
      id: t.field({ type: 'WikiPageMetaID', required: true }),
      subscribed: t.boolean({ required: true }),
    }),
    run: async ({ id, subscribed }, context) => ({
      wikiPage: await performIn(context, subscribeToWikiPage, { pageId: id, isSubscribed: subscribed }),
    }),
    payload: (t) => ({ wikiPage: t.field({ type: 'WikiPage', resolve: ({ wikiPage }) => wikiPage }) }),
  })
}

/** Returns the id of a group. Users have no wikis. */
const groupIdOf = (namespace: NamespaceReference | null | undefined): number | undefined =>
  namespace?.model === 'Group' || namespace?.model === 'Namespace' ? namespace.id : undefined
