import {
  branchNamesOf,
  commitsAt,
  commitsOfRepositories,
  countsOfRepositories,
  filesAt,
  lastCommitsAt,
  type RepositoryReader,
} from '@penstock/core'
import { loadBatched, type RequestContext } from '../../request/request-context.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { constantFields } from '../../schema/constant-fields.ts'
import { repositoryRead, withCost } from '../../schema/cost.ts'
import { sharedEnums } from '../../schema/enums.ts'
import type { Kit } from '../../schema/kit.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'
import { openRepository } from './open-repository.ts'
import { addProjectStatistics } from './project-statistics.ts'
import { kindOf } from './ref-type.ts'
import { addRepositoryBlobs } from './repository-blobs.ts'
import { addRepositoryMutations } from './repository-mutations.ts'
import { addTrees, commitIn } from './trees.ts'

export function addRepository(kit: Kit): void {
  const { builder } = kit
  addRepositoryBlobs(kit)
  addTrees(kit)
  addProjectStatistics(kit)
  addRepositoryMutations(kit)

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
        ...withCost(repositoryRead),
        args: { ref: t.arg.string({ required: true }) },
        resolve: async (repository, { ref }, context) =>
          commitIn(repository, await loadBatched(context, commitsAt, repository, { ref })),
      }),
      lastCommit: t.field({
        type: 'Commit',
        args: { path: t.arg.string(), ref: t.arg.string(), refType: t.arg({ type: refType }) },
        resolve: async (repository, { path, ref, refType }, context) =>
          commitIn(
            repository,
            await loadBatched(context, lastCommitsAt, repository, { path, ref, refKind: kindOf(refType) }),
          ),
      }),
      commits: connectionField(kit, t, 'Commit', {
        description: 'The commits of a ref, newest first; empty if the ref does not exist',
        cost: { resolver: true, repository: true },
        args: {
          ref: t.arg.string({ required: true }),
          path: t.arg.string(),
          author: t.arg.string({ description: 'A part of the name or email address, ignoring case' }),
          query: t.arg({ type: 'UntrustedRegexp', description: 'A part of the message, ignoring case' }),
          committedAfter: t.arg({ type: 'Time' }),
          committedBefore: t.arg({ type: 'Time' }),
        },
        list: (repository, args, context) => loadBatched(context, commitsOfRepositories, repository, omitNullish(args)),
      }),
      branchNames: t.stringList({
        description: 'In the pattern, * matches any characters; at most 100 names',
        ...withCost({ resolver: true, repository: true }),
        args: {
          searchPattern: t.arg.string({ required: true }),
          offset: t.arg.int({ required: true }),
          limit: t.arg.int({ required: true }),
        },
        resolve: (repository, args, context) => loadBatched(context, branchNamesOf, repository, args),
      }),
      diskPath: constantFields(t).nullText(),
      blobs: connectionField(kit, t, 'RepositoryBlob', {
        description: 'Missing paths are omitted',
        cost: repositoryRead,
        args: {
          paths: t.arg.stringList({ required: true }),
          ref: t.arg.string({ defaultValue: null }),
          refType: t.arg({ type: refType, defaultValue: null }),
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
