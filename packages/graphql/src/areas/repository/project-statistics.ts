import {
  countsOfRepositories,
  type LanguageShare,
  languagesOfRepositories,
  type ProjectStatistics,
  statisticsOfProjects,
} from '@penstock/core'
import { loadBatched } from '../../request/request-context.ts'
import { withCost } from '../../schema/cost.ts'
import type { Kit } from '../../schema/kit.ts'
import { openRepository } from './open-repository.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    ProjectStatistics: ProjectStatistics
    RepositoryLanguage: LanguageShare
  }
}

/** Sizes of features without stored bytes of their own. */
const alwaysZero = ['buildArtifactsSize', 'lfsObjectsSize', 'packagesSize'] as const
const alwaysZeroOrNull = ['containerRegistrySize', 'pipelineArtifactsSize', 'uploadsSize'] as const

/** Adds the statistics and languages of projects. */
export function addProjectStatistics({ builder }: Kit): void {
  builder.objectType('ProjectStatistics', {
    description: 'Sizes in bytes',
    fields: (t) => {
      const zeros = (names: readonly string[], nullable: boolean) =>
        Object.fromEntries(names.map((name) => [name, t.float({ nullable: nullable as false, resolve: () => 0 })]))
      return {
        commitCount: t.float({
          nullable: false,
          description: 'Commits of the default branch; counting stops at 20,000',
          ...withCost({ repository: true }),
          resolve: async ({ project }, _args, context) => {
            const repository = await openRepository(project, context)
            return repository === undefined
              ? 0
              : loadBatched(context, countsOfRepositories, repository, { what: 'commits' })
          },
        }),
        repositorySize: t.float({ nullable: false, resolve: ({ repositoryBytes }) => repositoryBytes }),
        storageSize: t.float({
          nullable: false,
          description: 'Repository, wiki, snippets and pipeline records',
          resolve: ({ totalBytes }) => totalBytes,
        }),
        snippetsSize: t.float({ resolve: ({ snippetsBytes }) => snippetsBytes }),
        wikiSize: t.float({ resolve: ({ wikiBytes }) => wikiBytes }),
        ...zeros(alwaysZero, false),
        ...zeros(alwaysZeroOrNull, true),
      }
    },
  })
  builder.objectType('RepositoryLanguage', {
    fields: (t) => ({
      name: t.exposeString('name', { nullable: false }),
      color: t.exposeString('color', { nullable: true }),
      share: t.exposeFloat('share', { nullable: true, description: 'Percent of the bytes of all languages' }),
    }),
  })
  builder.objectFields('Project', (t) => ({
    statistics: t.field({
      type: 'ProjectStatistics',
      description: 'Null without the role Reporter',
      resolve: (project, _args, context) => loadBatched(context, statisticsOfProjects, project),
    }),
    languages: t.field({
      type: ['RepositoryLanguage'],
      description: 'Languages of the default branch by the names of its files, the largest share first',
      ...withCost({ repository: true }),
      resolve: async (project, _args, context) => {
        context.deadline.requireTime()
        const repository = await openRepository(project, context)
        return repository && loadBatched(context, languagesOfRepositories, repository)
      },
    }),
  }))
}
