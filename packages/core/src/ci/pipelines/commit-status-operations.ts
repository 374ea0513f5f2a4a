import { z } from 'zod'
import { can } from '../../base/access/can.ts'
import { standingOf } from '../../base/access/subject.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { type Page, pageInput } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { query } from '../../base/operations/operation.ts'
import { revision } from '../../code/repositories/commit-operations.ts'
import { findProjectRepository } from '../../code/repositories/project-repository.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { pageOfCommitJobs } from './job-store.ts'
import type { JobOfPipeline } from './pipeline.ts'

const word = z.string().max(1_024)

/** A recorded job of a commit. */
export interface CommitStatus extends JobOfPipeline {
  readonly sha: string
}

/** Lists the jobs of the recorded pipelines of a commit. */
export const listCommitStatuses = query(
  {
    name: 'listCommitStatuses',
    caller: 'anyone',
    input: z.object({
      project: namespaceRef,
      sha: revision,
      ref: word.nullish(),
      stage: word.nullish(),
      name: word.nullish(),
      pipelineId: z.int().nullish(),
      /** Includes jobs that a later attempt has superseded. */
      all: z.boolean().nullish(),
      orderBy: z.enum(['id', 'pipeline_id']).default('id'),
      sort: z.enum(['asc', 'desc']).default('asc'),
      ...pageInput,
    }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_pipeline',
  },
  async (context, { sha: revisionOfCommit, ...filter }): Promise<Page<CommitStatus>> => {
    const repository = await findProjectRepository(context.core, context.subject)
    // A recorded pipeline may be of a commit that was never pushed to this repository.
    const recorded = /^[0-9a-f]{40}$/i.test(revisionOfCommit) ? revisionOfCommit.toLowerCase() : undefined
    // Callers that may not read the repository must not find out which revisions exist.
    const mayResolve = can(await standingOf(context, context.actor, context.subject), 'read_repository')
    const sha = (mayResolve ? await repository?.findCommit(revisionOfCommit) : undefined) ?? recorded
    if (sha === undefined) throw notFound('Commit')
    const jobs = await pageOfCommitJobs(context, context.subject, { sha, ...filter }, filter)
    return { ...jobs, items: jobs.items.map((job) => ({ ...job, sha })) }
  },
)
