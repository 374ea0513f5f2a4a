import { allowedInProject } from '../../base/access/visible-store.ts'
import { chunked } from '../../base/kit/chunked.ts'
import { DomainError } from '../../base/kit/domain-error.ts'
import { type Listing, listingOf, rowsOfEach } from '../../base/kit/listing.ts'
import type { KeysetColumn } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { Actor } from '../../base/model/user.ts'
import { type JobHead, jobHeadQuery, jobRowsOf } from './job-row-store.ts'
import { detailOfRunner, hasGlobalNumber, isNumbered, type JobCriteria, jobOf, jobQuery, jobsOf } from './job-store.ts'
import type { JobOfPipeline, Pipeline, RecordedRunner } from './pipeline.ts'
import { hasIid } from './pipeline-store.ts'

/** Queries for the jobs of several pipelines or projects at once. */

const newestFirst: readonly KeysetColumn<JobHead>[] = [
  { column: 'pipeline_jobs.job_id', key: 'job_id', direction: 'desc' },
  { column: 'pipeline_jobs.id', key: 'id', direction: 'desc' },
]

/** Lists the jobs of each pipeline, newest first. */
export function pipelineJobListing(
  context: ReadContext,
  pipelines: readonly Pipeline[],
  filter: JobCriteria,
): Listing<JobOfPipeline> {
  const byKey = new Map(pipelines.map((pipeline) => [pipeline.key, pipeline]))
  return listingOf(
    context,
    pipelines.map(({ key }) => jobHeadQuery(context, filter).where('pipeline_key', '=', key)),
    {
      order: newestFirst,
      itemsOf: async (heads) => {
        const rows = await jobRowsOf(context, heads)
        return rows.map((row) => row && { ...jobOf(row), pipeline: byKey.get(row.pipeline_key)! })
      },
    },
  )
}

/** Selects jobs of a project by properties of their pipelines. */
interface PipelineCriteria {
  readonly pipelineIid?: number | undefined
  /** The sources that started the pipelines. */
  readonly sources?: readonly string[] | undefined
}

/** Lists the jobs of each project, newest first. */
export const projectJobListing = (
  context: ReadContext,
  projects: readonly Project[],
  filter: JobCriteria & PipelineCriteria,
): Listing<JobOfPipeline> =>
  listingOf(
    context,
    projects.map(({ id }) => projectJobQuery(context, id, filter)),
    { order: newestFirst, itemsOf: (heads) => jobsOfHeads(context, heads) },
  )

function projectJobQuery(
  context: ReadContext,
  projectId: number,
  { pipelineIid, sources, ...filter }: JobCriteria & PipelineCriteria,
) {
  const jobs = jobHeadQuery(context, filter).where('pipeline_jobs.project_id', '=', projectId)
  if (pipelineIid === undefined && (sources === undefined || sources.length === 0)) return jobs
  return jobs.where('pipeline_key', 'in', (eb) =>
    eb
      .selectFrom('pipelines')
      .select('pipelines.id')
      .where('pipelines.project_id', '=', projectId)
      .$if(pipelineIid !== undefined, (all) => all.where(hasIid(pipelineIid!)))
      .$if(sources !== undefined && sources.length > 0, (all) => all.where('pipelines.source', 'in', [...sources!])),
  )
}

/** Lists the jobs of all projects. */
export const jobListing = (context: ReadContext, filter: JobCriteria): Listing<JobOfPipeline> =>
  listingOf(context, [jobHeadQuery(context, filter)], {
    order: newestFirst,
    itemsOf: (heads) => jobsOfHeads(context, heads),
  })

/** Returns the jobs of the rows with their pipelines. */
const jobsOfHeads = async (context: ReadContext, heads: readonly JobHead[]): Promise<(JobOfPipeline | undefined)[]> =>
  jobsOf(context, await jobRowsOf(context, heads))

/** The limit of jobs that are read at once, for example to compute stages. */
const MAX_JOBS_READ = 100_000
const JOBS_PER_STATEMENT = 3_000

/**
 * Returns all jobs of each pipeline in the order of their ids, including superseded attempts.
 *
 * @throws DomainError `impossible` if there are too many
 */
export async function jobsOfEachPipeline(
  context: ReadContext,
  pipelines: readonly Pipeline[],
): Promise<ReadonlyMap<number, readonly JobOfPipeline[]>> {
  const byKey = new Map(pipelines.map((pipeline) => [pipeline.key, pipeline]))
  const found = new Map<number, JobOfPipeline[]>([...byKey.keys()].map((key) => [key, []]))
  let left = MAX_JOBS_READ
  for (const keys of chunked([...byKey.keys()])) {
    for await (const heads of headsOf(context, keys)) {
      left -= heads.length
      if (left < 0)
        throw new DomainError({ code: 'impossible', message: 'Too many jobs: ask for fewer pipelines at once' })
      for (const row of await jobRowsOf(context, heads)) {
        if (row === undefined) continue
        found.get(row.pipeline_key)!.push({ ...jobOf(row), pipeline: byKey.get(row.pipeline_key)! })
      }
    }
  }
  return found
}

/** Yields job heads in batches, ordered by pipeline and job id. */
async function* headsOf(context: ReadContext, keys: readonly number[]): AsyncGenerator<JobHead[]> {
  let last: JobHead | undefined
  do {
    const behind = last
    const heads = await jobHeadQuery(context, {})
      .where('pipeline_key', 'in', behind === undefined ? keys : keys.filter((key) => key >= behind.pipeline_key))
      .$if(behind !== undefined, (all) =>
        all.where((eb) => eb.or([eb('pipeline_key', '>', behind!.pipeline_key), eb('job_id', '>', behind!.job_id)])),
      )
      .orderBy('pipeline_key')
      .orderBy('job_id')
      .limit(JOBS_PER_STATEMENT)
      .execute()
    yield heads
    last = heads[JOBS_PER_STATEMENT - 1]
  } while (last !== undefined)
}

/** The number of jobs of a pipeline with a certain status. */
interface JobTally {
  readonly status: string
  readonly isRetried: boolean
  readonly count: number
}

export async function jobTallies(
  { db }: ReadContext,
  pipelines: readonly Pipeline[],
): Promise<ReadonlyMap<number, readonly JobTally[]>> {
  const found = new Map<number, JobTally[]>(pipelines.map(({ key }) => [key, []]))
  for (const keys of chunked([...found.keys()])) {
    const rows = await db
      .selectFrom('pipeline_jobs')
      .select(({ fn }) => ['pipeline_key', 'status', 'is_retried', fn.countAll<number>().as('count')])
      .where('pipeline_key', 'in', keys)
      .groupBy(['pipeline_key', 'status', 'is_retried'])
      .execute()
    for (const { pipeline_key, status, is_retried, count } of rows) {
      found.get(pipeline_key)!.push({ status, isRetried: is_retried === 1, count: Number(count) })
    }
  }
  return found
}

/** The criteria for a job of a pipeline: its id or number, its name among the current jobs, or both. */
interface JobLookup {
  readonly pipeline: Pipeline
  readonly jobId?: number | undefined
  readonly globalNumber?: number | undefined
  readonly name?: string | undefined
}

export async function jobOfEachPipeline(
  context: ReadContext,
  wanted: readonly JobLookup[],
): Promise<(JobOfPipeline | undefined)[]> {
  const queries = wanted.map(({ pipeline, jobId, globalNumber, name }) =>
    jobQuery(context, { name, isRetried: (jobId ?? globalNumber) === undefined ? false : undefined })
      .where('pipeline_key', '=', pipeline.key)
      .$if(jobId !== undefined, (all) => all.where('job_id', '=', jobId!))
      .$if(globalNumber !== undefined, (all) => all.where(hasGlobalNumber(pipeline.projectId, globalNumber!)))
      .orderBy('job_id', 'desc')
      .limit(1),
  )
  const lists = await rowsOfEach(context.db, queries)
  return lists.map(([row], index) => row && { ...jobOf(row), pipeline: wanted[index]!.pipeline })
}

/** Returns for each project the job with this Global ID number, or `undefined` if the job is not in the project. */
export async function jobOfEachProject(
  context: ReadContext,
  projects: readonly Project[],
  globalNumber: number,
): Promise<(JobOfPipeline | undefined)[]> {
  const queries = projects.map(({ id }) =>
    jobQuery(context, {}).where('pipeline_jobs.project_id', '=', id).where(hasGlobalNumber(id, globalNumber)).limit(1),
  )
  const lists = await rowsOfEach(context.db, queries)
  return jobsOf(
    context,
    lists.map(([row]) => row),
  )
}

/** Returns the job with this Global ID number, if the actor may see the pipelines of its project. */
export async function findReadableJob(
  context: ReadContext,
  actor: Actor,
  globalNumber: number,
): Promise<JobOfPipeline | undefined> {
  const row = await context.db
    .selectFrom('job_numbers')
    .innerJoin('pipeline_jobs', (join) =>
      join
        .onRef('pipeline_jobs.project_id', '=', 'job_numbers.project_id')
        .onRef('pipeline_jobs.job_id', '=', 'job_numbers.own_id'),
    )
    .innerJoin('projects', 'projects.id', 'job_numbers.project_id')
    .selectAll('pipeline_jobs')
    .where('job_numbers.number', '=', globalNumber)
    .where(isNumbered(globalNumber))
    .where(allowedInProject(context, actor, 'read_pipeline'))
    .executeTakeFirst()
  return (await jobsOf(context, [row]))[0]
}

/** The number of most recent jobs that are searched for runners. */
const RECENT_JOBS = 10_000

/**
 * Returns the latest data about each runner, in a map by id. The data come from the most recent jobs, without those
 * that the actor may not see.
 */
export async function findReadableRunners(
  context: ReadContext,
  actor: Actor,
  runnerIds: readonly number[],
): Promise<ReadonlyMap<number, RecordedRunner>> {
  const latest = context.db
    .selectFrom('pipeline_jobs')
    .innerJoin('projects', 'projects.id', 'pipeline_jobs.project_id')
    .select(({ fn }) => fn.max('pipeline_jobs.id').as('id'))
    .where('pipeline_jobs.id', '>', (eb) =>
      eb.selectFrom('pipeline_jobs as all').select((inner) => inner(inner.fn.max('all.id'), '-', RECENT_JOBS).as('id')),
    )
    .where(detailOfRunner('id'), 'in', runnerIds.map(String))
    .where(allowedInProject(context, actor, 'read_pipeline'))
    .groupBy(detailOfRunner('id'))
  const rows = await context.db.selectFrom('pipeline_jobs').selectAll().where('id', 'in', latest).execute()
  return new Map(
    rows.flatMap((row) => {
      const { runner } = jobOf(row)
      return runner?.id === undefined ? [] : [[runner.id, runner]]
    }),
  )
}
