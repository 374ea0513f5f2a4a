import { changesOfCommit } from '../../base/git/commit-diff.ts'
import type { CommitObject } from '../../base/git/git-object.ts'
import { findReference, headBranch } from '../../base/git/git-reference.ts'
import type { GitRepository } from '../../base/git/git-repository.ts'
import { entryAt, type HistoryCommit } from '../../base/git/history.ts'
import { pushedCommits } from '../../base/git/pushed-commits.ts'
import { findRepository } from '../../base/git/repository-directory.ts'
import type { Project } from '../../base/model/project.ts'
import type { Core } from '../../base/operations/context.ts'
import { findProjectRepository } from '../../code/repositories/project-repository.ts'
import { openWiki } from '../../work/wikis/change-wiki.ts'
import type { WikiPage } from '../../work/wikis/wiki-page.ts'
import { titleOfSlug } from '../../work/wikis/wiki-slug.ts'
import { findText, pagesOf } from '../../work/wikis/wiki-tree.ts'

/** The paths that a commit changes. */
export interface ChangedPaths {
  readonly added: readonly string[]
  readonly modified: readonly string[]
  readonly removed: readonly string[]
}

/** The limit of a file that a payload contains. */
const MAX_CONTENT_BYTES = 1024 * 1024

const noPaths: ChangedPaths = { added: [], modified: [], removed: [] }

/** Returns the paths that each commit changes, in input order. A commit that does not exist any more changes none. */
export async function readChangedPaths(
  core: Core,
  project: Project,
  oids: readonly string[],
): Promise<readonly ChangedPaths[]> {
  const git = (await findProjectRepository(core, project))?.git
  const all: ChangedPaths[] = []
  for (const oid of oids) all.push(git !== undefined && (await isCommit(git, oid)) ? await pathsOf(git, oid) : noPaths)
  return all
}

async function pathsOf(git: GitRepository, oid: string): Promise<ChangedPaths> {
  const changes = await changesOfCommit(git, oid)
  const isMove = ({ oldPath, newPath }: { readonly oldPath: string; readonly newPath: string }) => oldPath !== newPath
  return {
    added: changes.filter((each) => each.before === undefined || isMove(each)).map(({ newPath }) => newPath),
    modified: changes
      .filter((each) => each.before !== undefined && each.after !== undefined && !isMove(each))
      .map(({ newPath }) => newPath),
    removed: changes.filter((each) => each.after === undefined || isMove(each)).map(({ oldPath }) => oldPath),
  }
}

export const isCommit = async (git: GitRepository, oid: string): Promise<boolean> =>
  (await git.find(oid))?.type === 'commit'

/** Returns a commit, or `undefined` if it does not exist any more. */
export async function readHookCommit(core: Core, project: Project, oid: string): Promise<HistoryCommit | undefined> {
  const git = (await findProjectRepository(core, project))?.git
  return git !== undefined && (await isCommit(git, oid)) ? { oid, ...(await git.commit(oid)) } : undefined
}

/** Returns the commit that a tag refers to, and the message of an annotated tag. */
export async function readHookTag(
  core: Core,
  project: Project,
  oid: string,
): Promise<{ readonly commit: string | undefined; readonly message: string | undefined }> {
  const git = (await findProjectRepository(core, project))?.git
  const object = await git?.find(oid)
  if (git === undefined || object === undefined) return { commit: undefined, message: undefined }
  const message = object.type === 'tag' ? (await git.tag(oid)).message.trimEnd() : undefined
  return { commit: await git.commitNamedBy(oid), message }
}

/** The newest commits of the default branch, as a push that created the branch would report them. */
export async function readNewestCommits(
  core: Core,
  project: Project,
): Promise<
  { readonly branch: string; readonly commits: readonly HistoryCommit[]; readonly total: number } | undefined
> {
  const repository = await findProjectRepository(core, project)
  const after = await repository?.findCommit(undefined)
  if (repository?.defaultBranch === undefined || after === undefined) return undefined
  const pushed = await pushedCommits(repository.git, { before: undefined, after })
  return { branch: repository.defaultBranch, ...pushed }
}

/** Returns the content of a snippet's file; '' if it does not exist any more or is too large. */
export async function readSnippetContent(core: Core, snippetId: number, path: string): Promise<string> {
  const git = await findRepository(core, { kind: 'snippet', id: snippetId })
  const branch = git && (await headBranch(git))
  const head = branch === undefined ? undefined : await findReference(git!, 'heads', branch)
  if (git === undefined || head === undefined) return ''
  const entry = await entryAt(git, (await git.commitHeader(head)).tree, path.split('/'))
  if (entry === undefined || (await git.blobSize(entry.oid)) > MAX_CONTENT_BYTES) return ''
  return Buffer.from(await git.blob(entry.oid)).toString()
}

/** The newest state of the first page of a project's wiki; `undefined` if the wiki is disabled or has no pages. */
export async function readFirstWikiPage(
  core: Core,
  project: Project,
): Promise<(Pick<WikiPage, 'slug' | 'title' | 'format'> & { readonly version: string }) | undefined> {
  const wiki = project.features.wiki === 'disabled' ? undefined : await openWiki(core, project)
  const [page] = wiki === undefined ? [] : await pagesOf(wiki.repository, wiki.head.tree)
  if (page === undefined) return undefined
  const { slug, format } = page
  return { slug, title: titleOfSlug(slug), format, version: wiki!.head.tip! }
}

/**
 * Returns the content of a wiki page as of a commit, with the commit itself. If the commit removed the page, its last content
 * is returned.
 */
export async function readHookWikiPage(
  core: Core,
  project: Project,
  { slug, version }: { readonly slug: string; readonly version: string },
): Promise<{ readonly content: string | undefined; readonly commit: CommitObject | undefined }> {
  const repository = (await openWiki(core, project))?.repository
  if (repository === undefined || !(await isCommit(repository, version))) {
    return { content: undefined, commit: undefined }
  }
  const commit = await repository.commit(version)
  const page = (await findPageIn(repository, version, slug)) ?? (await findPageIn(repository, commit.parents[0], slug))
  return { content: page && (await findText(repository, page)), commit }
}

async function findPageIn(repository: GitRepository, commit: string | undefined, slug: string) {
  if (commit === undefined) return undefined
  const pages = await pagesOf(repository, (await repository.commitHeader(commit)).tree)
  return pages.find((each) => each.slug === slug)
}
