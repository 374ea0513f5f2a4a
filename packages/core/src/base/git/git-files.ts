import { lstat, mkdir, open, readdir, readFile, readlink, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { encodedObject, encodeIntoFile, type ObjectParts, partsOf, WHOLE_OBJECT_BYTES } from './encoded-object.ts'
import { fileSpace } from './file-space.ts'
import type { ObjectType } from './git-object.ts'
import { looseObjectPath } from './loose-object.ts'

/** The number of new objects that are made durable at a time. */
const OBJECTS_AT_A_TIME = 32

const reading = { readFile, readdir, stat, lstat, readlink }
const reject = async (): Promise<never> => {
  throw new Error('This file operation is not allowed in a repository')
}

/** A read-only file system for isomorphic-git. */
export const readOnlyFiles = {
  promises: { ...reading, writeFile: reject, mkdir: reject, rmdir: reject, unlink: reject, symlink: reject },
}

/**
 * The file system for a change to a repository. If the process is killed, each file has been written either completely
 * or not at all. After `flush` this also holds if the power fails.
 *
 * New files are written to `<gitdir>/tmp/<token>`, which Git ignores, and renamed to their place; removed files are
 * moved there. The next holder of the lock deletes that directory, so that a former holder that has lost the lock
 * without noticing can no longer change anything.
 */
export class DurableFiles {
  readonly #gitdir: string
  readonly #temporary: string
  readonly #changedDirectories = new Set<string>()
  /** The bytes of new objects that nothing refers to yet, by path. */
  readonly #newObjects = new Map<string, number>()
  /** The temporary files of new objects that are not in their place yet, by path. */
  readonly #waitingObjects = new Map<string, string>()
  #count = 0

  private constructor(gitdir: string, token: string) {
    this.#gitdir = gitdir
    this.#temporary = join(gitdir, 'tmp', token)
  }

  /** Removes unfinished files of earlier holders. May only be called by the holder of the repository's lock. */
  static async open(gitdir: string, token: string): Promise<DurableFiles> {
    await rm(join(gitdir, 'tmp'), { recursive: true, force: true, maxRetries: 3 })
    const files = new DurableFiles(gitdir, token)
    await mkdir(files.#temporary, { recursive: true })
    return files
  }

  get newObjectBytes(): number {
    return [...this.#newObjects.values()].reduce((sum, bytes) => sum + bytes, 0)
  }

  /** Keeps the objects written so far, even if the change fails later. */
  keepObjects(): void {
    this.#newObjects.clear()
  }

  /** Deletes the objects of a failed change. The next measurement counts those that cannot be deleted. */
  async discardObjects(): Promise<void> {
    for (const file of this.#newObjects.keys()) {
      const temporary = this.#waitingObjects.get(file)
      await (temporary === undefined ? this.remove(file) : rm(temporary, { force: true })).catch(() => {})
    }
    this.#waitingObjects.clear()
    this.#newObjects.clear()
  }

  /**
   * Writes a new object, unless it exists, and returns its id. It is durable, and readers find it, after `placeObjects`.
   */
  async addObject(type: ObjectType, content: Uint8Array): Promise<string> {
    if (content.length > WHOLE_OBJECT_BYTES)
      return this.addObjectOfParts(type, { size: content.length, parts: partsOf(content) })
    const { oid, bytes } = await encodedObject(type, content)
    const file = looseObjectPath(this.#gitdir, oid)
    if (await this.#hasObject(file)) return oid
    const temporary = this.#newPath()
    await writeFile(temporary, bytes, { flag: 'wx', mode: 0o644 })
    this.#addFile(file, temporary, bytes.length)
    return oid
  }

  /** Works like `addObject` for an object that is not held in memory. */
  async addObjectOfParts(type: ObjectType, content: ObjectParts): Promise<string> {
    const temporary = this.#newPath()
    const { oid, bytes } = await encodeIntoFile(temporary, type, content)
    const file = looseObjectPath(this.#gitdir, oid)
    if (await this.#hasObject(file)) await rm(temporary)
    else this.#addFile(file, temporary, bytes)
    return oid
  }

  /** Returns the path of an object's file, which is a temporary one until `placeObjects`. */
  pathOfObject(oid: string): string {
    const file = looseObjectPath(this.#gitdir, oid)
    return this.#waitingObjects.get(file) ?? file
  }

  /**
   * Makes the new objects durable and puts them into their places. They are not synchronized one after the other, because
   * the disk does several at once in the time of one.
   */
  async placeObjects(): Promise<void> {
    const waiting = [...this.#waitingObjects]
    for (let at = 0; at < waiting.length; at += OBJECTS_AT_A_TIME) {
      const part = waiting.slice(at, at + OBJECTS_AT_A_TIME)
      await allDone(
        part.map(async ([file, temporary]) => {
          await syncToDisk(temporary)
          await this.#place(temporary, file)
          this.#waitingObjects.delete(file)
        }),
      )
    }
    await this.flush()
  }

  /** Writes a file, replacing an existing one. */
  async write(file: string, content: string | Uint8Array): Promise<void> {
    const place = await this.prepare(file, content)
    await place()
  }

  /** Writes a new file durably, and returns the function that puts it into place, where it replaces an existing one. */
  async prepare(file: string, content: string | Uint8Array): Promise<() => Promise<void>> {
    const temporary = this.#newPath()
    const handle = await open(temporary, 'wx', 0o644)
    try {
      await writeFile(handle, content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    return () => this.#place(temporary, file)
  }

  async remove(file: string): Promise<void> {
    try {
      await rename(file, this.#newPath())
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      // Either the file did not exist, or the lock was lost: then this throws, because the directory is removed.
      await stat(this.#temporary)
    }
    this.#changedDirectories.add(dirname(file))
  }

  async makeDirectory(directory: string): Promise<void> {
    const first = await mkdir(directory, { recursive: true })
    if (first === undefined) return
    for (let at = directory; at.length >= first.length; at = dirname(at)) this.#changedDirectories.add(dirname(at))
  }

  /** Makes everything written so far durable, so that it survives a power failure. */
  async flush(): Promise<void> {
    const directories = [...this.#changedDirectories]
    this.#changedDirectories.clear()
    await allDone(directories.map(syncToDisk))
  }

  #newPath(): string {
    return join(this.#temporary, String(this.#count++))
  }

  async #hasObject(file: string): Promise<boolean> {
    return this.#waitingObjects.has(file) || (await exists(file))
  }

  #addFile(file: string, temporary: string, bytes: number): void {
    this.#waitingObjects.set(file, temporary)
    this.#newObjects.set(file, fileSpace(bytes))
  }

  async #place(temporary: string, file: string): Promise<void> {
    await rename(temporary, file).catch(async (error: NodeJS.ErrnoException) => {
      // The directory is missing; or the lock was lost, and then the next attempt fails too.
      if (error.code !== 'ENOENT') throw error
      await this.makeDirectory(dirname(file))
      await rename(temporary, file)
    })
    this.#changedDirectories.add(dirname(file))
  }
}

/** Waits until all are done, also if one of them fails, so that nothing is written any more when this throws. */
export async function allDone(work: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(work)
  await Promise.all(work)
}

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )

/**
 * Makes the content of a file durable, or the files created, renamed and removed in a directory, so that the change
 * survives a power failure.
 */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
