import {
  diffStatsOfRanges,
  findRangeOfEachMergeRequest,
  type MergeRequest,
  type MergeRequestRange,
} from '@penstock/core'
import { loadBatched, type RequestContext } from '../../request/request-context.ts'
import { connectionField } from '../../schema/connection-field.ts'
import type { Kit } from '../../schema/kit.ts'
import { listed } from '../../schema/listed.ts'
import type { CommitOfProject } from '../../schema/sources.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    DiffRefs: MergeRequestRange
    DiffStats: { readonly path: string; readonly additions: number; readonly deletions: number }
  }
}

/** Adds the commits and diff statistics of merge requests. They are null if a branch is missing or the diff is too large. */
export function addMergeRequestChanges(kit: Kit): void {
  const { builder } = kit
  builder.objectType('DiffRefs', {
    fields: (t) => ({
      baseSha: t.exposeString('baseSha'),
      headSha: t.exposeString('headSha', { nullable: false }),
      startSha: t.exposeString('startSha', { nullable: false }),
    }),
  })
  builder.objectType('DiffStats', {
    fields: (t) => ({
      path: t.exposeString('path', { nullable: false }),
      additions: t.exposeInt('additions', { nullable: false }),
      deletions: t.exposeInt('deletions', { nullable: false }),
    }),
  })

  const rangeOf = (source: MergeRequest, context: RequestContext) =>
    loadBatched(context, findRangeOfEachMergeRequest, source)
  const statsOf = async (source: MergeRequest, context: RequestContext) => {
    const range = await rangeOf(source, context)
    return range && loadBatched(context, diffStatsOfRanges, range)
  }
  const commitsOf = async (source: MergeRequest, context: RequestContext): Promise<CommitOfProject[] | undefined> => {
    const range = await rangeOf(source, context)
    return range?.commits.map((commit) => ({ ...commit, inProject: range.project }))
  }

  builder.objectFields('MergeRequest', (t) => ({
    diffHeadSha: t.exposeString('sha'),
    diffRefs: t.field({ type: 'DiffRefs', resolve: (source, _args, context) => rangeOf(source, context) }),
    divergedFromTargetBranch: t.boolean({
      nullable: false,
      resolve: async (source, _args, context) => {
        const range = await rangeOf(source, context)
        return range !== undefined && range.baseSha !== range.startSha
      },
    }),
    diffStatsSummary: t.field({
      type: 'DiffStatsSummary',
      resolve: async (source, _args, context) => {
        const stats = await statsOf(source, context)
        const total = (what: 'additions' | 'deletions') => stats!.reduce((sum, file) => sum + file[what], 0)
        return stats && { additions: total('additions'), deletions: total('deletions'), fileCount: stats.length }
      },
    }),
    diffStats: t.field({
      type: ['DiffStats'],
      args: { path: t.arg.string() },
      resolve: async (source, { path }, context) => {
        const stats = await statsOf(source, context)
        return stats?.filter((file) => path == null || file.path === path)
      },
    }),
    commitCount: t.int({
      resolve: async (source, _args, context) => (await rangeOf(source, context))?.commits.length,
    }),
    commits: connectionField(kit, t, 'Commit', {
      list: async (source, _args, context) => {
        const commits = await commitsOf(source, context)
        return commits && listed(commits)
      },
    }),
    commitsWithoutMergeCommits: connectionField(kit, t, 'Commit', {
      list: async (source, _args, context) => {
        const commits = await commitsOf(source, context)
        const plain = commits?.filter(({ parentShas }) => parentShas.length < 2)
        return plain && listed(plain)
      },
    }),
  }))
}
