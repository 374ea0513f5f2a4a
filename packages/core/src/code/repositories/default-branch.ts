import { findReference, listReferences } from '../../base/git/git-reference.ts'
import { invalid } from '../../base/kit/domain-error.ts'
import type { Project } from '../../base/model/project.ts'
import type { Core } from '../../base/operations/context.ts'
import { findProjectRepository } from './project-repository.ts'

/**
 * Rejects a default branch that the repository does not have. A repository without branches accepts any name.
 *
 * @throws DomainError `invalid`
 */
export async function requireDefaultBranch(core: Core, project: Project, name: string): Promise<void> {
  const repository = await findProjectRepository(core, project)
  if (repository === undefined || (await findReference(repository.git, 'heads', name)) !== undefined) return
  if ((await listReferences(repository.git, 'heads')).length === 0) return
  throw invalid({ defaultBranch: ['is not a branch of the repository'] })
}
