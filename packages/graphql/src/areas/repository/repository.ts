import {
  commitsAt,
  countsOfRepositories,
  filesAt,
  type ListedCommit,
  lastCommitsAt,
  openRepositories,
  type Project,
  performBatch,
  type RepositoryReader,
} from '@penstock/core'
import { loadBatched, type RequestContext } from '../../request/request-context.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { sharedEnums } from '../../schema/enums.ts'
import type { Kit } from '../../schema/kit.ts'
import type { CommitOfProject } from '../../schema/sources.ts'
import { addRepositoryBlobs } from './repository-blobs.ts'

export function addRepository(kit: Kit): void {
  const { builder } = kit
  addRepositoryBlobs(kit)

  const { refType } = sharedEnums(kit)
  const count =
    (what: 'commits' | 'heads' | 'tags') => (repository: RepositoryReader, _: object, context: RequestContext) =>
      loadBatched(context, countsOfRepositories, repository, { what })

  builder.objectType('Repository', {
    fields: (t) => ({
      exists: t.boolean({ nullable: false, resolve: ({ exists }) => exists }),
      empty: t.boolean({ nullable: false, resolve: ({ project }) => project.isEmpty }),
      rootRef: t.string({ description: 'The default branch', resolve: ({ defaultBranch }) => defaultBranch }),
      branchCount: t.int({ nullable: false, resolve: count('heads') }),
      tagCount: t.int({ nullable: false, resolve: count('tags') }),
      commitCount: t.int({
        nullable: false,
        description: 'Commits of the default branch; counting stops at 20,000',
        resolve: count('commits'),
      }),
      commit: t.field({
        type: 'Commit',
        args: { ref: t.arg.string({ required: true }) },
        resolve: async (repository, { ref }, context) =>
          inProject(repository, await loadBatched(context, commitsAt, repository, { ref })),
      }),
      lastCommit: t.field({
        type: 'Commit',
        args: { path: t.arg.string(), ref: t.arg.string(), refType: t.arg({ type: refType }) },
        resolve: async (repository, { path, ref, refType }, context) =>
          inProject(
            repository,
            await loadBatched(context, lastCommitsAt, repository, { path, ref, refKind: kindOf(refType) }),
          ),
      }),
      blobs: connectionField(kit, t, 'RepositoryBlob', {
        description: 'Missing paths are omitted',
        args: {
          paths: t.arg.stringList({ required: true }),
          ref: t.arg.string({ defaultValue: null as never }),
          refType: t.arg({ type: refType, defaultValue: null as never }),
        },
        list: (repository, { paths, ref, refType }, context) =>
          loadBatched(context, filesAt, repository, { paths, ref, refKind: kindOf(refType) }),
      }),
    }),
  })

  builder.objectFields('Project', (t) => ({
    repository: t.field({
      type: 'Repository',
      description: 'Null if the caller may not read it',
      resolve: (project, _args, context) => openRepository(project, context),
    }),
  }))
}

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

const refKinds = { HEADS: 'heads', TAGS: 'tags' } as const
const kindOf = (type: keyof typeof refKinds | null | undefined) => (type == null ? undefined : refKinds[type])

const inProject = ({ project }: RepositoryReader, commit: ListedCommit | undefined): CommitOfProject | undefined =>
  commit && { ...commit, inProject: project }
