import { modes, type TreeEntry } from './git-object.ts'
import type { GitRepository, WritableRepository } from './git-repository.ts'

export interface FileEntry {
  readonly oid: string
  readonly isExecutable: boolean
}

/**
 * A directory that is changed in memory. Subdirectories are read on demand, and unchanged objects are not written
 * again. Empty directories are dropped, as in Git.
 */
export class TreeDraft {
  readonly #repository: GitRepository
  readonly #entries: Map<string, TreeEntry | TreeDraft>

  private constructor(repository: GitRepository, entries: readonly TreeEntry[]) {
    this.#repository = repository
    this.#entries = new Map(entries.map((entry) => [entry.name, entry]))
  }

  /** @param oid the id of a tree, or `undefined` to start empty */
  static async of(repository: GitRepository, oid: string | undefined): Promise<TreeDraft> {
    return new TreeDraft(repository, oid === undefined ? [] : await repository.tree(oid))
  }

  /** Returns the file at a path, or `directory` for a directory and any other entry that is not a file. */
  async find(segments: readonly string[]): Promise<FileEntry | 'directory' | undefined> {
    const [name, ...below] = segments as [string, ...string[]]
    if (below.length > 0) return (await this.#directory(name))?.find(below)
    const entry = this.#entries.get(name)
    if (entry === undefined) return undefined
    if (entry instanceof TreeDraft || !isFile(entry)) return 'directory'
    return { oid: entry.oid, isExecutable: entry.mode === modes.executable }
  }

  /**
   * Adds or replaces a file. Returns false if a directory has its name, or a file has the name of one of its
   * directories.
   */
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

  /** Removes an existing file. */
  async remove(segments: readonly string[]): Promise<void> {
    const [name, ...below] = segments as [string, ...string[]]
    const directory = below.length > 0 ? await this.#directory(name) : undefined
    await directory?.remove(below)
    if (directory === undefined || directory.#entries.size === 0) this.#entries.delete(name)
  }

  /** Writes the tree and returns its id. */
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

export const isFile = ({ mode }: TreeEntry): boolean => mode === modes.file || mode === modes.executable
