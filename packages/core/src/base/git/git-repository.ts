import fs from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import type { ReadLimit } from '@penstock/db'
import type { Transaction } from 'kysely'
import type { CoreTables } from '../kit/tables.ts'
import { referenceSpace } from './file-space.ts'
import { allDone, type DurableFiles, readOnlyFiles, syncToDisk } from './git-files.ts'
import {
  type CommitHeader,
  type CommitObject,
  type CommitSignatureType,
  commitBytes,
  commitHeaderOf,
  commitOf,
  type ObjectType,
  signatureTypeOf,
  type TagObject,
  type TreeEntry,
  tagBytes,
  tagOf,
  treeBytes,
  treeOf,
} from './git-object.ts'
import { looseBlobParts, looseObjectPath, readLooseObject, sizeOfLooseBlob } from './loose-object.ts'
import type { ReferenceMove } from './reference-move.ts'
import type { RepositoryStorage } from './repository-storage.ts'
import { cachedTree } from './tree-cache.ts'

const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/**
 * Reads the objects of a bare repository during one operation. Objects never change, so that readers need no lock.
 */
export class GitRepository {
  readonly gitdir: string
  /** The cache of isomorphic-git, which contains indexes of packs. */
  readonly #cache = {}

  readonly #limit: ReadLimit | undefined

  /** @param limit on the messages that are read to be shown */
  constructor(gitdir: string, limit?: ReadLimit) {
    this.gitdir = gitdir
    this.#limit = limit
  }

  /** Returns the type and content of an object; `undefined` if it does not exist. */
  async find(oid: string): Promise<{ type: ObjectType; bytes: Uint8Array } | undefined> {
    const loose = await readLooseObject(this.objectPath(oid), oid)
    if (loose !== undefined) return loose
    try {
      const read = { fs: readOnlyFiles, gitdir: this.gitdir, cache: this.#cache, oid, format: 'content' } as const
      const git = await loadGit()
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

  /** Returns a commit for an answer. Its message counts to the limit of the request. */
  async shownCommit(oid: string): Promise<CommitObject> {
    return this.admitted(await this.commit(oid))
  }

  /** Returns the object with the message that the limit of the request admits. */
  admitted<Item extends { readonly message: string }>(object: Item): Item {
    return this.#limit === undefined ? object : { ...object, message: this.#limit.admit(object.message) }
  }

  /** Returns the text for an answer that the limit of the request admits. */
  admittedText(text: string): string {
    return this.#limit === undefined ? text : this.#limit.admit(text)
  }

  async commitHeader(oid: string): Promise<CommitHeader> {
    return commitHeaderOf(await this.#get(oid, 'commit'))
  }

  /** Returns the type of the signature of a commit, or `undefined` if it has none. */
  async signatureType(oid: string): Promise<CommitSignatureType | undefined> {
    return signatureTypeOf(await this.#get(oid, 'commit'))
  }

  async tree(oid: string): Promise<readonly TreeEntry[]> {
    if (oid === EMPTY_TREE) return []
    return cachedTree(this.gitdir, oid, async () => treeOf(await this.#get(oid, 'tree')))
  }

  async blob(oid: string): Promise<Uint8Array> {
    return this.#get(oid, 'blob')
  }

  /** Returns the size of a blob. Only the beginning of a loose object is read. */
  async blobSize(oid: string): Promise<number> {
    return (await sizeOfLooseBlob(this.objectPath(oid))) ?? (await this.blob(oid)).length
  }

  /** Returns the content of a blob in parts. A loose one is not held in memory. */
  async blobParts(oid: string): Promise<Readable> {
    const file = this.objectPath(oid)
    if ((await sizeOfLooseBlob(file)) !== undefined) return looseBlobParts(file)
    return Readable.from([await this.blob(oid)])
  }

  async tag(oid: string): Promise<TagObject> {
    return this.admitted(tagOf(await this.#get(oid, 'tag')))
  }

  /** Returns the id of the commit that an object is or, if it is a tag, refers to; `undefined` if there is none. */
  async commitNamedBy(oid: string): Promise<string | undefined> {
    for (let at = oid, hops = 0; hops < 10; hops += 1) {
      const found = await this.find(at)
      if (found?.type === 'commit') return at
      if (found?.type !== 'tag') return undefined
      at = tagOf(found.bytes).target
    }
    return undefined
  }

  /** Returns the only object id that begins with the prefix; `undefined` if there is none or more than one. */
  async expand(prefix: string): Promise<string | undefined> {
    try {
      const git = await loadGit()
      return await git.expandOid({ fs: readOnlyFiles, gitdir: this.gitdir, cache: this.#cache, oid: prefix })
    } catch (error) {
      if (isNotFound(error) || (error as { code?: string }).code === 'AmbiguousError') return undefined
      throw error
    }
  }

  /** Returns the path of the file of a loose object. */
  protected objectPath(oid: string): string {
    return looseObjectPath(this.gitdir, oid)
  }

  async #get(oid: string, type: ObjectType): Promise<Uint8Array> {
    const found = await this.find(oid)
    if (found?.type !== type)
      throw new Error(`The repository is damaged: the object ${oid} is missing or not a ${type}`)
    return found.bytes
  }
}

/** A repository that the holder of its lock may change. @see changeRepository */
export class WritableRepository extends GitRepository {
  readonly files: DurableFiles
  readonly #moves: ReferenceMove[] = []
  readonly #storage: RepositoryStorage

  constructor(gitdir: string, files: DurableFiles, storage: RepositoryStorage) {
    super(gitdir)
    this.files = files
    this.#storage = storage
  }

  /** The moves that become effective when the change ends. */
  get moves(): readonly ReferenceMove[] {
    return this.#moves
  }

  plan(move: ReferenceMove): void {
    this.#moves.push(move)
  }

  /**
   * Adds the space of the new objects and references to the storage of the repository. Called in the transaction that
   * makes them part of it.
   *
   * @throws DomainError `storage_full`
   */
  async chargeStorage(db: Transaction<CoreTables>): Promise<void> {
    const created = this.#moves.filter(({ from, to }) => from === undefined && to !== undefined)
    const references = created.map(({ file }) => referenceSpace(file.split('/').slice(2).join('/')))
    const bytes = references.reduce((sum, each) => sum + each, this.files.newObjectBytes)
    await this.#storage.charge(db, bytes)
  }

  writeCommit = (commit: CommitObject): Promise<string> => this.#write('commit', commitBytes(commit))
  writeTag = (tag: TagObject): Promise<string> => this.#write('tag', tagBytes(tag))
  writeTree = (entries: readonly TreeEntry[]): Promise<string> => this.#write('tree', treeBytes(entries))
  writeBlob = (bytes: Uint8Array): Promise<string> => this.#write('blob', bytes)

  /** Writes the content of a file as a blob without holding it in memory. The file must not change while it is read. */
  async writeBlobOfFile(path: string, size: number): Promise<string> {
    this.#storage.requireRoom()
    return this.files.addObjectOfParts('blob', { size, parts: fs.createReadStream(path) })
  }

  /** Objects that were written by this change are not in their place yet. */
  protected override objectPath(oid: string): string {
    return this.files.pathOfObject(oid)
  }

  async #write(type: ObjectType, object: Uint8Array): Promise<string> {
    this.#storage.requireRoom()
    return this.files.addObject(type, object)
  }
}

/** Returns whether the directory has a repository. An empty directory, such as one that nothing is mounted on, has none. */
export async function repositoryExists(gitdir: string): Promise<boolean> {
  return stat(join(gitdir, 'HEAD')).then(
    (found) => found.isFile(),
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false
      throw error
    },
  )
}

/** The library is loaded when a repository is first used, to shorten the start. */
const loadGit = async () => (await import('isomorphic-git')).default

/** Returns the directory in which a new repository is prepared. */
export const unfinishedDir = (gitdir: string): string => `${gitdir}.new`

/**
 * Creates an empty bare repository, completely or not at all.
 *
 * @param token the token of the lock, which the caller must hold
 */
export async function createRepository(gitdir: string, defaultBranch: string, token: string): Promise<void> {
  // Each token has its own directory: a former holder that has lost the lock without noticing finds its directory
  // removed.
  const unfinished = join(unfinishedDir(gitdir), token)
  await rm(unfinishedDir(gitdir), { recursive: true, force: true, maxRetries: 3 })
  await mkdir(unfinished, { recursive: true })
  const git = await loadGit()
  await git.init({ fs, gitdir: unfinished, bare: true, defaultBranch })
  const places = ['', 'objects', 'refs', 'refs/heads', 'refs/tags', 'config', 'HEAD']
  await allDone(places.map((place) => syncToDisk(join(unfinished, place))))
  await rename(unfinished, gitdir)
  await rm(unfinishedDir(gitdir), { recursive: true })
  await syncToDisk(dirname(gitdir))
}

const isNotFound = (error: unknown): boolean => (error as { code?: string }).code === 'NotFoundError'
