import { z } from 'zod'
import { requirePermission } from '../../base/access/subject.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { parentIds } from '../../base/model/parent.ts'
import { unscopedSteps } from '../../base/operations/operation.ts'
import { setSubscription } from '../../base/operations/subscription-store.ts'
import { getParent } from '../../identity/parents/parent-operations.ts'
import { openWiki } from './change-wiki.ts'
import { type ListedWikiPage, listedPage } from './wiki-listings.ts'
import { getPagePlace, wikiPageSubscriptions } from './wiki-page-store.ts'
import { pagesOf } from './wiki-tree.ts'

/** Subscribes the actor to a page, or unsubscribes them. */
export const subscribeToWikiPage = unscopedSteps(
  { name: 'subscribeToWikiPage', input: z.object({ pageId: z.int(), isSubscribed: z.boolean() }) },
  async (context, { pageId, isSubscribed }): Promise<ListedWikiPage> => {
    const place = await getPagePlace(context, pageId)
    const parent = await getParent(context, place.parent.kind, place.parent.id)
    await requirePermission(context, parent, 'read_wiki')
    const wiki = await openWiki(context.core, parent)
    const pages = wiki === undefined ? [] : await pagesOf(wiki.repository, wiki.head.tree)
    const file = pages.find(({ slug }) => slug === place.slug)
    if (file === undefined) throw notFound('Wiki Page')
    await context.write(async (tx) => {
      // The page may have been removed in between.
      await getPagePlace(tx, pageId)
      await setSubscription(tx, wikiPageSubscriptions, pageId, context.actor!.id, isSubscribed)
      await tx.recordEvent({
        type: isSubscribed ? 'wiki_page.subscribed' : 'wiki_page.unsubscribed',
        objectId: pageId,
        ...parentIds(parent),
        details: { slug: file.slug },
      })
    })
    return listedPage(parent, file)
  },
)
