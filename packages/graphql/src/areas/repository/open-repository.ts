import { openRepositories, type Project, performBatch, type RepositoryReader } from '@penstock/core'
import type { RequestContext } from '../../request/request-context.ts'

/** Returns the repository, or `undefined` if the caller may not read it. */
export const openRepository = (
  project: Project,
  { core, reads, actor, loaders }: RequestContext,
): Promise<RepositoryReader | undefined> =>
  loaders.load(
    'repositories',
    project,
    (projects) => performBatch(core, actor, openRepositories, projects, {}, reads),
    ({ id }) => id,
  )
