import fs from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import git from 'isomorphic-git'
import { type DurableFiles, readOnlyFiles, syncDirectory } from './git-files.ts'
import {
  type CommitHeader,
  type CommitObject,
  commitBytes,
  commitHeaderOf,
  commitOf,
  type TagObject,
  type TreeEntry,
  tagBytes,
  tagOf,
  treeBytes,
  treeOf,
} from './git-object.ts'
import { sizeOfLooseBlob } from './loose-object.ts'
import type { RepositoryStorage } from './repository-storage.ts'

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag'

const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/**
 * The objects of a bare repository, for the length of one operation. Objects never change, so that whoever reads needs no
 * lock.
 */
export class GitRepository {
  readonly gitdir: string
  /** Of isomorphic-git: indexes of packs. */
  readonly #cache = {}

  constructor(gitdir: string) {
    this.gitdir = gitdir
  }

  /** `undefined`: no such object. */
  async find(oid: string): Promise<{ type: ObjectType; bytes: Uint8Array } | undefined> {
    try {
      const read = { fs: readOnlyFiles, gitdir: this.gitdir, cache: this.#cache, oid, format: 'content' } as const
      const { type, object } = await git.readObject(read)
      return { type: type as ObjectType, bytes: object as Uint8Array }
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  async commit(oid: string): Promise<CommitObject> {
    return commitOf(await this.#get(oid, 'commit'))
  }

  async commitHeader(oid: string): Promise<CommitHeader> {
    return commitHeaderOf(await this.#get(oid, 'commit'))
  }

  async tree(oid: string): Promise<TreeEntry[]> {
    return oid === EMPTY_TREE ? [] : treeOf(await this.#get(oid, 'tree'))
  }

  async blob(oid: string): Promise<Uint8Array> {
    return this.#get(oid, 'blob')
  }

  /** Of one that lies in a file of its own, no more than the beginning is read. */
  async blobSize(oid: string): Promise<number> {
    return (await sizeOfLooseBlob(this.gitdir, oid)) ?? (await this.blob(oid)).length
  }

  async tag(oid: string): Promise<TagObject> {
    return tagOf(await this.#get(oid, 'tag'))
  }

  /** The commit that an object is or, by way of tags, names; `undefined` when there is none. */
  async commitNamedBy(oid: string): Promise<string | undefined> {
    for (let at = oid, hops = 0; hops < 10; hops += 1) {
      const found = await this.find(at)
      if (found?.type === 'commit') return at
      if (found?.type !== 'tag') return undefined
      at = tagOf(found.bytes).target
    }
    return undefined
  }

  /** The one object whose id begins so. */
  async expand(prefix: string): Promise<string | undefined> {
    try {
      return await git.expandOid({ fs: readOnlyFiles, gitdir: this.gitdir, cache: this.#cache, oid: prefix })
    } catch (error) {
      if (isNotFound(error) || (error as { code?: string }).code === 'AmbiguousError') return undefined
      throw error
    }
  }

  async #get(oid: string, type: ObjectType): Promise<Uint8Array> {
    const found = await this.find(oid)
    if (found?.type !== type) throw new Error(`A damaged repository: ${oid} should be a ${type}`)
    return found.bytes
  }
}

/** A repository that its one writer holds. @see changeRepository */
export class WritableRepository extends GitRepository {
  readonly files: DurableFiles
  readonly #storage: RepositoryStorage

  constructor(gitdir: string, files: DurableFiles, storage: RepositoryStorage) {
    super(gitdir)
    this.files = files
    this.#storage = storage
  }

  /**
   * Counts the objects written so far, before a reference makes them part of the repository.
   * @throws DomainError `storage_full`
   */
  async chargeObjects(): Promise<void> {
    await this.#storage.charge(this.files.newObjectBytes)
    this.files.keepObjects()
  }

  writeCommit = (commit: CommitObject): Promise<string> => this.#write('commit', commitBytes(commit))
  writeTag = (tag: TagObject): Promise<string> => this.#write('tag', tagBytes(tag))
  writeTree = (entries: readonly TreeEntry[]): Promise<string> => this.#write('tree', treeBytes(entries))
  writeBlob = (bytes: Uint8Array): Promise<string> => this.#write('blob', bytes)

  async #write(type: ObjectType, object: Uint8Array): Promise<string> {
    this.#storage.requireRoom()
    return git.writeObject({ fs: this.files.client, gitdir: this.gitdir, type, object, format: 'content' })
  }
}

export async function repositoryExists(gitdir: string): Promise<boolean> {
  return stat(gitdir).then(
    (found) => found.isDirectory(),
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )
}

/** What is being made into the repository. */
export const unfinishedOf = (gitdir: string): string => `${gitdir}.new`

/** Makes an empty bare repository, wholly or not at all. @param token of the lock, which its caller holds */
export async function createRepository(gitdir: string, defaultBranch: string, token: string): Promise<void> {
  // In a directory of its own: who held the lock before, and does not know yet that it is gone, finds theirs removed.
  const unfinished = join(unfinishedOf(gitdir), token)
  await rm(unfinishedOf(gitdir), { recursive: true, force: true, maxRetries: 3 })
  await mkdir(unfinished, { recursive: true })
  await git.init({ fs, gitdir: unfinished, bare: true, defaultBranch })
  for (const directory of ['', 'objects', 'refs', 'refs/heads', 'refs/tags'])
    await syncDirectory(join(unfinished, directory))
  await rename(unfinished, gitdir)
  await rm(unfinishedOf(gitdir), { recursive: true })
  await syncDirectory(dirname(gitdir))
}

const isNotFound = (error: unknown): boolean => (error as { code?: string }).code === 'NotFoundError'
