import { z } from 'zod'
import { can, canSee } from '../../base/access/can.ts'
import { standingsOf } from '../../base/access/subject.ts'
import { allowedInProject } from '../../base/access/visible-store.ts'
import { chunked } from '../../base/kit/chunked.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { type Listed, listedEach } from '../../base/kit/listing.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import type { OperationContext } from '../../base/operations/context.ts'
import { batchQuery, unscopedBatchQuery, unscopedQuery } from '../../base/operations/operation.ts'
import { type ListedCommit, listedCommitOf } from '../../code/repositories/commit.ts'
import { findProjectRepository } from '../../code/repositories/project-repository.ts'
import { projectOf } from '../../identity/projects/project-store.ts'
import { findUsersByUsername } from '../../identity/users/user-store.ts'
import { downstreamListing, downstreamOfEach, findReadablePipeline, upstreamOfEach } from './linked-pipeline-store.ts'
import { type JobOfPipeline, type Pipeline, pipelinesOfEachInput } from './pipeline.ts'
import { hasIid, newestOfEach, ofProject, pipelineListing, pipelineQuery } from './pipeline-store.ts'

/** Lists the pipelines of each project, newest first. */
export const listPipelinesOfEach = batchQuery(
  { name: 'listPipelinesOfEach', input: pipelinesOfEachInput, permission: 'read_pipeline' },
  async (context, projects: readonly Project[], filter) => {
    const queries = projects.map(({ id }) => pipelineQuery(context, id, filter))
    return listedEach(pipelineListing(context, queries), projects.length)
  },
)

/** A commit and the project in which its pipelines are searched. */
interface CommitInProject {
  readonly inProject: Project
  readonly sha: string
}

/** Lists the pipelines of each commit, newest first, or returns `undefined` if the actor may not see them. */
export const listPipelinesOfEachCommit = unscopedBatchQuery(
  { name: 'listPipelinesOfEachCommit', input: pipelinesOfEachInput },
  async (context, commits: readonly CommitInProject[], filter): Promise<(Listed<Pipeline> | undefined)[]> => {
    const isReadable = await readableProjects(context, commits)
    const queries = commits.map(({ inProject: { id }, sha }) =>
      pipelineQuery(context, id, filter).where('pipelines.sha', '=', sha),
    )
    const lists = listedEach(pipelineListing(context, queries), commits.length)
    return lists.map((list, index) => (isReadable(commits[index]!) ? list : undefined))
  },
)

/** Returns the pipeline with the highest id of each commit, optionally of one ref. */
export const latestPipelineOfEachCommit = unscopedBatchQuery(
  { name: 'latestPipelineOfEachCommit', input: pipelinesOfEachInput.pick({ ref: true }) },
  async (context, commits: readonly CommitInProject[], filter): Promise<(Pipeline | undefined)[]> => {
    const isReadable = await readableProjects(context, commits)
    const queries = commits.map(({ inProject: { id }, sha }) => pipelineQuery(context, id, { ...filter, sha }))
    const found = await newestOfEach(context, queries)
    return found.map((pipeline, index) => (isReadable(commits[index]!) ? pipeline : undefined))
  },
)

async function readableProjects(context: OperationContext & ReadContext, commits: readonly CommitInProject[]) {
  const projects = [...new Map(commits.map(({ inProject }) => [inProject.id, inProject])).values()]
  const standings = await standingsOf(context, context.actor, projects)
  const ids = projects.flatMap(({ id }, index) => {
    const standing = standings[index]!
    return canSee(standing) && can(standing, 'read_pipeline') ? id : []
  })
  const readable = new Set(ids)
  return ({ inProject }: CommitInProject): boolean => readable.has(inProject.id)
}

/**
 * Finds a pipeline of each project by its Global ID number, by its iid, or as the newest of a commit. If none of these
 * is given, finds the pipeline of the default branch that the REST API shows.
 */
export const findPipelineOfEach = batchQuery(
  {
    name: 'findPipelineOfEach',
    input: z.object({
      globalNumber: z.int().optional(),
      iid: z.int().optional(),
      sha: z.string().max(1_024).optional(),
    }),
    permission: 'read_pipeline',
  },
  async (context, projects: readonly Project[], { globalNumber, iid, sha }): Promise<(Pipeline | undefined)[]> => {
    if (globalNumber !== undefined) {
      const pipeline = await findReadablePipeline(context, context.actor, globalNumber)
      return projects.map((project) => (pipeline?.projectId === project.id ? pipeline : undefined))
    }
    const queries = projects.map(({ id: projectId, defaultBranch }) => {
      if (iid !== undefined) return ofProject(context, projectId).where(hasIid(iid))
      return pipelineQuery(context, projectId, sha === undefined ? { ref: defaultBranch ?? '' } : { sha })
    })
    return newestOfEach(context, queries)
  },
)

const countedScopes = ['running', 'pending', 'finished'] as const
const MAX_COUNTED = 100_000

/** The number of pipelines in all and by scope, up to a limit. */
export type PipelineCounts = Readonly<Record<(typeof countedScopes)[number] | 'all', number>>

export const countPipelinesOfEach = batchQuery(
  {
    name: 'countPipelinesOfEach',
    input: pipelinesOfEachInput.pick({ ref: true, sha: true, source: true }),
    permission: 'read_pipeline',
  },
  async (context, projects: readonly Project[], filter): Promise<PipelineCounts[]> => {
    const queries = projects.flatMap(({ id }) =>
      [undefined, ...countedScopes].map((scope) => pipelineQuery(context, id, { ...filter, scope })),
    )
    const counts = await pipelineListing(context, queries).counts(MAX_COUNTED)
    return projects.map((_, index) => {
      const [all, running, pending, finished] = counts.slice(index * 4, index * 4 + 4) as [
        number,
        number,
        number,
        number,
      ]
      return { all, running, pending, finished }
    })
  },
)

/** Returns for each pipeline whether it is the latest of its ref. */
export const areLatestPipelines = unscopedBatchQuery(
  { name: 'areLatestPipelines', input: z.object({}) },
  async (context, pipelines: readonly Pipeline[]): Promise<boolean[]> => {
    const refs = new Map(pipelines.map((each) => [refKey(each), each]))
    const queries = [...refs.values()].map(({ projectId, ref }) =>
      pipelineQuery(context, projectId, { ref: ref ?? '' }),
    )
    const latest = new Set((await newestOfEach(context, queries)).map((each) => each?.key))
    return pipelines.map(({ key }) => latest.has(key))
  },
)

const refKey = ({ projectId, ref }: Pipeline): string => `${projectId} ${ref ?? ''}`

/** Lists the pipelines that each pipeline started. */
export const listDownstreamsOfEach = unscopedBatchQuery(
  { name: 'listDownstreamsOfEach', input: z.object({}) },
  async (context, pipelines: readonly Pipeline[]) =>
    listedEach(downstreamListing(context, context.actor, pipelines), pipelines.length),
)

/** Returns the pipeline that each bridge started. */
export const downstreamsOfBridges = unscopedBatchQuery(
  { name: 'downstreamsOfBridges', input: z.object({}) },
  (context, bridges: readonly JobOfPipeline[]) => downstreamOfEach(context, context.actor, bridges),
)

/** Returns the pipeline that started each pipeline. */
export const upstreamsOfPipelines = unscopedBatchQuery(
  { name: 'upstreamsOfPipelines', input: z.object({}) },
  (context, pipelines: readonly Pipeline[]) => upstreamOfEach(context, context.actor, pipelines),
)

/** Returns the local user with the username that each record names. */
export const usersOfPipelines = unscopedBatchQuery(
  { name: 'usersOfPipelines', input: z.object({}) },
  async (context, pipelines: readonly Pipeline[]): Promise<(User | undefined)[]> => {
    const names = pipelines.map(({ user }) => user?.username?.toLowerCase())
    const users = new Map<string | undefined, User>()
    for (const some of chunked([...new Set(names.flatMap((name) => name ?? []))])) {
      for (const user of await findUsersByUsername(context, some)) users.set(user.username.toLowerCase(), user)
    }
    return names.map((name) => users.get(name))
  },
)

export interface CommitOfPipeline extends ListedCommit {
  readonly inProject: Project
}

/** Returns the commit of each pipeline, if it is in the repository and the actor may read that. */
export const commitsOfPipelines = unscopedBatchQuery(
  { name: 'commitsOfPipelines', input: z.object({}) },
  async (context, pipelines: readonly Pipeline[]): Promise<(CommitOfPipeline | undefined)[]> => {
    const rows = await context.db
      .selectFrom('projects')
      .selectAll()
      .where('id', 'in', [...new Set(pipelines.map(({ projectId }) => projectId))])
      .where(allowedInProject(context, context.actor, 'read_repository'))
      .execute()
    const commits = await Promise.all(
      rows.map(async (row) => {
        const project = projectOf(row)
        const shas = pipelines.flatMap(({ projectId, sha }) => (projectId === project.id ? (sha ?? []) : []))
        return [project.id, await commitsOf(context, project, new Set(shas))] as const
      }),
    )
    const byProject = new Map(commits)
    return pipelines.map(({ projectId, sha }) => (sha === undefined ? undefined : byProject.get(projectId)?.get(sha)))
  },
)

const fullSha = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

async function commitsOf(
  { core }: OperationContext,
  project: Project,
  shas: Iterable<string>,
): Promise<Map<string, CommitOfPipeline>> {
  const found = new Map<string, CommitOfPipeline>()
  const repository = await findProjectRepository(core, project)
  if (repository === undefined) return found
  for (const sha of shas) {
    const oid = fullSha.test(sha) ? await repository.findCommit(sha) : undefined
    if (oid === undefined) continue
    const commit = listedCommitOf(project, { oid, ...(await repository.git.commitHeader(oid)) })
    found.set(sha, { ...commit, inProject: project })
  }
  return found
}

/** Finds a pipeline by its Global ID number. */
export const findPipeline = unscopedQuery(
  { name: 'findPipeline', caller: 'anyone', input: z.object({ globalNumber: z.int() }) },
  async (context, { globalNumber }): Promise<Pipeline> => {
    const pipeline = await findReadablePipeline(context, context.actor, globalNumber)
    if (pipeline === undefined) throw notFound()
    return pipeline
  },
)
