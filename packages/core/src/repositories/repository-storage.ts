import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileSpace } from '../git/file-space.ts'
import type { Core } from '../operations/context.ts'
import { chargeStorage, findProjectStorage, setRepositoryBytes, storageFull } from '../projects/storage-store.ts'

/** The storage limit of a repository for the length of one change. */
export interface RepositoryStorage {
  /**
   * Checks the limit before an object is written, so that a full project does not fill the disk with objects that are
   * rejected later.
   * @throws DomainError `storage_full`
   */
  requireRoom(): void
  /**
   * Counts new objects before anything refers to them.
   * @throws DomainError `storage_full`
   */
  charge(bytes: number): Promise<void>
}

/** Returns the project of a repository by its name, or `undefined` for other repositories, which have no quota. */
const projectOfRepository = (name: string): number | undefined => (/^\d+$/.test(name) ? Number(name) : undefined)

/**
 * Opens the storage of a repository, and measures the repository if it has not been measured yet. Only for the holder
 * of its lock.
 */
export async function openRepositoryStorage(core: Core, name: string, gitdir: string): Promise<RepositoryStorage> {
  const projectId = projectOfRepository(name)
  if (projectId === undefined) return { requireRoom: () => {}, charge: async () => {} }
  const { repositoryBytes, recordsBytes } = await findProjectStorage({ db: core.db.read }, projectId)
  const bytes = repositoryBytes ?? (await measureRepository(core, projectId, gitdir))
  const { projectStorageBytes } = core.settings
  const isFull = projectStorageBytes > 0 && bytes + recordsBytes >= projectStorageBytes
  return {
    requireRoom: () => {
      if (isFull) throw storageFull(core, bytes + recordsBytes)
    },
    charge: async (growth) => {
      if (growth > 0) await core.db.write((db) => chargeStorage({ db }, core, projectId, { repositoryBytes: growth }))
    },
  }
}

/** Measures a repository. Only for the holder of its lock, so that nothing is added meanwhile. */
export async function measureRepository(core: Core, projectId: number, gitdir: string): Promise<number> {
  const bytes = (await objectSpace(join(gitdir, 'objects'))) + (await referencesSpace(gitdir))
  await core.db.write((db) => setRepositoryBytes({ db, nowMs: core.clock.nowMs() }, projectId, bytes))
  return bytes
}

/** Sums file sizes in one directory after the other, because there may be 250,000 files. */
async function objectSpace(directory: string): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(files.map(async ({ name }) => fileSpace((await stat(join(directory, name))).size)))
  let bytes = sizes.reduce((sum, size) => sum + size, 0)
  for (const entry of entries) if (entry.isDirectory()) bytes += await objectSpace(join(directory, entry.name))
  return bytes
}

/** Sums the space of references and their directories, because a removed branch leaves the directories of its name. */
async function referencesSpace(gitdir: string): Promise<number> {
  const kinds = await readdir(join(gitdir, 'refs'))
  const entries = await Promise.all(kinds.map((kind) => readdir(join(gitdir, 'refs', kind), { recursive: true })))
  return entries.flat().length * fileSpace(1)
}
