import { invalid, notFound } from '../../base/kit/domain-error.ts'
import { errorTexts } from '../../base/kit/error-texts.ts'
import { humanSize } from '../../base/kit/human-size.ts'
import type { Core } from '../../base/operations/context.ts'
import { settingOf } from '../../base/settings/setting-of.ts'
import type { WikiDraft } from './change-wiki.ts'
import { MAX_REDIRECTS_BYTES, redirectsPath, withRedirects } from './wiki-redirects.ts'
import { directoryOf, findPage, findSameSlug, foldedSlug, pagesBelow, pathOfPage, slugOfTitle } from './wiki-slug.ts'
import { MAX_PAGES, type PageEntry, pagesOf } from './wiki-tree.ts'

const NAME_TAKEN = 'There is already a page with the same title in that path.'

/** @throws DomainError `invalid` */
export async function requireShortContent(core: Core, content: string): Promise<void> {
  const [bytes, limit] = [Buffer.byteLength(content), await settingOf(core, 'wiki_page_max_content_bytes')]
  if (bytes <= limit) return
  throw invalid({ content: [`is too long (${humanSize(bytes)}). The maximum size is ${humanSize(limit)}.`] })
}

/** Returns the page that a slug means. @throws DomainError `not_found` */
export async function requirePage({ repository, head }: WikiDraft, slug: string): Promise<PageEntry> {
  const page = findPage(await pagesOf(repository, head.tree), slug)
  if (page === undefined) throw notFound('Wiki Page')
  return page
}

/** Adds a page to the tree, and returns the id of the blob with its content. @throws DomainError `invalid` */
export async function addPage(draft: WikiDraft, slug: string, format: string, content: string): Promise<string> {
  const pages = await pagesOf(draft.repository, draft.head.tree)
  const same = findSameSlug(pages, slug)
  if (same !== undefined)
    throw invalid({ base: [`Duplicate page: A page with that title already exists in the file ${same.path}`] })
  if (pages.length >= MAX_PAGES) throw invalid({ base: [`The wiki has ${MAX_PAGES} pages, which is the maximum`] })
  const oid = await draft.repository.writeBlob(Buffer.from(content))
  await put(draft, pathOfPage(slug, format), oid)
  return oid
}

/** Removes the file of a page from the tree. */
export const removePage = ({ tree }: WikiDraft, { path }: PageEntry): Promise<void> => tree.remove(path.split('/'))

/** A change of a page's file. */
interface FileChange {
  readonly slug: string
  readonly format: string
  /** The blob with the new content, or the present one. */
  readonly oid: string
}

/**
 * Replaces the file of a page. If its slug changes, the pages in the directory with its name move along.
 *
 * @returns the new slugs of the pages that have moved, by their former ones
 * @throws DomainError `invalid`
 */
export async function replacePage(
  draft: WikiDraft,
  page: PageEntry,
  { slug, format, oid }: FileChange,
  serviceName: string,
): Promise<ReadonlyMap<string, string>> {
  const pages = await pagesOf(draft.repository, draft.head.tree)
  const moving = page.slug === slug ? [] : pagesBelow(pages, page.slug)
  const moves = new Map([page, ...moving].map((each) => [each.slug, slug + each.slug.slice(page.slug.length)] as const))
  requireFree(pages, moves)
  // All are removed first, because a page may take the place of another one that moves.
  for (const { path } of [page, ...moving]) await draft.tree.remove(path.split('/'))
  await put(draft, pathOfPage(slug, format, page), oid)
  for (const each of moving) await put(draft, pathOfPage(moves.get(each.slug)!, each.format, each), each.oid)
  if (page.slug === slug) return new Map()
  await putRedirects(draft, moves, serviceName)
  return moves
}

/** Checks that no page that stays has one of the new slugs. @throws DomainError `invalid` */
function requireFree(pages: readonly PageEntry[], moves: ReadonlyMap<string, string>): void {
  const staying = new Set(pages.flatMap(({ slug }) => (moves.has(slug) ? [] : [foldedSlug(slug)])))
  for (const to of moves.values()) if (staying.has(foldedSlug(to))) throw invalid({ title: [NAME_TAKEN] })
}

/** Returns the slug of a page after a change of its title, which is relative to the page's directory. @throws DomainError `invalid` */
export const newSlugOf = (page: PageEntry, title: string | null | undefined): string =>
  title == null ? page.slug : slugOfTitle(title, directoryOf(page.slug))

async function put({ tree }: WikiDraft, path: string, oid: string): Promise<void> {
  // A directory has the name of the file, or a file the name of one of its directories.
  if (!(await tree.put(path.split('/'), { oid, isExecutable: false }))) throw invalid({ title: [errorTexts.taken] })
}

async function putRedirects(
  { repository, tree }: WikiDraft,
  moves: ReadonlyMap<string, string>,
  serviceName: string,
): Promise<void> {
  const path = redirectsPath(serviceName)
  const file = await tree.find(path)
  const isKnown =
    file !== undefined && file !== 'directory' && (await repository.blobSize(file.oid)) <= MAX_REDIRECTS_BYTES
  const text = isKnown ? Buffer.from(await repository.blob(file.oid)).toString() : undefined
  const oid = await repository.writeBlob(Buffer.from(withRedirects(text, moves)))
  // If a link or a directory from elsewhere is in its place, the move is not recorded.
  await tree.put(path, { oid, isExecutable: false })
}
