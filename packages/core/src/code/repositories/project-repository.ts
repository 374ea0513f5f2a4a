import { headBranch } from '../../base/git/git-reference.ts'
import type { GitRepository } from '../../base/git/git-repository.ts'
import { findRepository } from '../../base/git/repository-directory.ts'
import { findRevision } from '../../base/git/revision.ts'
import type { Project } from '../../base/model/project.ts'
import type { Core } from '../../base/operations/context.ts'

/** A project's repository for reading, with the branch that `HEAD` refers to. */
export interface ProjectRepository {
  readonly git: GitRepository
  readonly defaultBranch: string | undefined
  /** @param revision a branch, tag or commit; default: the default branch */
  findCommit(revision: string | undefined): Promise<string | undefined>
}

/** Opens the repository of a project, or returns `undefined` if nothing has been committed yet. */
export async function findProjectRepository(core: Core, project: Project): Promise<ProjectRepository | undefined> {
  const git = await findRepository(core, { kind: 'project', id: project.id })
  if (git === undefined) return undefined
  const defaultBranch = project.defaultBranch ?? (await headBranch(git))
  return { git, defaultBranch, findCommit: (revision) => findRevision(git, revision, defaultBranch) }
}
