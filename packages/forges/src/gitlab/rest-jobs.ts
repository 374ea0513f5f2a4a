import { isObject, type JsonObject } from '../body/fields.ts'

/** A job or bridge of the REST API, which contains its pipeline. */
export interface RestJob extends JsonObject {
  readonly pipeline: JsonObject
}

/** A REST bundle made from jobs, and the index of the first of these jobs in the original list. */
export interface GroupedJobs {
  readonly firstIndex: number
  readonly body: JsonObject
}

/**
 * Returns whether a body is a job of `GET …/pipelines/N/jobs` or `…/bridges`. A REST bundle has no `id` and no `status`, and
 * a package, which contains its pipeline too, has a `package_type`.
 */
export function isRestJob(body: unknown): body is RestJob {
  return (
    isObject(body) &&
    isObject(body.pipeline) &&
    ['id', 'status', 'name'].every((key) => key in body) &&
    !['jobs', 'bridges', 'package_type'].some((key) => key in body)
  )
}

/**
 * Returns one REST bundle per pipeline of the jobs, in order of each pipeline's first job.
 *
 * The pipeline inside a job has no duration and no end; the converter then takes the end from the jobs.
 */
export function groupRestJobs(jobs: readonly RestJob[]): readonly GroupedJobs[] {
  const groups = new Map<string, { firstIndex: number; pipeline: JsonObject; jobs: RestJob[]; bridges: RestJob[] }>()
  for (const [index, job] of jobs.entries()) {
    const key = pipelineKey(job)
    const known = groups.get(key)
    const group = known ?? { firstIndex: index, pipeline: job.pipeline, jobs: [], bridges: [] }
    if (known === undefined) groups.set(key, group)
    else if (updatedAt(job.pipeline) > updatedAt(group.pipeline)) group.pipeline = job.pipeline
    group['downstream_pipeline' in job ? 'bridges' : 'jobs'].push(job)
  }
  return [...groups.values()].map(({ firstIndex, pipeline, jobs, bridges }) => ({
    firstIndex,
    body: { ...projectOf(pipeline, jobs[0] ?? bridges[0]!), pipeline, jobs, ...(bridges.length > 0 && { bridges }) },
  }))
}

/**
 * Returns the project of a job. Jobs of a runner contain it. Old versions leave out the pipeline's URL. In that case,
 * the project's URL is read from the start of the job's URL.
 */
function projectOf({ web_url, project_id }: JsonObject, job: RestJob): { readonly project?: JsonObject } {
  const named = isObject(job.project) ? job.project : undefined
  const end = typeof web_url === 'string' || typeof job.web_url !== 'string' ? -1 : job.web_url.lastIndexOf('/-/jobs/')
  if (end <= 0) return named === undefined ? {} : { project: named }
  const webUrl = (job.web_url as string).slice(0, end)
  return { project: { ...named, id: named?.id ?? project_id, web_url: named?.web_url ?? webUrl } }
}

/** Returns a key for the pipeline of a job. Ids are unique within an instance, which the URL contains. */
export function pipelineKey({ pipeline: { id, project_id, web_url } }: RestJob): string {
  return typeof web_url === 'string' ? `url ${web_url}` : `id ${String(project_id)} ${String(id)}`
}

/**
 * Returns the time of a pipeline's state. Jobs fetched while the pipeline was running contain older states. Dates from
 * the same API can be compared as texts.
 */
function updatedAt({ updated_at }: JsonObject): string {
  return typeof updated_at === 'string' ? updated_at : ''
}
