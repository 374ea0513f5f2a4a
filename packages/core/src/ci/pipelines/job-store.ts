import { type ExpressionBuilder, type Generated, type Selectable, type SqlBool, sql } from 'kysely'
import { notFound } from '../../base/kit/domain-error.ts'
import {
  type KeysetPage,
  type KeysetRequest,
  keysetPageOf,
  type Page,
  type PageRequest,
  pageOf,
} from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import type { Project } from '../../base/model/project.ts'
import type { JobDetails } from './job-columns.ts'
import type { JobFilter, JobOfPipeline, Pipeline, RecordedJob, RecordedRunner } from './pipeline.ts'
import { pipelinesByKey } from './pipeline-store.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    pipeline_jobs: PipelineJobsTable
  }
}

interface PipelineJobsTable {
  id: Generated<number>
  pipeline_key: number
  project_id: number
  /** The id from the record; unique within the pipeline. */
  job_id: number
  /** The number in its Global ID, if that differs from `job_id`. */
  number: Generated<number | null>
  is_bridge: number
  is_retried: number
  status: string
  /** JSON of the fields that are only shown, never searched. */
  details: string
  /** Whether a program has posted it as a status of the commit. Lists of jobs leave it out, as on GitLab. */
  is_posted: Generated<number>
}

export type JobRow = Selectable<PipelineJobsTable>

export type JobKind = 'build' | 'bridge'

/** Returns a page of a pipeline's jobs, newest first. */
export async function pageOfPipelineJobs(
  context: ReadContext,
  pipeline: Pipeline,
  filter: JobFilter & { readonly kind: JobKind; readonly includeRetried: boolean },
  page: PageRequest,
): Promise<Page<JobOfPipeline>> {
  const query = scopedJobQuery(context, filter.kind, filter)
    .where('pipeline_key', '=', pipeline.key)
    .$if(!filter.includeRetried, (all) => all.where('is_retried', '=', 0))
    .orderBy('job_id', 'desc')
  const rows = await pageOf(context, query, page)
  return { ...rows, items: rows.items.map((row) => ({ ...jobOf(row), pipeline })) }
}

/** Returns a page of the builds of all pipelines of a project, newest first. */
export async function pageOfProjectJobs(
  context: ReadContext,
  { id }: Project,
  filter: JobFilter,
  page: PageRequest,
): Promise<Page<JobOfPipeline>> {
  const query = scopedJobQuery(context, 'build', filter)
    .where('project_id', '=', id)
    .orderBy('job_id', 'desc')
    .orderBy('id', 'desc')
  const rows = await pageOf(context, query, page)
  return { ...rows, items: await existingJobs(context, rows.items) }
}

export async function keysetPageOfProjectJobs(
  context: ReadContext,
  { id }: Project,
  filter: JobFilter,
  page: KeysetRequest,
): Promise<KeysetPage<JobOfPipeline>> {
  const query = scopedJobQuery(context, 'build', filter).where('project_id', '=', id)
  const rows = await keysetPageOf<'pipeline_jobs', JobRow>(query, page, [
    { column: 'pipeline_jobs.job_id', key: 'job_id', direction: 'desc' },
    { column: 'pipeline_jobs.id', key: 'id', direction: 'desc' },
  ])
  return { ...rows, items: await existingJobs(context, rows.items) }
}

interface CommitJobFilter {
  readonly sha: string
  readonly ref?: string | null | undefined
  readonly stage?: string | null | undefined
  readonly name?: string | null | undefined
  readonly pipelineId?: number | null | undefined
  /** Includes jobs that a later attempt has superseded. */
  readonly all?: boolean | null | undefined
  readonly orderBy: 'id' | 'pipeline_id'
  readonly sort: 'asc' | 'desc'
}

/** Returns a page of the builds of all pipelines of a commit. */
export async function pageOfCommitJobs(
  context: ReadContext,
  { id }: Project,
  { sha, ref, stage, name, pipelineId, all, orderBy, sort }: CommitJobFilter,
  page: PageRequest,
): Promise<Page<JobOfPipeline>> {
  const pipelines = context.db
    .selectFrom('pipelines')
    .select('pipelines.id')
    .where('pipelines.project_id', '=', id)
    .where('pipelines.sha', '=', sha)
    .$if(!!ref, (query) => query.where('pipelines.ref', '=', ref!))
    .$if(!!pipelineId, (query) => query.where('pipelines.pipeline_id', '=', pipelineId!))
  const query = jobQuery(context, { kind: 'build', name: name ?? undefined, ...(!all && { isRetried: false }) })
    .where('pipeline_key', 'in', pipelines)
    .$if(!!stage, (jobs) => jobs.where(detail('stage'), '=', stage!))
    .$if(orderBy === 'pipeline_id', (jobs) => jobs.orderBy('pipeline_key', sort))
    .orderBy('job_id', sort)
    .orderBy('id', sort)
  const rows = await pageOf(context, query, page)
  return { ...rows, items: await existingJobs(context, rows.items) }
}

const existingJobs = async (context: ReadContext, rows: readonly JobRow[]): Promise<JobOfPipeline[]> =>
  (await jobsOf(context, rows)).filter((job) => job !== undefined)

/**
 * Returns a build of a project: the one that was recorded first, if several of its pipelines list it.
 *
 * @throws DomainError `not_found`, also for a job of another project
 */
export async function getJobRow(context: ReadContext, { id }: Project, jobId: number): Promise<JobOfPipeline> {
  return firstJob(context, scopedJobQuery(context, 'build', {}).where('project_id', '=', id), jobId)
}

/** Works like `getJobRow`, and also returns bridges. */
export const getProcessableRow = (context: ReadContext, { id }: Project, jobId: number): Promise<JobOfPipeline> =>
  firstJob(context, jobQuery(context, {}).where('project_id', '=', id), jobId)

async function firstJob(
  context: ReadContext,
  jobs: ReturnType<typeof jobQuery>,
  jobId: number,
): Promise<JobOfPipeline> {
  const row = await jobs.where('job_id', '=', jobId).orderBy('id').limit(1).executeTakeFirst()
  const [job] = await jobsOf(context, [row])
  if (job === undefined) throw notFound()
  return job
}

const scopedJobQuery = (context: ReadContext, kind: JobKind, { scope }: JobFilter) =>
  jobQuery(context, { kind, statuses: scope }).where('pipeline_jobs.is_posted', '=', 0)

export interface JobCriteria {
  /** Default: both kinds. */
  readonly kind?: JobKind | undefined
  /** An empty list means any status. */
  readonly statuses?: readonly string[] | undefined
  /** Whether a later attempt has superseded the job. */
  readonly isRetried?: boolean | undefined
  readonly name?: string | undefined
  /** `manual`, `on_success` … */
  readonly whens?: readonly string[] | undefined
  readonly hasArtifacts?: boolean | undefined
  /** The types as records name them. */
  readonly runnerTypes?: readonly string[] | undefined
}

/** Matches jobs of a project that have this Global ID number. */
export const hasGlobalNumber =
  (projectId: number, number: number) => (eb: ExpressionBuilder<CoreTables, 'pipeline_jobs'>) =>
    eb.and([
      eb(
        'pipeline_jobs.job_id',
        'in',
        eb
          .selectFrom('job_numbers')
          .select('own_id')
          .where('job_numbers.project_id', '=', projectId)
          .where('job_numbers.number', '=', number),
      ),
      isNumbered(number),
    ])

/**
 * Matches the job with this number, which distinguishes it from a job of the same id in an earlier pipeline of the
 * project.
 */
export const isNumbered = (number: number) =>
  sql<SqlBool>`coalesce(pipeline_jobs.number, pipeline_jobs.job_id) = ${number}`

export function jobQuery({ db }: ReadContext, filter: JobCriteria) {
  const { kind, statuses, isRetried, name, whens, hasArtifacts, runnerTypes } = filter
  return db
    .selectFrom('pipeline_jobs')
    .selectAll('pipeline_jobs')
    .$if(kind !== undefined, (query) => query.where('is_bridge', '=', kind === 'bridge' ? 1 : 0))
    .$if(statuses !== undefined && statuses.length > 0, (query) =>
      query.where('pipeline_jobs.status', 'in', [...statuses!]),
    )
    .$if(isRetried !== undefined, (query) => query.where('is_retried', '=', Number(isRetried)))
    .$if(name !== undefined, (query) => query.where(detail('name'), '=', name!))
    .$if(whens !== undefined && whens.length > 0, (query) => query.where(detail('when'), 'in', [...whens!]))
    .$if(hasArtifacts !== undefined, (query) => query.where(detail('artifacts'), hasArtifacts ? 'is not' : 'is', null))
    .$if(runnerTypes !== undefined && runnerTypes.length > 0, (query) =>
      query.where(detailOfRunner('type'), 'in', [...runnerTypes!]),
    )
}

/** SQL that both databases accept: `jsonb(…)` is a function in SQLite and a cast in PostgreSQL. */
const details = sql`jsonb(pipeline_jobs.details)`
const detail = (key: keyof JobDetails) => sql<string | null>`${details} ->> ${sql.lit(key)}`
/** Returns SQL for a field of the job's runner, as text. */
export const detailOfRunner = (key: keyof RecordedRunner) =>
  sql<string | null>`cast(${details} -> 'runner' ->> ${sql.lit(key)} as text)`

/** Returns the jobs with their pipelines in input order, with `undefined` for those deleted in between. */
export async function jobsOf(
  context: ReadContext,
  rows: readonly (JobRow | undefined)[],
): Promise<(JobOfPipeline | undefined)[]> {
  const pipelines = await pipelinesByKey(
    context,
    rows.flatMap((row) => row?.pipeline_key ?? []),
  )
  return rows.map((row) => {
    const pipeline = row && pipelines.get(row.pipeline_key)
    return pipeline && { ...jobOf(row), pipeline }
  })
}

export const jobOf = (row: JobRow): RecordedJob => ({
  ...(JSON.parse(row.details) as JobDetails),
  id: row.job_id,
  globalNumber: row.number ?? row.job_id,
  isBridge: row.is_bridge === 1,
  isRetried: row.is_retried === 1,
  status: row.status,
})
