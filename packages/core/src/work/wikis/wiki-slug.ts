import { segmentsOf } from '../../base/git/repository-path.ts'
import { invalid } from '../../base/kit/domain-error.ts'
import { errorTexts } from '../../base/kit/error-texts.ts'

// Slugs, titles and file names of wiki pages. The slug is the path of the page's file without its extension.

/** The formats that a client can choose. */
export const wikiFormats = ['markdown', 'rdoc', 'asciidoc', 'org'] as const
type WikiFormat = (typeof wikiFormats)[number]

const extensions: Readonly<Record<WikiFormat, string>> = {
  markdown: 'md',
  rdoc: 'rdoc',
  asciidoc: 'asciidoc',
  org: 'org',
}

/** The formats of files by their extension. A repository from elsewhere may have formats that a client cannot choose. */
const formatOfExtension: ReadonlyMap<string, string> = new Map(
  Object.entries({
    md: 'markdown',
    markdown: 'markdown',
    mkd: 'markdown',
    rdoc: 'rdoc',
    asciidoc: 'asciidoc',
    adoc: 'asciidoc',
    org: 'org',
    textile: 'textile',
    rst: 'rst',
    mediawiki: 'mediawiki',
    creole: 'creole',
    pod: 'pod',
    txt: 'plaintext',
  }),
)

const MAX_TITLE_BYTES = 245
const MAX_DIRECTORY_BYTES = 255

/** A file that is a page. */
export interface PageFile {
  readonly path: string
  readonly slug: string
  readonly format: string
}

/** Returns whether a path is in the directory of an attachment. Attachments that end like pages are no pages. */
export const isAttachment = (path: string): boolean => /^uploads\/[0-9a-f]{32}\//.test(path)

/** Returns the page in the file at a path, or `undefined` if it is another file. */
export function pageFileAt(path: string): PageFile | undefined {
  const [, slug, extension] = /^((?:.*\/)?[^/]+)\.([^./]+)$/s.exec(path) ?? []
  const format = formatOfExtension.get(extension?.toLowerCase() ?? '')
  return slug === undefined || format === undefined || isAttachment(path) ? undefined : { path, slug, format }
}

/** Returns the path of the file of a page. A page that keeps its format keeps its extension. */
export function pathOfPage(slug: string, format: string, former?: PageFile): string {
  if (former?.format === format) return slug + former.path.slice(former.slug.length)
  return `${slug}.${extensions[format as WikiFormat]}`
}

/** Returns the title that a slug represents: its last segment, with blanks for hyphens. */
export const titleOfSlug = (slug: string): string => slug.slice(slug.lastIndexOf('/') + 1).replaceAll('-', ' ')

/** Returns the directory of a slug with a slash at its end; empty for a page at the root. */
export const directoryOf = (slug: string): string => slug.slice(0, slug.lastIndexOf('/') + 1)

/** Returns the segments of a title, resolved as a path from the root, so that `..` leads nowhere else. */
function segmentsOfTitle(title: string): string[] {
  const segments: string[] = []
  for (const part of title.split('/')) {
    const segment = part.replace(/\s+/gu, ' ').trim()
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return segments
}

const slugOfSegments = (segments: readonly string[]): string => segments.join('/').replaceAll(' ', '-')

/**
 * Returns the slug of a page with a title. A title with slashes begins at the root, another one is that of a page in the
 * directory.
 *
 * @throws DomainError `invalid`
 */
export function slugOfTitle(title: string, directory = ''): string {
  const segments = segmentsOfTitle(title)
  if (segments.length === 0) throw invalid({ title: [errorTexts.blank] })
  const tooLong = [
    ...(Buffer.byteLength(segments.at(-1)!) > MAX_TITLE_BYTES ? [`exceeds the limit of ${MAX_TITLE_BYTES} bytes`] : []),
    ...segments
      .slice(0, -1)
      .filter((name) => Buffer.byteLength(name) > MAX_DIRECTORY_BYTES)
      .map((name) => `exceeds the limit of ${MAX_DIRECTORY_BYTES} bytes for directory name "${shortened(name)}"`),
  ]
  if (tooLong.length > 0) throw invalid({ title: tooLong })
  const slug = (title.includes('/') ? '' : directory) + slugOfSegments(segments)
  // The longest extension is the one that has to fit.
  if (segmentsOf(`${slug}.${extensions.asciidoc}`) === undefined || isAttachment(slug))
    throw invalid({ title: [errorTexts.invalid] })
  return slug
}

/** Limits a name in a message: it may have the length of a whole request. */
const shortened = (name: string): string => (name.length > 1_000 ? `${name.slice(0, 1_000)}…` : name)

/** Returns a text that is equal for slugs that differ only in letter case, and in blanks instead of hyphens. */
export const foldedSlug = (slug: string): string => slug.normalize('NFC').toLowerCase().replaceAll(' ', '-')

/**
 * Returns the page that a slug in a request means: also in other letter case, with the extension of its file, in the form of
 * a title, and encoded once more. An exact match comes first, because a repository from elsewhere may have several.
 */
export function findPage<Page extends PageFile>(pages: readonly Page[], slug: string): Page | undefined {
  const decoded = decodedSlug(slug)
  return findDecodedPage(pages, slug) ?? (decoded === slug ? undefined : findDecodedPage(pages, decoded))
}

function findDecodedPage<Page extends PageFile>(pages: readonly Page[], slug: string): Page | undefined {
  const exact = pages.find((page) => page.slug === slug) ?? pages.find(({ path }) => path === slug)
  if (exact !== undefined) return exact
  const wanted = slugOfSegments(segmentsOfTitle(slug))
  return findSameSlug(pages, wanted) ?? findSameSlug(pages, pageFileAt(wanted)?.slug)
}

/** Returns a slug without percent-encoding; the slug itself if it is not that of any text. */
function decodedSlug(slug: string): string {
  try {
    return decodeURIComponent(slug)
  } catch {
    return slug
  }
}

/** Returns the page with this slug, in any letter case. */
export function findSameSlug<Page extends PageFile>(
  pages: readonly Page[],
  slug: string | undefined,
): Page | undefined {
  if (slug === undefined) return undefined
  const wanted = foldedSlug(slug)
  return pages.find((page) => foldedSlug(page.slug) === wanted)
}

/** Returns the pages that a renamed page takes along: those in the directory with its name. */
export const pagesBelow = <Page extends PageFile>(pages: readonly Page[], slug: string): Page[] =>
  pages.filter((page) => page.slug.startsWith(`${slug}/`))
