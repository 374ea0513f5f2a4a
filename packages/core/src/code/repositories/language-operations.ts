import { z } from 'zod'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { query } from '../../base/operations/operation.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import type { LanguageShare } from './languages.ts'
import { RepositoryReader } from './repository-reader.ts'

/** The shares of the languages in the default branch of a project. */
export interface ProjectLanguages {
  readonly shares: readonly LanguageShare[]
}

/** Returns the languages of the default branch. */
export const getProjectLanguages = query(
  {
    name: 'getProjectLanguages',
    caller: 'anyone',
    input: z.object({ project: namespaceRef }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async ({ core, subject }): Promise<ProjectLanguages> => {
    const reader = await RepositoryReader.open(core, subject)
    return { shares: await reader.languages() }
  },
)
