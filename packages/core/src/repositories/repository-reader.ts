import type { Core } from '../kit/context.ts'
import type { Project } from '../projects/project.ts'
import { type ListedCommit, listedCommitOf } from './commit.ts'
import { countCommits } from './commit-count.ts'
import { changesOfCommit } from './commit-diff.ts'
import { statsOf } from './commit-stats.ts'
import { modes, type TreeEntry } from './git-object.ts'
import { listReferences, type RefKind } from './git-reference.ts'
import { entryAt, lastChange } from './history.ts'
import { findProjectRepository, type ProjectRepository } from './project-repository.ts'
import { segmentsOf } from './repository-path.ts'

/** A file of a repository. Its size and its content are read when they are asked for, the content once. */
export interface FileOfRepository {
  readonly project: Project
  readonly path: string
  readonly name: string
  /** As asked for, or the default branch. */
  readonly ref: string
  readonly blobSha: string
  /** Six digits. */
  readonly mode: string
  size(): Promise<number>
  bytes(): Promise<Uint8Array>
}

/** What a commit changed against its first parent. */
export interface CommitSummary {
  readonly additions: number
  readonly deletions: number
  readonly fileCount: number
}

/** Where to look: a branch, tag or commit. Without it, the default branch. */
export interface RefAsked {
  readonly ref?: string | null | undefined
  readonly refKind?: RefKind | null | undefined
}

/** The repository of a project, for what one request reads of it. */
export class RepositoryReader {
  readonly project: Project
  /** `undefined`: nothing has been committed yet. */
  readonly #repository: ProjectRepository | undefined
  #tagsByCommit: Promise<Map<string, string[]>> | undefined

  static async open(core: Core, project: Project): Promise<RepositoryReader> {
    return new RepositoryReader(project, await findProjectRepository(core, project))
  }

  private constructor(project: Project, repository: ProjectRepository | undefined) {
    this.project = project
    this.#repository = repository
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

  /** Those of the default branch, up to `MAX_SEARCHED`. */
  async countCommits(): Promise<number> {
    const tip = await this.#repository?.findCommit(undefined)
    return tip === undefined ? 0 : countCommits(this.#repository!.git, tip)
  }

  async commitAt(asked: RefAsked): Promise<ListedCommit | undefined> {
    const oid = await this.#find(asked)
    return oid === undefined ? undefined : this.#commit(oid)
  }

  /** The last one that changed what lies at the path, or the last of all. */
  async lastCommit({ path, ...asked }: RefAsked & { readonly path?: string | null | undefined }) {
    const tip = await this.#find(asked)
    if (tip === undefined || !path) return tip === undefined ? undefined : this.#commit(tip)
    const segments = segmentsOf(path.replace(/\/$/, ''))
    const { git } = this.#repository!
    if (segments === undefined || (await entryAt(git, (await git.commit(tip)).tree, segments)) === undefined)
      return undefined
    const commit = await lastChange(git, tip, segments)
    return commit && listedCommitOf(this.project, commit)
  }

  /** In the order of the paths; those at which there is no file are left out. */
  async filesAt({ paths, ...asked }: RefAsked & { readonly paths: readonly string[] }): Promise<FileOfRepository[]> {
    const tip = await this.#find(asked)
    if (tip === undefined) return []
    const { git } = this.#repository!
    const { tree } = await git.commit(tip)
    const known = new Map<string, Promise<TreeEntry[]>>()
    const trees = {
      tree(oid: string) {
        const entries = known.get(oid) ?? git.tree(oid)
        known.set(oid, entries)
        return entries
      },
    }
    const ref = asked.ref ?? this.defaultBranch ?? 'HEAD'
    const files: FileOfRepository[] = []
    for (const path of paths) {
      const segments = segmentsOf(path)
      const entry = segments && (await entryAt(trees, tree, segments))
      if (entry && isFile(entry)) files.push(this.#file(segments.join('/'), entry, ref))
    }
    return files
  }

  /** Names of the tags that mean the commit. */
  async tagsOf(sha: string): Promise<readonly string[]> {
    this.#tagsByCommit ??= this.#allTags()
    return (await this.#tagsByCommit).get(sha) ?? []
  }

  /** By id; what is too much to count is left out. */
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
      const sha = await git!.commitNamedBy(oid)
      if (sha !== undefined) names.set(sha, [...(names.get(sha) ?? []), name])
    }
    return names
  }

  async #find({ ref, refKind }: RefAsked): Promise<string | undefined> {
    const name = ref || undefined
    return this.#repository?.findCommit(name !== undefined && refKind ? `refs/${refKind}/${name}` : name)
  }

  async #commit(oid: string): Promise<ListedCommit> {
    const { git } = this.#repository!
    return listedCommitOf(this.project, { oid, ...(await git.commitHeader(oid)) })
  }

  #file(path: string, { name, mode, oid }: TreeEntry, ref: string): FileOfRepository {
    const { git } = this.#repository!
    let bytes: Promise<Uint8Array> | undefined
    return {
      project: this.project,
      path,
      name,
      ref,
      blobSha: oid,
      mode,
      size: () => git.blobSize(oid),
      bytes() {
        bytes ??= git.blob(oid)
        return bytes
      },
    }
  }
}

const isFile = ({ mode }: TreeEntry): boolean => mode !== modes.tree && mode !== modes.submodule
