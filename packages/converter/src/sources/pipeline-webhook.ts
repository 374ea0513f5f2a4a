import type { PipelineRecord } from '../record.ts'
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
import { date, type Fields, flag, id, requiredId, requiredSection, seconds, section, text, texts } from './fields.ts'
import { arrangeJobs, readJobs } from './jobs.ts'
import { readUpstream } from './upstream.ts'
import { pipelineUrl, url } from './web-url.ts'

/**
 * A pipeline hook as a record. `variables` may hold secrets and is never looked at.
 *
 * @see spec/pipeline-telemetry.md 1.1
 */
export function readPipelineWebhook(hook: Fields, receivedAtNs: bigint | undefined): PipelineRecord {
  const run = requiredSection(hook, 'object_attributes')
  const pipelineId = requiredId(run, 'id')
  const status = readStatus(run, 'status')
  const ref = text(run, 'ref')
  const source = text(run, 'source')
  const givenUrl = url(run, 'url')
  const project = readProject(section(hook, 'project'), givenUrl)
  const builds = readJobs(hook, 'builds', project) ?? []
  const bridges = readJobs(hook, 'bridges', project)
  return {
    id: pipelineId,
    iid: id(run, 'iid'),
    name: text(run, 'name'),
    status,
    detailedStatus: readDetailedStatus(run),
    ref,
    tag: readTag(run, ref),
    sha: text(run, 'sha'),
    beforeSha: readBeforeSha(run),
    source,
    stages: texts(run, 'stages'),
    createdAtNs: date(run, 'created_at'),
    startedAtNs: undefined,
    updatedAtNs: undefined,
    finishedAtNs: readEnd(run, receivedAtNs),
    durationSeconds: seconds(run, 'duration'),
    queuedSeconds: seconds(run, 'queued_duration'),
    protectedRef: flag(run, 'protected_ref'),
    url: givenUrl ?? pipelineUrl(project.webUrl, pipelineId),
    failureReason: readFailureReason(run, 'failure_reason', status),
    rootPipelineId: id(run, 'root_pipeline_id'),
    upstream: readUpstream(hook, { pipelineId, project, source }),
    mergeRequest: readMergeRequest(hook, ref),
    user: readUser(hook),
    commit: readCommit(hook),
    project,
    jobs: arrangeJobs(bridges === undefined ? builds : [...builds, ...bridges]),
    bridgesListed: bridges !== undefined || builds.some((job) => job.bridge),
    receivedAtNs,
  }
}
