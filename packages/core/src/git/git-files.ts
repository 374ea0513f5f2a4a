import { lstat, mkdir, open, readdir, readFile, readlink, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileSpace } from './file-space.ts'

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
  readonly #temporary: string
  readonly #changedDirectories = new Set<string>()
  /** The bytes of new objects that nothing refers to yet, by path. */
  readonly #newObjects = new Map<string, number>()
  #count = 0

  private constructor(temporary: string) {
    this.#temporary = temporary
  }

  /** Removes unfinished files of earlier holders. May only be called by the holder of the repository's lock. */
  static async open(gitdir: string, token: string): Promise<DurableFiles> {
    const all = join(gitdir, 'tmp')
    await rm(all, { recursive: true, force: true, maxRetries: 3 })
    const files = new DurableFiles(join(all, token))
    await mkdir(files.#temporary, { recursive: true })
    return files
  }

  /** The file system in the form that isomorphic-git expects. */
  get client() {
    return {
      promises: {
        ...reading,
        rmdir: reject,
        unlink: reject,
        symlink: reject,
        mkdir: (directory: string) => this.#mkdir(directory),
        writeFile: (file: string, content: Uint8Array) => this.#writeObject(file, content),
      },
    }
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
    for (const file of this.#newObjects.keys()) await this.remove(file).catch(() => {})
    this.#newObjects.clear()
  }

  /** Writes a file, replacing an existing one. */
  async write(file: string, content: string | Uint8Array): Promise<void> {
    const place = await this.prepare(file, content)
    await place()
  }

  /** Writes a new file durably, and returns the function that puts it into place, where it replaces an existing one. */
  async prepare(file: string, content: string | Uint8Array | AsyncIterable<Uint8Array>): Promise<() => Promise<void>> {
    const temporary = join(this.#temporary, String(this.#count++))
    const handle = await open(temporary, 'wx', 0o644)
    try {
      await writeFile(handle, content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    return async () => {
      await this.makeDirectory(dirname(file))
      await rename(temporary, file)
      this.#changedDirectories.add(dirname(file))
    }
  }

  async remove(file: string): Promise<void> {
    try {
      await rename(file, join(this.#temporary, String(this.#count++)))
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
    await Promise.all(directories.map(syncDirectory))
  }

  /** Writes a new object in parts, unless it exists. */
  async writeObjectParts(file: string, parts: AsyncIterable<Uint8Array>): Promise<void> {
    if (await exists(file)) return
    let bytes = 0
    const counted = async function* () {
      for await (const part of parts) {
        bytes += part.length
        yield part
      }
    }
    const place = await this.prepare(file, counted())
    await place()
    this.#newObjects.set(file, fileSpace(bytes))
  }

  async #writeObject(file: string, content: Uint8Array): Promise<void> {
    await this.write(file, content)
    this.#newObjects.set(file, fileSpace(content.length))
  }

  async #mkdir(directory: string): Promise<void> {
    await mkdir(directory)
    this.#changedDirectories.add(dirname(directory))
  }
}

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )

/** Makes files created, renamed or removed in a directory durable, so that the change survives a power failure. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
