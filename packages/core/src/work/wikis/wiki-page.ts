import { z } from 'zod'
import { acrossParameters, problem } from '../../base/kit/parse-input.ts'
import { type ParentWithPath, parentWebPath } from '../../base/model/parent.ts'
import { comparedMembers, type RecordedKind } from '../../base/operations/record-change.ts'
import { parentInput } from '../../identity/parents/parent-operations.ts'
import type { FrontMatter } from './front-matter.ts'
import { wikiFormats } from './wiki-slug.ts'

/** A page of the wiki of a group or project. */
export interface WikiPage {
  /** Stays the same when the page moves. Missing for a former version of a page that has moved since. */
  readonly id: number | undefined
  readonly parent: ParentWithPath
  /** The path of the page, without the extension of its file. */
  readonly slug: string
  readonly title: string
  /** One of `wikiFormats`, or another one if the file was not created by this service. */
  readonly format: string
}

export interface WikiPageWithContent extends WikiPage {
  /** The text of the file, with its front matter. */
  readonly content: string
  readonly frontMatter: FrontMatter
}

/** Returns the path of the page's address below the external URL. */
export const wikiPageWebPath = ({ parent, slug }: Pick<WikiPage, 'parent' | 'slug'>): string =>
  `${parentWebPath(parent)}/-/wikis/${slug.split('/').map(encodeURIComponent).join('/')}`

/** The limit of a slug in a request: the slug of no file is longer. */
const slug = z.string().min(1).max(4_096)
const title = z.string()
const format = z.enum(wikiFormats)
const frontMatter = z.object({ title: z.string().max(1_024).nullish() }).nullish()

export const listWikiPagesInput = z.object({ ...parentInput, withContent: z.boolean().default(false) })
export const wikiPageInput = z.object({ ...parentInput, slug })
export const getWikiPageInput = z.object({
  ...parentInput,
  slug,
  /** The id of a commit, which may be abbreviated. */
  version: z.string().max(40).nullish(),
  renderHtml: z.boolean().default(false),
})
export const createWikiPageInput = z.object({
  ...parentInput,
  title,
  content: z.string(),
  format: format.default('markdown'),
  frontMatter,
})
export const updateWikiPageInput = z
  .object({
    ...parentInput,
    slug,
    content: z.string().nullish(),
    title: title.nullish(),
    format: format.nullish(),
    frontMatter,
  })
  .superRefine((input, context) => {
    if (input.content == null && input.title == null)
      context.addIssue(problem('at_least_one', { names: ['content', 'title'] }))
  }, acrossParameters)

/** A page as events compare it: by the blob of its content, because the content may have many megabytes. */
export interface RecordedWikiPage extends Pick<WikiPage, 'slug' | 'title' | 'format'> {
  readonly id: number
  /** The id of the blob in the repository. */
  readonly contentId: string
}

export const wikiPageEvents: RecordedKind<RecordedWikiPage> = {
  noun: 'wiki_page',
  compared: comparedMembers<RecordedWikiPage>()('slug', 'title', 'format', 'contentId'),
}
