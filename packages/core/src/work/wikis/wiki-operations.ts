import type { Subject } from '../../base/access/subject.ts'
import { DomainError, notFound } from '../../base/kit/domain-error.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { parentIds } from '../../base/model/parent.ts'
import type { User } from '../../base/model/user.ts'
import type { CallContext, Tx } from '../../base/operations/context.ts'
import { query, type StepsContext, steps } from '../../base/operations/operation.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { getParent } from '../../identity/parents/parent-operations.ts'
import { getUser } from '../../identity/users/user-store.ts'
import { changeWiki, openWiki, type WikiCommit } from './change-wiki.ts'
import { withFrontMatterTitle } from './front-matter.ts'
import { addPage, newSlugOf, removePage, replacePage, requirePage, requireShortContent } from './wiki-changes.ts'
import { htmlOf } from './wiki-html.ts'
import { listedPage } from './wiki-listings.ts'
import {
  createWikiPageInput,
  getWikiPageInput,
  listWikiPagesInput,
  type RecordedWikiPage,
  updateWikiPageInput,
  type WikiPage,
  type WikiPageWithContent,
  wikiPageEvents,
  wikiPageInput,
} from './wiki-page.ts'
import { deletePages, insertPageIds, renamePages } from './wiki-page-store.ts'
import { findPageAt, idsOfPages, shownPage, withContent } from './wiki-reads.ts'
import { slugOfTitle, titleOfSlug } from './wiki-slug.ts'
import { findText, type PageEntry, pagesOf, textOf, textsOf } from './wiki-tree.ts'

type OnWiki = StepsContext & { readonly subject: Subject }

/** Returns the operations on the wikis of groups, or on those of projects. They differ in name, permission and subject. */
function wikiOperations(kind: Subject['kind']) {
  const noun = `${kind === 'group' ? 'Group' : 'Project'}WikiPage`
  const subject = (context: ReadContext, { parent }: { readonly parent: number | string }) =>
    getParent(context, kind, parent)
  const reads = { caller: 'anyone', permission: 'read_wiki', subject } as const
  const writes = { permission: 'write_wiki', subject } as const

  return {
    /** Lists all pages, in the order of the paths of their files. With their content, they are limited in size. */
    list: steps({ name: `list${noun}s`, input: listWikiPagesInput, ...reads }, listPages),

    /** Returns a page, or a former version of it. */
    get: steps(
      { name: `get${noun}`, input: getWikiPageInput, ...reads },
      async (context, { slug, version, renderHtml }) => {
        const { subject: parent, core } = context
        const found = await findPageAt(await openWiki(core, parent), slug, version ?? undefined)
        if (found === undefined) throw notFound('Wiki Page')
        const { page, wiki, isCurrent } = found
        // A former version of a page that has been renamed or removed since does not get an id of its own.
        const ids = await idsOfPages(context, parent, [page.slug], isCurrent ? context.write : undefined)
        const shown = withContent(shownPage(parent, page, ids.get(page.slug)), await textOf(wiki.repository, page))
        return renderHtml ? { ...shown, content: await htmlOf(context, shown) } : shown
      },
    ),

    /** Finds a page without reading its content. */
    find: query(
      { name: `find${noun}`, input: wikiPageInput, ...reads },
      async ({ core, subject: parent }, { slug }) => {
        const found = await findPageAt(await openWiki(core, parent), slug, undefined)
        if (found === undefined) throw notFound('Wiki Page')
        return listedPage(parent, found.page)
      },
    ),

    create: steps(
      { name: `create${noun}`, input: createWikiPageInput, ...writes },
      async (context, { title, format, frontMatter, ...input }): Promise<WikiPageWithContent> => {
        const { core, subject: parent } = context
        const author = await authorOf(context)
        const slug = slugOfTitle(title)
        const content = frontMatter ? withFrontMatterTitle(input.content, frontMatter.title) : input.content
        await requireShortContent(core, content)
        return changeWiki(context, parent, author, async (draft) => {
          const oid = await addPage(draft, slug, format, content)
          return {
            message: messageOf(author, 'created', slug),
            storeRows: async (tx, commit) => {
              const ids = await insertPageIds(tx, parent, [slug])
              const after = recordedPage(ids, { slug, format, oid })
              await recordPage(tx, parent, commit, 'created', { after })
              return withContent(shownPage(parent, { slug, format }, after.id), content)
            },
          }
        })
      },
    ),

    update: steps(
      { name: `update${noun}`, input: updateWikiPageInput, ...writes },
      async (context, { slug: wanted, title, frontMatter, ...input }): Promise<WikiPageWithContent> => {
        const { core, subject: parent } = context
        const author = await authorOf(context)
        return changeWiki(context, parent, author, async (draft) => {
          const page = await requirePage(draft, wanted)
          const before = await findText(draft.repository, page)
          const slug = newSlugOf(page, title)
          const text = input.content ?? before ?? (await textOf(draft.repository, page))
          const content = frontMatter ? withFrontMatterTitle(text, frontMatter.title) : text
          if (content !== before) await requireShortContent(core, content)
          const oid = content === before ? page.oid : await draft.repository.writeBlob(Buffer.from(content))
          const format = input.format ?? page.format
          const isSame = slug === page.slug && format === page.format && oid === page.oid
          const moves = await replacePage(draft, page, { slug, format, oid }, core.settings.serviceName)
          return {
            ...(!isSame && { message: messageOf(author, 'updated', slug) }),
            storeRows: async (tx, commit) => {
              await insertPageIds(tx, parent, [page.slug])
              await renamePages(tx, parent, moves)
              const ids = await insertPageIds(tx, parent, [slug])
              const after = recordedPage(ids, { slug, format, oid })
              const former = { ...recordedPage(ids, page), id: after.id }
              if (!isSame) await recordPage(tx, parent, commit, 'updated', { before: former, after })
              return withContent(shownPage(parent, { slug, format }, after.id), content)
            },
          }
        })
      },
    ),

    remove: steps(
      { name: `remove${noun}`, input: wikiPageInput, ...writes, permission: 'remove_wiki' },
      async (context, { slug }): Promise<void> => {
        const { subject: parent } = context
        const author = await authorOf(context)
        await changeWiki(context, parent, author, async (draft) => {
          const page = await requirePage(draft, slug)
          await removePage(draft, page)
          return {
            message: messageOf(author, 'deleted', page.slug),
            storeRows: async (tx, commit) => {
              const before = recordedPage(await insertPageIds(tx, parent, [page.slug]), page)
              await deletePages(tx, [before.id])
              await recordPage(tx, parent, commit, 'removed', { before })
            },
          }
        }).catch(failedRemoval)
      },
    ),
  }
}

export const groupWikis = wikiOperations('group')
export const projectWikis = wikiOperations('project')

async function listPages(
  context: OnWiki,
  { withContent: hasContent }: { readonly withContent: boolean },
): Promise<(WikiPage | WikiPageWithContent)[]> {
  const { core, subject: parent } = context
  const wiki = await openWiki(core, parent)
  if (wiki === undefined) return []
  const pages = await pagesOf(wiki.repository, wiki.head.tree)
  const ids = await idsOfPages(
    context,
    parent,
    pages.map(({ slug }) => slug),
    context.write,
  )
  const shown = pages.map((page) => shownPage(parent, page, ids.get(page.slug)))
  if (!hasContent) return shown
  const texts = await textsOf(wiki.repository, pages)
  return shown.map((page, index) => withContent(page, texts[index]!))
}

/** As on GitLab, a page that cannot be removed now is `impossible`, whatever the reason. @throws */
function failedRemoval(error: unknown): never {
  const code = error instanceof DomainError ? error.failure.code : undefined
  const reason = code === undefined ? undefined : removalFailures[code]
  throw reason === undefined ? error : new DomainError({ code: 'impossible', message: reason }, { cause: error })
}

const removalFailures: Readonly<Partial<Record<DomainError['failure']['code'], string>>> = {
  conflict: 'The wiki is being changed by others. Try again later.',
  storage_full: 'The wiki has no space left, which the commit of a removal needs too.',
}

const authorOf = (context: CallContext & ReadContext): Promise<User> => getUser(context, context.actor!.id)

const messageOf = ({ username }: User, what: string, slug: string): string =>
  `${username} ${what} page: ${titleOfSlug(slug)}`

type PageBlob = Omit<PageEntry, 'path'>

/** @param ids the ids of pages by slug, with that of the page */
const recordedPage = (ids: ReadonlyMap<string, number>, { slug, format, oid }: PageBlob): RecordedWikiPage => ({
  ...{ id: ids.get(slug)!, slug, title: titleOfSlug(slug), format, contentId: oid },
})

type PageChange =
  | { readonly before: RecordedWikiPage; readonly after?: RecordedWikiPage }
  | { readonly before?: undefined; readonly after: RecordedWikiPage }

/** Records a change with the id of its commit, in which the content can be read. */
function recordPage(tx: Tx, parent: Subject, { version }: WikiCommit, what: string, change: PageChange): Promise<void> {
  const { slug, title, format } = (change.after ?? change.before)!
  const details = { slug, title, format, version }
  return recordChange(tx, wikiPageEvents, what, { ...change, ...parentIds(parent), details })
}
