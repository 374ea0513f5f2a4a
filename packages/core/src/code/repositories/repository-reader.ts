import { countCommits } from '../../base/git/commit-count.ts'
import { changesOfCommit } from '../../base/git/commit-diff.ts'
import { statsOf } from '../../base/git/commit-stats.ts'
import { modes, type TreeEntry } from '../../base/git/git-object.ts'
import { listReferences, type RefKind } from '../../base/git/git-reference.ts'
import { entryAt, type HistoryFilter, history, lastChange } from '../../base/git/history.ts'
import { segmentsOf } from '../../base/git/repository-path.ts'
import type { Project } from '../../base/model/project.ts'
import type { Core } from '../../base/operations/context.ts'
import { type ListedCommit, listedCommitOf } from './commit.ts'
import { type LanguageShare, languageOf, sharesOf } from './languages.ts'
import { matchesWildcard } from './name-search.ts'
import { findProjectRepository, type ProjectRepository } from './project-repository.ts'
import { flatPathOf, type RepositoryTreeEntry, treeEntriesAt } from './tree-entries.ts'

/** A file of a repository. Size and content are read on demand, the content only once. */
export interface FileOfRepository {
  readonly project: Project
  readonly path: string
  readonly name: string
  /** The requested ref, or the default branch. */
  readonly ref: string
  readonly blobSha: string
  /** The commit of the ref. */
  readonly commitSha: string
  /** The mode as six digits. */
  readonly mode: string
  size(): Promise<number>
  bytes(): Promise<Uint8Array>
}

/** The size of a commit's changes against its first parent. */
export interface CommitSummary {
  readonly additions: number
  readonly deletions: number
  readonly fileCount: number
}

/** Selects a branch, tag or commit; default: the default branch. */
interface RefSelector {
  readonly ref?: string | null | undefined
  readonly refKind?: RefKind | null | undefined
}

interface TreeSelector extends RefSelector {
  readonly path?: string | null | undefined
  /** Includes the entries of all directories below. */
  readonly recursive?: boolean | null | undefined
}

export interface CommitSelector extends RefSelector, Omit<HistoryFilter, 'segments'> {
  /** Limits the commits to those that changed this file or directory. */
  readonly path?: string | null | undefined
}

/** A directory at a commit. */
export interface RepositoryTree {
  readonly project: Project
  readonly path: string
  /** The requested ref, or the default branch. */
  readonly ref: string
  readonly sha: string
  /** Directories first, then files, then submodules, each by path. */
  readonly entries: readonly RepositoryTreeEntry[]
  /** Returns the path of an entry; of a directory, extended while its only content is another directory. */
  flatPathOf(entry: RepositoryTreeEntry): Promise<string>
}

export interface EntryOfTree extends RepositoryTreeEntry {
  readonly tree: RepositoryTree
}

/** Reads the repository of a project during one request. */
export class RepositoryReader {
  readonly project: Project
  /** `undefined` if nothing has been committed yet. */
  readonly #repository: ProjectRepository | undefined
  #tagsByCommit: Promise<Map<string, string[]>> | undefined

  static async open(core: Core, project: Project): Promise<RepositoryReader> {
    return new RepositoryReader(project, await findProjectRepository(core, project))
  }

  private constructor(project: Project, repository: ProjectRepository | undefined) {
    this.project = project
    this.#repository = repository
  }

  /** The content, for readers that have found a commit or a tag in it. */
  get #git(): ProjectRepository['git'] {
    return this.#repository!.git
  }

  get exists(): boolean {
    return this.#repository !== undefined
  }

  get defaultBranch(): string | undefined {
    return this.#repository?.defaultBranch ?? this.project.defaultBranch
  }

  async count(kind: RefKind): Promise<number> {
    return this.#repository === undefined ? 0 : (await listReferences(this.#repository.git, kind)).length
  }

  /** Counts the commits of the default branch, up to `MAX_SEARCHED`. */
  async countCommits(): Promise<number> {
    const tip = await this.#repository?.findCommit(undefined)
    return tip === undefined ? 0 : countCommits(this.#git, tip)
  }

  async commitAt(selector: RefSelector): Promise<ListedCommit | undefined> {
    const oid = await this.#find(selector)
    return oid === undefined ? undefined : this.#commit(oid)
  }

  /** Returns the last commit that changed the path, or the last of all without a path. */
  async lastCommit({ path, ...selector }: RefSelector & { readonly path?: string | null | undefined }) {
    const tip = await this.#find(selector)
    if (tip === undefined || !path) return tip === undefined ? undefined : this.#commit(tip)
    const segments = segmentsOf(path.replace(/\/$/, ''))
    const git = this.#git
    if (segments === undefined || (await entryAt(git, (await git.commit(tip)).tree, segments)) === undefined)
      return undefined
    const commit = await lastChange(git, tip, segments)
    return commit && listedCommitOf(this.project, commit)
  }

  /** Returns the files at the given paths, in the order of the paths. Paths without a file are left out. */
  async filesAt({
    paths,
    ...selector
  }: RefSelector & { readonly paths: readonly string[] }): Promise<FileOfRepository[]> {
    const tip = await this.#find(selector)
    if (tip === undefined) return []
    const git = this.#git
    const { tree } = await git.commit(tip)
    const known = new Map<string, Promise<readonly TreeEntry[]>>()
    const trees = {
      tree(oid: string) {
        const entries = known.get(oid) ?? git.tree(oid)
        known.set(oid, entries)
        return entries
      },
    }
    const ref = selector.ref ?? this.defaultBranch ?? 'HEAD'
    const files: FileOfRepository[] = []
    for (const path of paths) {
      const segments = segmentsOf(path)
      const entry = segments && (await entryAt(trees, tree, segments))
      if (entry && isFile(entry)) files.push(this.#file(segments.join('/'), entry, { ref, tip }))
    }
    return files
  }

  /** Returns the entries of a directory, or `undefined` if the ref or the directory does not exist. */
  async tree({ path, recursive, ...selector }: TreeSelector): Promise<RepositoryTree | undefined> {
    const tip = await this.#find(selector)
    if (tip === undefined) return undefined
    const git = this.#git
    const entries = await treeEntriesAt(git, tip, path ?? '', recursive === true)
    if (entries === undefined) return undefined
    return {
      project: this.project,
      path: path ?? '',
      ref: selector.ref ?? this.defaultBranch ?? 'HEAD',
      sha: tip,
      entries,
      flatPathOf: (entry) => flatPathOf(git, entry),
    }
  }

  /**
   * Returns the names of the branches that match a pattern, in their order. `*` in the pattern matches any
   * characters.
   */
  async branchNames(pattern: string, offset: number, limit: number): Promise<string[]> {
    const all = this.#repository === undefined ? [] : await listReferences(this.#repository.git, 'heads')
    return all
      .map(({ name }) => name)
      .filter((name) => matchesWildcard(pattern, name))
      .slice(offset, offset + limit)
  }

  /**
   * Returns the languages of the default branch; in a larger tree, only the first `MAX_MEASURED_FILES` source files
   * count.
   */
  async languages(): Promise<LanguageShare[]> {
    const { entries = [] } = (await this.tree({ recursive: true })) ?? {}
    const files = entries.filter(({ name, mode }) => isRegular(mode) && languageOf(name) !== undefined)
    const sizes: [string, number][] = []
    for (const { name, sha } of files.slice(0, MAX_MEASURED_FILES)) {
      sizes.push([name, await this.#git.blobSize(sha)])
    }
    return sharesOf(sizes)
  }

  /** Yields the commits of a ref, newest first. */
  async *commits({ ref, refKind, path, ...filter }: CommitSelector): AsyncGenerator<ListedCommit> {
    const tip = await this.#find({ ref, refKind })
    const segments = path ? segmentsOf(path.replace(/\/$/, '')) : undefined
    if (tip === undefined || (path && segments === undefined)) return
    const git = this.#git
    for await (const commit of history(git, [tip], { segments, ...filter })) yield listedCommitOf(this.project, commit)
  }

  /** Returns the names of the tags that refer to the commit. */
  async tagsOf(sha: string): Promise<readonly string[]> {
    this.#tagsByCommit ??= this.#allTags()
    return (await this.#tagsByCommit).get(sha) ?? []
  }

  /** Returns the summaries by commit id, without commits that are too large to count. */
  async summariesOf(core: Core, shas: readonly string[]): Promise<Map<string, CommitSummary>> {
    const summaries = new Map<string, CommitSummary>()
    const { git } = this.#repository ?? {}
    if (git === undefined) return summaries
    const stats = await statsOf(core, git, shas)
    for (const [index, sha] of shas.entries()) {
      const counted = stats[index]
      if (counted === undefined) continue
      const { additions, deletions } = counted
      summaries.set(sha, { additions, deletions, fileCount: (await changesOfCommit(git, sha)).length })
    }
    return summaries
  }

  async #allTags(): Promise<Map<string, string[]>> {
    const names = new Map<string, string[]>()
    const { git } = this.#repository ?? {}
    for (const { name, oid } of git === undefined ? [] : await listReferences(git, 'tags')) {
      const sha = await this.#git.commitNamedBy(oid)
      if (sha !== undefined) names.set(sha, [...(names.get(sha) ?? []), name])
    }
    return names
  }

  async #find({ ref, refKind }: RefSelector): Promise<string | undefined> {
    const name = ref || undefined
    return this.#repository?.findCommit(name !== undefined && refKind ? `refs/${refKind}/${name}` : name)
  }

  async #commit(oid: string): Promise<ListedCommit> {
    const git = this.#git
    return listedCommitOf(this.project, { oid, ...(await git.commitHeader(oid)) })
  }

  #file(
    path: string,
    { name, mode, oid }: TreeEntry,
    { ref, tip }: { readonly ref: string; readonly tip: string },
  ): FileOfRepository {
    const git = this.#git
    let bytes: Promise<Uint8Array> | undefined
    return {
      project: this.project,
      path,
      name,
      ref,
      blobSha: oid,
      commitSha: tip,
      mode,
      size: () => git.blobSize(oid),
      bytes() {
        bytes ??= git.blob(oid)
        return bytes
      },
    }
  }
}

/** The maximum number of files that are measured. Each of them is opened to read its size. */
const MAX_MEASURED_FILES = 1_000

/** Returns whether the mode is that of a file, not of a symbolic link. */
const isRegular = (mode: string): boolean => mode.startsWith('100')

const isFile = ({ mode }: TreeEntry): boolean => mode !== modes.tree && mode !== modes.submodule
