import { measureSpace, type RepositoryStorage } from '../git/repository-storage.ts'
import type { Core } from '../operations/context.ts'
import { chargeStorage, findProjectStorage, setRepositoryBytes, storageFull } from '../projects/storage-store.ts'

/**
 * Opens the storage of a project's repository, and measures the repository if it has not been measured yet. Only for the
 * holder of its lock.
 */
export async function openProjectStorage(core: Core, projectId: number, gitdir: string): Promise<RepositoryStorage> {
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

/** Measures a repository and stores the result. Only for the holder of its lock. */
export async function measureRepository(core: Core, projectId: number, gitdir: string): Promise<number> {
  const bytes = await measureSpace(gitdir)
  await core.db.write((db) => setRepositoryBytes({ db, nowMs: core.clock.nowMs() }, projectId, bytes))
  return bytes
}
