import {
  type Commit,
  type CommitWithPipeline,
  type CommitWithStats,
  type PickedCommit,
  signatureTime,
  type Trailer,
} from '@penstock/core'
import { z } from 'zod'
import type { JsonContext, Shape } from '../../routing/route.ts'
import { pipelineSummaryShape } from './pipeline-shape.ts'

/** The fields of every commit, in the order in which they are sent. */
const commitFields = {
  id: z.string(),
  short_id: z.string(),
  created_at: z.string(),
  parent_ids: z.array(z.string()),
  title: z.string(),
  message: z.string(),
  author_name: z.string(),
  author_email: z.string(),
  authored_date: z.string(),
  committer_name: z.string(),
  committer_email: z.string(),
  committed_date: z.string(),
  trailers: z.record(z.string(), z.string()),
  extended_trailers: z.record(z.string(), z.array(z.string())),
  web_url: z.string(),
}
/** A commit as embedded in other resources. */
export const commitSchema = z.object(commitFields).meta({ id: 'CommitSummary' })

const statsFields = { stats: z.object({ additions: z.int(), deletions: z.int(), total: z.int() }).optional() }

export function commitJson({ sha, author, committer, ...commit }: Commit, { externalUrl }: JsonContext) {
  return {
    id: sha,
    short_id: sha.slice(0, 8),
    created_at: signatureTime(committer),
    parent_ids: commit.parentShas,
    title: commit.title,
    message: commit.message,
    author_name: author.name,
    author_email: author.email,
    authored_date: signatureTime(author),
    committer_name: committer.name,
    committer_email: committer.email,
    committed_date: signatureTime(committer),
    ...trailersJson(commit.trailers ?? []),
    web_url: `${externalUrl}/${commit.project.fullPath}/-/commit/${sha}`,
  }
}

/** Returns the trailers. If a key occurs more than once, `trailers` has its last value, and `extended_trailers` all of them. */
function trailersJson(trailers: readonly Trailer[]) {
  const keys = [...new Set(trailers.map(({ key }) => key))]
  const valuesOf = (wanted: string) => trailers.filter(({ key }) => key === wanted).map(({ value }) => value)
  return {
    trailers: Object.fromEntries(trailers.map(({ key, value }) => [key, value])),
    extended_trailers: Object.fromEntries(keys.map((key) => [key, valuesOf(key)])),
  }
}

const statsJson = ({ stats }: CommitWithStats) =>
  stats && { stats: { ...stats, total: stats.additions + stats.deletions } }

export const commitShape: Shape<CommitWithStats> = {
  schema: z.object({ ...commitFields, ...statsFields }).meta({ id: 'Commit' }),
  of: (commit, context) => ({ ...commitJson(commit, context), ...statsJson(commit) }),
}

/** The new commit, or the result of a trial. */
export const pickedCommitShape: Shape<PickedCommit> = {
  schema: z.union([
    z.object(commitFields).meta({ id: 'PickedCommit' }),
    z.object({ dry_run: z.literal('success') }).meta({ id: 'DryRun' }),
  ]),
  of: ({ commit }, context) => (commit === undefined ? { dry_run: 'success' } : commitJson(commit, context)),
}

/** A commit as a single resource. A commit that was just created has no pipeline yet. */
export const singleCommitShape: Shape<CommitWithStats & Partial<Pick<CommitWithPipeline, 'lastPipeline'>>> = {
  schema: z
    .object({
      ...commitFields,
      ...statsFields,
      status: z.string().nullable(),
      project_id: z.int(),
      last_pipeline: pipelineSummaryShape.schema.nullable(),
    })
    .meta({ id: 'CommitDetails' }),
  of: (commit, context) => ({
    ...commitJson(commit, context),
    ...statsJson(commit),
    status: commit.lastPipeline?.status ?? null,
    project_id: commit.project.id,
    last_pipeline: commit.lastPipeline === undefined ? null : pipelineSummaryShape.of(commit.lastPipeline, context),
  }),
}
