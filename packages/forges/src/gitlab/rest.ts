import {
  date,
  type Fields,
  flag,
  id,
  isObject,
  quoted,
  requiredSection,
  section,
  sectionWhere,
  warn,
} from '../body/fields.ts'
import { repositoryPath, url } from '../body/url.ts'
import { arrangeJobs } from '../record/arrange-jobs.ts'
import type { CommitRecord, JobRecord, PipelineRecord } from '../record/pipeline-record.ts'
import { compareRunIds, type RunId } from '../record/run-id.ts'
import { readCommit, readMergeRequest, readProject, readUser } from './common-shapes.ts'
import { hasUnreadableJobs, readJobs } from './jobs.ts'
import { readRun } from './run-fields.ts'
import { ownRoot, readUpstream } from './upstream.ts'
import { pipelineUrl } from './web-url.ts'

/**
 * Reads a REST bundle: the answers of a REST API about one pipeline, in one object.
 *
 *     { project, pipeline, jobs, bridges, commit, merge_request, source_pipeline }
 *
 * `pipeline` is required. `builds` is read if `jobs` is missing. If `bridges` is missing, the bridges were not fetched.
 * `commit`, `merge_request` and `source_pipeline` have the same shape as in hooks, because REST has no single answer
 * for each of them.
 */
export function readRestBundle(bundle: Fields, receivedAtNs: bigint | undefined): PipelineRecord {
  const run = requiredSection(bundle, 'pipeline')
  const shared = readRun(run, receivedAtNs)
  warnAboutOtherStatus(bundle, run)
  const givenUrl = url(run, 'web_url')
  const named = readProject(section(bundle, 'project'), givenUrl)
  // A job alone names its project only by its URL.
  const path = named.path ?? repositoryPath(named.webUrl)
  const project = {
    ...named,
    id: named.id ?? id(run, 'project_id'),
    path,
    name: named.name ?? path?.slice(path.lastIndexOf('/') + 1),
  }
  const jobsKey = bundle.values.jobs === undefined ? 'builds' : 'jobs'
  const jobs = readJobs(bundle, jobsKey, project) ?? []
  const bridges = readJobs(bundle, 'bridges', project)
  const arranged = arrangeJobs(bridges === undefined ? jobs : [...jobs, ...bridges])
  return {
    ...shared,
    tag: shared.tag ?? tagOfJobs(bundle, jobsKey),
    stages: stagesOf(arranged),
    startedAtNs: date(run, 'started_at'),
    updatedAtNs: date(run, 'updated_at'),
    url: givenUrl ?? pipelineUrl(project.webUrl, shared.id),
    rootPipelineId: shared.rootPipelineId ?? ownRoot(bundle, shared.id),
    upstream: readUpstream(bundle, { pipelineId: shared.id, project, source: shared.source }),
    mergeRequest: readMergeRequest(bundle, shared.ref),
    user: readUser(run),
    commit: readCommit(bundle) ?? commitOfJobs(bundle, jobsKey, shared.sha),
    project,
    jobs: arranged,
    jobsUnreadable: hasUnreadableJobs(bundle, [jobsKey, 'bridges']) || undefined,
    bridgesListed: bridges !== undefined || jobs.some((job) => job.bridge),
  }
}

/**
 * Warns if the pipeline has another status inside a job. Every job in REST repeats its pipeline; jobs that were fetched
 * while it ran contain an older status. `updated_at` tells which is newer, but old versions leave it out.
 */
function warnAboutOtherStatus(bundle: Fields, run: Fields): void {
  const { id: pipelineId, status, updated_at } = run.values
  if (typeof updated_at === 'string' || typeof status !== 'string') return
  for (const key of ['jobs', 'builds', 'bridges']) {
    const job = sectionWhere(bundle, key, ({ pipeline }) => {
      return (
        isObject(pipeline) &&
        pipeline.id === pipelineId &&
        typeof pipeline.status === 'string' &&
        pipeline.status !== status
      )
    })
    if (job === undefined) continue
    const other = quoted((job.values.pipeline as { readonly status: string }).status)
    const reason = `is ${quoted(status)}, but the pipeline of a job is ${other}, and no updated_at says which is newer`
    warn(run, 'status', reason)
    return
  }
}

/** Returns the stages in order. REST does not list them; jobs are created stage by stage, so the lowest job id gives the order. */
function stagesOf(jobs: readonly JobRecord[]): readonly string[] {
  const firstIds = new Map<string, RunId>()
  for (const { stage, id } of jobs) {
    if (stage === undefined) continue
    const first = firstIds.get(stage)
    if (first === undefined || compareRunIds(id, first) < 0) firstIds.set(stage, id)
  }
  return [...firstIds].sort(([, a], [, b]) => compareRunIds(a, b)).map(([stage]) => stage)
}

/** Returns the pipeline's commit, which every job in REST repeats. */
function commitOfJobs(bundle: Fields, jobsKey: 'jobs' | 'builds', sha: string | undefined): CommitRecord | undefined {
  if (sha === undefined) return undefined
  const job = sectionWhere(bundle, jobsKey, ({ commit }) => isObject(commit) && commit.id === sha)
  return job && readCommit(job)
}

/** Returns whether the jobs run for a tag. In a list or inside a job, the pipeline itself lacks this field. */
function tagOfJobs(bundle: Fields, jobsKey: 'jobs' | 'builds'): boolean | undefined {
  const job = sectionWhere(bundle, jobsKey, ({ tag }) => typeof tag === 'boolean')
  return job && flag(job, 'tag')
}
