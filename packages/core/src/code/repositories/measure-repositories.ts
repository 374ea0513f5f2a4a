import { repositoryExists } from '../../base/git/git-repository.ts'
import { findGitdir } from '../../base/git/repository-directory.ts'
import { repositoryNameOf } from '../../base/git/repository-key.ts'
import { withRepositoryLock } from '../../base/git/repository-lock.ts'
import { repositoriesToMeasure } from '../../base/git/repository-size-store.ts'
import { DAY_MS } from '../../base/kit/day.ts'
import { DomainError } from '../../base/kit/domain-error.ts'
import type { Core } from '../../base/operations/context.ts'
import { projectsToMeasure } from '../../identity/projects/storage-store.ts'
import { measureOwnRepository, measureProjectRepository } from './repository-storage.ts'

/** The limit of repositories of a kind that one sweep measures; the others are left to the next sweep. */
const MAX_MEASURED = 1_000
/** The time that the sweep waits for a running change, before it leaves the repository to the next sweep. */
const WAIT_MS = 2_000

/**
 * Measures repositories that were never measured, and those not measured for a day: a process that was killed may have
 * left objects that were not counted.
 */
export async function measureRepositories(core: Core): Promise<void> {
  const oldest = { beforeMs: core.clock.nowMs() - DAY_MS, limit: MAX_MEASURED }
  for (const id of await projectsToMeasure({ db: core.db.read }, oldest)) {
    const name = repositoryNameOf({ kind: 'project', id })
    await measure(core, name, (gitdir) => measureProjectRepository(core, id, gitdir))
  }
  for (const name of await repositoriesToMeasure(core, oldest))
    await measure(core, name, (gitdir) => measureOwnRepository(core, name, gitdir))
}

async function measure(core: Core, name: string, work: (gitdir: string) => Promise<unknown>): Promise<void> {
  const measureExisting = async () => {
    const gitdir = await findGitdir(core, name)
    if (gitdir !== undefined && (await repositoryExists(gitdir))) await work(gitdir)
  }
  try {
    await withRepositoryLock(core, name, measureExisting, { waitMs: WAIT_MS })
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
  }
}
