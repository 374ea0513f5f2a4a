import { z } from 'zod'
import type { Subject } from '../../base/access/subject.ts'
import { listedEach } from '../../base/kit/listing.ts'
import { listingOfSequences } from '../../base/kit/sequence-listing.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { OperationContext } from '../../base/operations/context.ts'
import { descriptionsInput, type SizedDescription } from '../../base/operations/description-store.ts'
import { batchQuery, unscopedBatchQuery } from '../../base/operations/operation.ts'
import { explicitSubscriptions } from '../../base/operations/subscription-store.ts'
import { type OpenWiki, openWiki } from './change-wiki.ts'
import type { WikiPage } from './wiki-page.ts'
import { findPageIdOfEach, insertPageIds, wikiPageSubscriptions } from './wiki-page-store.ts'
import { shownPage } from './wiki-reads.ts'
import { type PageEntry, pagesOf, textOf } from './wiki-tree.ts'

/** A page in a list. Its id and its content are read on demand. */
export interface ListedWikiPage extends Omit<WikiPage, 'id'> {
  readonly file: PageEntry
}

export function listedPage(parent: Subject, file: PageEntry): ListedWikiPage {
  const { id: _, ...page } = shownPage(parent, file, undefined)
  return { ...page, file }
}

/** Lists the pages of each group or project, by the path of the file. */
export const listWikiPagesOfEach = batchQuery(
  { name: 'listWikiPagesOfEach', input: z.object({}), permission: 'read_wiki' },
  async ({ core }, parents: readonly Subject[]) => {
    // Opened together, so that their directories are found with one statement.
    const wikis = await Promise.all(parents.map((parent) => openWiki(core, parent)))
    return listedEach(
      listingOfSequences(parents.map((parent, index) => () => pagesIn(parent, wikis[index]))),
      parents.length,
    )
  },
)

async function* pagesIn(parent: Subject, wiki: OpenWiki | undefined): AsyncGenerator<ListedWikiPage> {
  if (wiki === undefined) return
  for (const file of await pagesOf(wiki.repository, wiki.head.tree)) yield listedPage(parent, file)
}

/** Returns the lasting ids of pages. A page that has none, because its file comes from elsewhere, gets one. */
export const idsOfWikiPages = unscopedBatchQuery(
  { name: 'idsOfWikiPages', input: z.object({}) },
  async ({ core, db, nowMs }, pages: readonly ListedWikiPage[]) => {
    const found = await findPageIdOfEach({ db }, pages)
    const without = pages.filter((_, index) => found[index] === undefined)
    if (without.length === 0) return found
    await core.db.write(async (tx) => {
      for (const { parent, slug } of without) await insertPageIds({ db: tx, nowMs }, parent, [slug])
    })
    return findPageIdOfEach({ db: core.db.read }, pages)
  },
)

/** Returns whether the actor has subscribed to each page. */
export const subscriptionsToWikiPages = unscopedBatchQuery(
  { name: 'subscriptionsToWikiPages', input: z.object({}) },
  async (context, pages: readonly ListedWikiPage[]) => {
    const { actor } = context
    if (actor === undefined) return pages.map(() => false)
    const ids = await findPageIdOfEach(context, pages)
    const known = ids.filter((id) => id !== undefined)
    const subscribed = await explicitSubscriptions(context, wikiPageSubscriptions, actor.id, known)
    return ids.map((id) => id !== undefined && subscribed.get(id) === true)
  },
)

/** Returns the contents of the first pages that fit into `maxBytes`. */
export const contentsOfWikiPages = unscopedBatchQuery(
  { name: 'contentsOfWikiPages', input: descriptionsInput },
  async (context: OperationContext & ReadContext, pages: readonly ListedWikiPage[], { maxBytes }) => {
    const contents: (SizedDescription | undefined)[] = pages.map(() => undefined)
    let left = maxBytes
    for (const [index, { parent, file }] of pages.entries()) {
      const wiki = await openWiki(context.core, parent)
      const bytes = wiki === undefined ? 0 : await wiki.repository.blobSize(file.oid)
      left -= bytes
      if (left < 0) break
      contents[index] = { description: wiki && (await textOf(wiki.repository, file)), bytes }
    }
    return contents
  },
)
