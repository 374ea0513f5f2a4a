import { type RepositoryKey, repositoryNameOf } from '../../base/git/repository-key.ts'
import { addRepositoryBytes, findRepositoryBytes, setMeasuredBytes } from '../../base/git/repository-size-store.ts'
import { measureSpace, type RepositoryStorage } from '../../base/git/repository-storage.ts'
import { DomainError } from '../../base/kit/domain-error.ts'
import type { Core } from '../../base/operations/context.ts'
import {
  chargeStorage,
  findProjectStorage,
  setRepositoryBytes,
  storageFull,
  totalBytes,
} from '../../identity/projects/storage-store.ts'

/**
 * Opens the storage of a project's repository, and measures the repository if it has not been measured yet. Only for the
 * holder of its lock.
 */
export async function openProjectStorage(core: Core, projectId: number, gitdir: string): Promise<RepositoryStorage> {
  const stored = await findProjectStorage({ db: core.db.read }, projectId)
  const repositoryBytes = stored.repositoryBytes ?? (await measureProjectRepository(core, projectId, gitdir))
  const { projectStorageBytes } = core.settings
  const total = totalBytes({ ...stored, repositoryBytes })
  const isFull = projectStorageBytes > 0 && total >= projectStorageBytes
  return {
    requireRoom: () => {
      if (isFull) throw storageFull(core, total)
    },
    charge: async (db, growth) => {
      if (growth > 0) await chargeStorage({ db }, core, projectId, { repositoryBytes: growth })
    },
  }
}

/** Measures the repository of a project and stores the result. Only for the holder of its lock. */
export async function measureProjectRepository(core: Core, projectId: number, gitdir: string): Promise<number> {
  const bytes = await measureSpace(gitdir)
  await core.db.write((db) => setRepositoryBytes({ db, nowMs: core.clock.nowMs() }, projectId, bytes))
  return bytes
}

/** A repository that has a limit of its own. A new one has no files yet. */
export interface OwnRepository {
  readonly key: RepositoryKey
  readonly limitBytes: number
  readonly gitdir: string
  readonly isNew: boolean
}

/**
 * Opens the storage of a repository that has a limit of its own, as those of snippets and wikis have. Only for the
 * holder of the repository's lock.
 */
export async function openOwnStorage(
  core: Core,
  { key, limitBytes, gitdir, isNew }: OwnRepository,
): Promise<RepositoryStorage> {
  const name = repositoryNameOf(key)
  const known = isNew ? 0 : await findRepositoryBytes(core, name)
  const stored = known ?? (await measureOwnRepository(core, name, gitdir))
  const full = (storedBytes: number, neededBytes?: number) =>
    new DomainError({
      code: 'storage_full',
      of: key.kind.replace('_', ' '),
      limitBytes,
      storedBytes,
      ...(neededBytes !== undefined && { neededBytes }),
    })
  return {
    requireRoom: () => {
      if (stored >= limitBytes) throw full(stored)
    },
    charge: async (db, growth) => {
      const bytes = await addRepositoryBytes({ db, nowMs: core.clock.nowMs() }, name, growth)
      if (growth > 0 && bytes > limitBytes) throw full(bytes - growth, growth)
    },
  }
}

/**
 * Measures a repository that does not count towards the storage of a project, and stores the result. Only for the
 * holder of its lock.
 */
export async function measureOwnRepository(core: Core, name: string, gitdir: string): Promise<number> {
  const bytes = await measureSpace(gitdir)
  await core.db.write((db) => setMeasuredBytes({ db, nowMs: core.clock.nowMs() }, name, bytes))
  return bytes
}
