import { changeRepository } from '../../base/git/change-repository.ts'
import type { WritableRepository } from '../../base/git/git-repository.ts'
import type { Project } from '../../base/model/project.ts'
import type { OperationContext, Tx } from '../../base/operations/context.ts'
import type { StepsContext } from '../../base/operations/operation.ts'
import { openProjectStorage } from './repository-storage.ts'

/** The context of the steps that change a repository. */
export type ChangeContext = Pick<StepsContext, 'core' | 'write'>

/** Works like `changeRepository` for the repository of a project, within the storage limit of the project. */
export const changeProjectRepository = <Result>(
  { core, write }: ChangeContext,
  { id }: Pick<Project, 'id'>,
  change: (repository: WritableRepository) => Promise<(tx: OperationContext & Tx) => Promise<Result>>,
): Promise<Result> =>
  changeRepository(
    core,
    { kind: 'project', id },
    { write, openStorage: (gitdir) => openProjectStorage(core, id, gitdir) },
    change,
  )
