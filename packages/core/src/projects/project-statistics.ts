import { z } from 'zod'
import type { Project } from '../model/project.ts'
import { batchQuery } from '../operations/operation.ts'
import { findStorageOfProjects } from './storage-store.ts'

/** The bytes that a project has stored. */
export interface ProjectStatistics {
  readonly project: Project
  readonly repositoryBytes: number
  readonly recordsBytes: number
  readonly snippetsBytes: number
}

/** Returns the statistics of each project; `undefined` where the caller may not read them. */
export const statisticsOfProjects = batchQuery(
  { name: 'statisticsOfProjects', input: z.object({}), permission: 'read_statistics' },
  async (context, projects: readonly Project[]): Promise<ProjectStatistics[]> => {
    const storages = await findStorageOfProjects(
      context,
      projects.map(({ id }) => id),
    )
    return projects.map((project) => {
      const { repositoryBytes = 0, recordsBytes = 0, snippetsBytes = 0 } = storages.get(project.id) ?? {}
      return { project, repositoryBytes, recordsBytes, snippetsBytes }
    })
  },
)
