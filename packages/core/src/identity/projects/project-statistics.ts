import { z } from 'zod'
import type { Project } from '../../base/model/project.ts'
import { batchQuery } from '../../base/operations/operation.ts'
import { findStorageOfProjects, nothingStored, totalBytes } from './storage-store.ts'

/** The bytes that a project has stored. */
export interface ProjectStatistics {
  readonly project: Project
  readonly repositoryBytes: number
  readonly recordsBytes: number
  readonly snippetsBytes: number
  readonly wikiBytes: number
  readonly textsBytes: number
  /** The sum of all of them. */
  readonly totalBytes: number
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
      const storage = storages.get(project.id) ?? nothingStored
      const { repositoryBytes = 0, ...rest } = storage
      return { project, ...rest, repositoryBytes, totalBytes: totalBytes(storage) }
    })
  },
)
