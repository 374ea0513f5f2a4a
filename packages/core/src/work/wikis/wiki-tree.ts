import { DEFAULT_BRANCH } from '../../base/git/change-repository.ts'
import { modes } from '../../base/git/git-object.ts'
import { findReference, headBranch } from '../../base/git/git-reference.ts'
import type { GitRepository } from '../../base/git/git-repository.ts'
import { DomainError } from '../../base/kit/domain-error.ts'
import { humanSize } from '../../base/kit/human-size.ts'
import { type PageFile, pageFileAt } from './wiki-slug.ts'

/** The limit of the pages of a wiki. */
export const MAX_PAGES = 10_000
/** The limits of a tree from elsewhere, which can refer to one directory many times. */
const MAX_ENTRIES = 100_000
const MAX_DEPTH = 100
/** The limit of a page that is read. A repository from elsewhere may have larger ones. */
const MAX_PAGE_BYTES = 32 * 1024 * 1024
/** The limit of all pages of a list with content. */
const MAX_LIST_BYTES = 64 * 1024 * 1024
/** The number of files that are read at a time. */
const READS_AT_A_TIME = 16

/** A page's file in a commit. */
export interface PageEntry extends PageFile {
  readonly oid: string
}

/** The head of a branch of a wiki. `tip` and `tree` are missing if nothing has been committed to it. */
export interface WikiHead {
  readonly branch: string
  readonly tip: string | undefined
  readonly tree: string | undefined
}

/** Returns the head of the default branch. */
export async function headOf(repository: GitRepository): Promise<WikiHead> {
  const branch = (await headBranch(repository)) ?? DEFAULT_BRANCH
  const tip = await findReference(repository, 'heads', branch)
  return { branch, tip, tree: tip && (await repository.commitHeader(tip)).tree }
}

/** Returns the pages of a tree by path, in the order of bytes. Symbolic links and submodules are ignored. */
export async function pagesOf(repository: GitRepository, tree: string | undefined): Promise<PageEntry[]> {
  const pages: PageEntry[] = []
  let entries = 0
  const visit = async (oid: string, directory: string, depth: number): Promise<void> => {
    for (const { name, mode, oid: entry } of await repository.tree(oid)) {
      entries += 1
      if (entries > MAX_ENTRIES || pages.length >= MAX_PAGES) return
      const path = directory + name
      if (mode === modes.tree) {
        if (depth < MAX_DEPTH) await visit(entry, `${path}/`, depth + 1)
      } else if (mode === modes.file || mode === modes.executable) {
        const page = pageFileAt(path)
        if (page !== undefined) pages.push({ ...page, oid: entry })
      }
    }
  }
  if (tree !== undefined) await visit(tree, '', 1)
  return pages
}

/** Returns the text of a page, or `undefined` for one that is too large. Bytes that are not UTF-8 are replaced. */
export async function findText(repository: GitRepository, { oid }: PageEntry): Promise<string | undefined> {
  if ((await repository.blobSize(oid)) > MAX_PAGE_BYTES) return undefined
  return Buffer.from(await repository.blob(oid)).toString()
}

/** Works like `findText`. @throws DomainError `impossible` for a page that is too large */
export async function textOf(repository: GitRepository, page: PageEntry): Promise<string> {
  const text = await findText(repository, page)
  if (text === undefined) throw tooLarge('The page has', MAX_PAGE_BYTES)
  return repository.admittedText(text)
}

/** Returns the texts of pages, in the order of the pages. @throws DomainError `impossible` if they are too long together */
export async function textsOf(repository: GitRepository, pages: readonly PageEntry[]): Promise<string[]> {
  let bytes = 0
  const texts: string[] = []
  for (let at = 0; at < pages.length; at += READS_AT_A_TIME) {
    const part = pages.slice(at, at + READS_AT_A_TIME)
    for (const size of await Promise.all(part.map(({ oid }) => repository.blobSize(oid)))) bytes += size
    if (bytes > MAX_LIST_BYTES) throw tooLarge('The pages together have', MAX_LIST_BYTES)
    texts.push(...(await Promise.all(part.map((page) => textOf(repository, page)))))
  }
  return texts
}

const tooLarge = (what: string, limitBytes: number): DomainError =>
  new DomainError({
    code: 'impossible',
    message: `${what} more than ${humanSize(limitBytes)}, which is too much for one response.`,
  })
