import { findRevision } from '../../base/git/revision.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { ParentRef, ParentWithPath } from '../../base/model/parent.ts'
import type { Tx } from '../../base/operations/context.ts'
import { getParent } from '../../identity/parents/parent-operations.ts'
import type { OpenWiki } from './change-wiki.ts'
import { frontMatterOf } from './front-matter.ts'
import type { WikiPage, WikiPageWithContent } from './wiki-page.ts'
import { findPageIds, insertPageIds } from './wiki-page-store.ts'
import { findPage, type PageFile, titleOfSlug } from './wiki-slug.ts'
import { type PageEntry, pagesOf } from './wiki-tree.ts'

/** Returns a page as clients see it, without its content. */
export function shownPage<Id extends number | undefined>(
  { kind, id, fullPath }: ParentWithPath,
  { slug, format }: Omit<PageFile, 'path'>,
  pageId: Id,
): WikiPage & { readonly id: Id } {
  return { id: pageId, parent: { kind, id, fullPath }, slug, title: titleOfSlug(slug), format }
}

/** Adds the text of its file to a page. */
export const withContent = <Page extends WikiPage>(page: Page, content: string): Page & WikiPageWithContent => ({
  ...page,
  content,
  frontMatter: frontMatterOf(content),
})

type Write = <Result>(work: (tx: Pick<Tx, 'db' | 'nowMs'>) => Promise<Result>) => Promise<Result>

/**
 * Returns the ids of pages by slug.
 *
 * @param write gives ids to pages that have none, because their files come from elsewhere. Missing: they get none
 * @throws DomainError `not_found` if the parent was removed in between
 */
export async function idsOfPages(
  context: ReadContext,
  parent: ParentRef,
  slugs: readonly string[],
  write: Write | undefined,
): Promise<ReadonlyMap<string, number>> {
  const found = await findPageIds(context, parent, slugs)
  if (write === undefined || slugs.every((slug) => found.has(slug))) return found
  return write(async (tx) => {
    await getParent(tx, parent.kind, parent.id)
    return insertPageIds(tx, parent, slugs)
  })
}

/** Returns a page as of a commit, or of the head of the default branch. */
export async function findPageAt(
  wiki: OpenWiki | undefined,
  slug: string,
  version: string | undefined,
): Promise<{ readonly wiki: OpenWiki; readonly page: PageEntry; readonly isCurrent: boolean } | undefined> {
  if (wiki === undefined) return undefined
  const { repository, head } = wiki
  if (!version) {
    const page = findPage(await pagesOf(repository, head.tree), slug)
    return page && { wiki, page, isCurrent: true }
  }
  // A version is a commit, not the name of a branch or tag.
  const commit = /^[0-9a-f]{4,40}$/i.test(version) ? await findRevision(repository, version, undefined) : undefined
  if (commit === undefined) return undefined
  const page = findPage(await pagesOf(repository, (await repository.commitHeader(commit)).tree), slug)
  return page && { wiki, page, isCurrent: commit === head.tip }
}
