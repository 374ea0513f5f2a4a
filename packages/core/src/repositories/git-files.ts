import { lstat, mkdir, open, readdir, readFile, readlink, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileSpace } from './file-space.ts'

const reading = { readFile, readdir, stat, lstat, readlink }
const refuse = async (): Promise<never> => {
  throw new Error('A repository is not changed this way')
}

/** The file system for isomorphic-git where it only reads. */
export const readOnlyFiles = {
  promises: { ...reading, writeFile: refuse, mkdir: refuse, rmdir: refuse, unlink: refuse, symlink: refuse },
}

/**
 * The file system for a change to a repository: a file is there wholly or not at all, whenever the process ends, and after
 * `flush` also when the power fails.
 *
 * New files are written in `<gitdir>/tmp/<token>`, where neither Git nor we look for anything, and renamed to their place;
 * what is removed is moved there. Who held the lock before, and does not know yet that it is gone, finds that directory
 * removed, and so changes nothing any more.
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

  /** Only for the holder of the repository's lock: what earlier ones left half-written is removed. */
  static async open(gitdir: string, token: string): Promise<DurableFiles> {
    const all = join(gitdir, 'tmp')
    await rm(all, { recursive: true, force: true, maxRetries: 3 })
    const files = new DurableFiles(join(all, token))
    await mkdir(files.#temporary, { recursive: true })
    return files
  }

  /** For isomorphic-git. */
  get client() {
    return {
      promises: {
        ...reading,
        rmdir: refuse,
        unlink: refuse,
        symlink: refuse,
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

  /** Deletes the objects of a failed change. Those that cannot be deleted are counted by the sweep that measures. */
  async discardObjects(): Promise<void> {
    for (const file of this.#newObjects.keys()) await this.remove(file).catch(() => {})
    this.#newObjects.clear()
  }

  /** In place of what was there. */
  async write(file: string, content: string | Uint8Array): Promise<void> {
    const temporary = join(this.#temporary, String(this.#count++))
    const handle = await open(temporary, 'wx', 0o644)
    try {
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await this.makeDirectory(dirname(file))
    await rename(temporary, file)
    this.#changedDirectories.add(dirname(file))
  }

  async remove(file: string): Promise<void> {
    try {
      await rename(file, join(this.#temporary, String(this.#count++)))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      // There was no such file; or else this says that the lock is gone.
      await stat(this.#temporary)
    }
    this.#changedDirectories.add(dirname(file))
  }

  async makeDirectory(directory: string): Promise<void> {
    const first = await mkdir(directory, { recursive: true })
    if (first === undefined) return
    for (let at = directory; at.length >= first.length; at = dirname(at)) this.#changedDirectories.add(dirname(at))
  }

  /** Everything written so far survives the loss of power. */
  async flush(): Promise<void> {
    const directories = [...this.#changedDirectories]
    this.#changedDirectories.clear()
    await Promise.all(directories.map(syncDirectory))
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

/** What has been made, renamed or removed in it survives the loss of power. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
