import type { CommitRecord, JobRecord, PipelineRecord } from '../record.ts'
import {
  readBeforeSha,
  readCommit,
  readDetailedStatus,
  readEnd,
  readFailureReason,
  readMergeRequest,
  readProject,
  readStatus,
  readTag,
  readUser,
} from './common-shapes.ts'
import {
  date,
  type Fields,
  flag,
  id,
  isObject,
  requiredId,
  requiredSection,
  seconds,
  section,
  sectionWhere,
  text,
} from './fields.ts'
import { arrangeJobs, readJobs } from './jobs.ts'
import { readUpstream } from './upstream.ts'
import { pipelineUrl, url } from './web-url.ts'

/**
 * What a REST API tells about one pipeline, gathered in one object:
 *
 *     { project, pipeline, jobs, bridges, commit, merge_request, source_pipeline }
 *
 * `pipeline` is required. `bridges` missing means that nobody asked for them. The last three have the shape they have in
 * hooks; REST spreads them over other answers.
 *
 * @see spec/pipeline-telemetry.md 1.2
 */
export function readRestBundle(bundle: Fields, receivedAtNs: bigint | undefined): PipelineRecord {
  const run = requiredSection(bundle, 'pipeline')
  const pipelineId = requiredId(run, 'id')
  const status = readStatus(run, 'status')
  const ref = text(run, 'ref')
  const sha = text(run, 'sha')
  const source = text(run, 'source')
  const givenUrl = url(run, 'web_url')
  const namedProject = readProject(section(bundle, 'project'), givenUrl)
  const project = namedProject.id === undefined ? { ...namedProject, id: id(run, 'project_id') } : namedProject
  const jobs = readJobs(bundle, 'jobs', project) ?? []
  const bridges = readJobs(bundle, 'bridges', project)
  const arranged = arrangeJobs(bridges === undefined ? jobs : [...jobs, ...bridges])
  return {
    id: pipelineId,
    iid: id(run, 'iid'),
    name: text(run, 'name'),
    status,
    detailedStatus: readDetailedStatus(run),
    ref,
    tag: readTag(run, ref),
    sha,
    beforeSha: readBeforeSha(run),
    source,
    stages: stagesOf(arranged),
    createdAtNs: date(run, 'created_at'),
    startedAtNs: date(run, 'started_at'),
    updatedAtNs: date(run, 'updated_at'),
    finishedAtNs: readEnd(run, receivedAtNs),
    durationSeconds: seconds(run, 'duration'),
    queuedSeconds: seconds(run, 'queued_duration'),
    protectedRef: flag(run, 'protected_ref'),
    url: givenUrl ?? pipelineUrl(project.webUrl, pipelineId),
    failureReason: readFailureReason(run, 'failure_reason', status) ?? configError(run, status),
    rootPipelineId: id(run, 'root_pipeline_id'),
    upstream: readUpstream(bundle, { pipelineId, project, source }),
    mergeRequest: readMergeRequest(bundle, ref),
    user: readUser(run),
    commit: readCommit(bundle) ?? commitOfJobs(bundle, sha),
    project,
    jobs: arranged,
    bridgesListed: bridges !== undefined || jobs.some((job) => job.bridge),
    receivedAtNs,
  }
}

/** REST does not list stages. Jobs are created stage by stage, so the lowest id of each tells their order. */
function stagesOf(jobs: readonly JobRecord[]): readonly string[] {
  const firstIds = new Map<string, bigint>()
  for (const { stage, id } of jobs) {
    if (stage === undefined) continue
    const first = firstIds.get(stage)
    if (first === undefined || id < first) firstIds.set(stage, id)
  }
  return [...firstIds].sort(([, a], [, b]) => (a < b ? -1 : 1)).map(([stage]) => stage)
}

/** A pipeline whose configuration could not be read has no jobs and no `failure_reason`, only the parser's messages. */
function configError(run: Fields, status: string): string | undefined {
  return status === 'failed' && text(run, 'yaml_errors') !== undefined ? 'config_error' : undefined
}

/** Every job in REST repeats the pipeline's commit. */
function commitOfJobs(bundle: Fields, sha: string | undefined): CommitRecord | undefined {
  if (sha === undefined) return undefined
  const job = sectionWhere(bundle, 'jobs', ({ commit }) => isObject(commit) && commit.id === sha)
  return job && readCommit(job)
}
