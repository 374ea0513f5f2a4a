import { modes, type TreeEntry } from './git-object.ts'
import type { GitRepository, WritableRepository } from './git-repository.ts'

export interface FileEntry {
  readonly oid: string
  readonly isExecutable: boolean
}

/**
 * A directory being changed in memory: what is below is read when it is asked for, and an object that is there already is not written again.
 * A directory without entries ends, as in Git.
 */
export class TreeDraft {
  readonly #repository: GitRepository
  readonly #entries: Map<string, TreeEntry | TreeDraft>

  private constructor(repository: GitRepository, entries: readonly TreeEntry[]) {
    this.#repository = repository
    this.#entries = new Map(entries.map((entry) => [entry.name, entry]))
  }

  /** @param oid of a tree; without one it begins empty */
  static async of(repository: GitRepository, oid: string | undefined): Promise<TreeDraft> {
    return new TreeDraft(repository, oid === undefined ? [] : await repository.tree(oid))
  }

  /** `directory`: there is one of that name, or something that is no file. */
  async find(segments: readonly string[]): Promise<FileEntry | 'directory' | undefined> {
    const [name, ...below] = segments as [string, ...string[]]
    if (below.length > 0) return (await this.#directory(name))?.find(below)
    const entry = this.#entries.get(name)
    if (entry === undefined) return undefined
    if (entry instanceof TreeDraft || !isFile(entry)) return 'directory'
    return { oid: entry.oid, isExecutable: entry.mode === modes.executable }
  }

  /** In place of a file of that name. `false`: a directory has the name, or a file has one of its directory's. */
  async put(segments: readonly string[], { oid, isExecutable }: FileEntry): Promise<boolean> {
    const [name, ...below] = segments as [string, ...string[]]
    if (below.length === 0) {
      const former = this.#entries.get(name)
      if (former instanceof TreeDraft || (former && !isFile(former))) return false
      this.#entries.set(name, { name, oid, mode: isExecutable ? modes.executable : modes.file })
    } else {
      const directory =
        (await this.#directory(name)) ?? (this.#entries.has(name) ? undefined : new TreeDraft(this.#repository, []))
      if (directory === undefined || !(await directory.put(below, { oid, isExecutable }))) return false
      this.#entries.set(name, directory)
    }
    return true
  }

  /** A file that is there. */
  async remove(segments: readonly string[]): Promise<void> {
    const [name, ...below] = segments as [string, ...string[]]
    const directory = below.length > 0 ? await this.#directory(name) : undefined
    await directory?.remove(below)
    if (directory === undefined || directory.#entries.size === 0) this.#entries.delete(name)
  }

  /** The id of the tree. */
  async write(repository: WritableRepository): Promise<string> {
    const entries: TreeEntry[] = []
    for (const [name, entry] of this.#entries) {
      if (!(entry instanceof TreeDraft)) entries.push(entry)
      else entries.push({ name, mode: modes.tree, oid: await entry.write(repository) })
    }
    return repository.writeTree(entries)
  }

  async #directory(name: string): Promise<TreeDraft | undefined> {
    const entry = this.#entries.get(name)
    if (entry === undefined || entry instanceof TreeDraft) return entry
    if (entry.mode !== modes.tree) return undefined
    const directory = await TreeDraft.of(this.#repository, entry.oid)
    this.#entries.set(name, directory)
    return directory
  }
}

const isFile = ({ mode }: TreeEntry): boolean => mode === modes.file || mode === modes.executable
