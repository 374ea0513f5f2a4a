import { gitdirOf } from '../git/change-repository.ts'
import { repositoryExists } from '../git/git-repository.ts'
import { withRepositoryLock } from '../git/repository-lock.ts'
import { DAY_MS } from '../kit/day.ts'
import { DomainError } from '../kit/domain-error.ts'
import type { Core } from '../operations/context.ts'
import { projectsToMeasure } from '../projects/storage-store.ts'
import { measureRepository } from './repository-storage.ts'

/** The limit of repositories that one sweep measures; the others are left to the next sweep. */
const MAX_MEASURED = 1_000
/** The time that the sweep waits for a running change, before it leaves the repository to the next sweep. */
const WAIT_MS = 2_000

/**
 * Measures repositories that were never measured, and those not measured for a day: a process that was killed may have
 * left objects that were not counted.
 */
export async function measureRepositories(core: Core): Promise<void> {
  const beforeMs = core.clock.nowMs() - DAY_MS
  const projectIds = await projectsToMeasure({ db: core.db.read }, { beforeMs, limit: MAX_MEASURED })
  for (const projectId of projectIds) {
    const gitdir = gitdirOf(core, String(projectId))
    const measure = async () => {
      if (await repositoryExists(gitdir)) await measureRepository(core, projectId, gitdir)
    }
    try {
      await withRepositoryLock(core, String(projectId), measure, { waitMs: WAIT_MS })
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
    }
  }
}
