import { can, canSee } from '../../base/access/can.ts'
import { standingOf } from '../../base/access/subject.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { OperationContext } from '../../base/operations/context.ts'
import { type Commit, commitOfProject } from '../../code/repositories/commit.ts'
import { findProjectRepository } from '../../code/repositories/project-repository.ts'
import type { BridgeOfPipeline, JobOfPipeline } from './pipeline.ts'

interface WithCommit {
  /** The commit in the repository; `undefined` if it is not there, or the actor may not read it. */
  readonly commit: Commit | undefined
}
export type JobWithCommit = JobOfPipeline & WithCommit
export type BridgeWithCommit = BridgeOfPipeline & WithCommit

/** Messages are as long as in pipeline records, because a page may have the same commit a hundred times. */
const MAX_MESSAGE_LENGTH = 10_000

/** Adds to each job of the project the commit for which it ran. */
export async function withCommits<Some extends JobOfPipeline>(
  context: OperationContext & ReadContext,
  project: Project,
  jobs: readonly Some[],
): Promise<(Some & WithCommit)[]> {
  const shas = new Set(jobs.flatMap(({ pipeline }) => pipeline.sha ?? []))
  const commits = shas.size === 0 ? new Map<string, Commit>() : await commitsOf(context, project, shas)
  return jobs.map((job) => ({ ...job, commit: commits.get(job.pipeline.sha ?? '') }))
}

const fullSha = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

async function commitsOf(
  context: OperationContext & ReadContext,
  project: Project,
  shas: Iterable<string>,
): Promise<ReadonlyMap<string, Commit>> {
  const found = new Map<string, Commit>()
  const repository = await findProjectRepository(context.core, project)
  if (repository === undefined) return found
  const standing = await standingOf(context, context.actor, project)
  if (!canSee(standing) || !can(standing, 'read_repository')) return found
  for (const sha of shas) {
    const oid = fullSha.test(sha) ? await repository.findCommit(sha) : undefined
    if (oid === undefined) continue
    const commit = commitOfProject(project, { oid, ...(await repository.git.shownCommit(oid)) })
    found.set(sha, { ...commit, message: commit.message.slice(0, MAX_MESSAGE_LENGTH) })
  }
  return found
}
