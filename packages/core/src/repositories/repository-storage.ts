import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Core } from '../kit/context.ts'
import { chargeStorage, findProjectStorage, setRepositoryBytes, storageFull } from '../projects/storage-store.ts'

/** The room that a repository has, for the length of one change. */
export interface RepositoryStorage {
  /** Asked before an object is written, so that a full project does not fill the disk with what is refused afterwards.
   *  @throws DomainError `storage_full` */
  requireRoom(): void
  /** Counts new objects before anything refers to them. @throws DomainError `storage_full` */
  charge(bytes: number): Promise<void>
}

/** Returns the project whose repository has the name; `undefined` for other repositories, which have no quota. */
export const projectOfRepository = (name: string): number | undefined => (/^\d+$/.test(name) ? Number(name) : undefined)

/** Only for the holder of the repository's lock: measures a repository that has not been measured yet. */
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

/** Only for the holder of the repository's lock, so that nothing is added meanwhile. */
export async function measureRepository(core: Core, projectId: number, gitdir: string): Promise<number> {
  const bytes = await fileBytes(join(gitdir, 'objects'))
  await core.db.write((db) => setRepositoryBytes({ db, nowMs: core.clock.nowMs() }, projectId, bytes))
  return bytes
}

/** One directory after the other, as there may be a quarter of a million files. */
async function fileBytes(directory: string): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(files.map(async ({ name }) => (await stat(join(directory, name))).size))
  let bytes = sizes.reduce((sum, size) => sum + size, 0)
  for (const entry of entries) if (entry.isDirectory()) bytes += await fileBytes(join(directory, entry.name))
  return bytes
}
