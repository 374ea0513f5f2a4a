import { changeRepository } from '../git/change-repository.ts'
import type { WritableRepository } from '../git/git-repository.ts'
import type { Project } from '../model/project.ts'
import type { Core } from '../operations/context.ts'
import { repositoryNameOf } from './project-repository.ts'
import { openProjectStorage } from './repository-storage.ts'

/** Works like `changeRepository` for the repository of a project, within the storage limit of the project. */
export const changeProjectRepository = <Result>(
  core: Core,
  project: Pick<Project, 'id'>,
  change: (repository: WritableRepository) => Promise<Result>,
): Promise<Result> =>
  changeRepository(core, repositoryNameOf(project), (gitdir) => openProjectStorage(core, project.id, gitdir), change)
