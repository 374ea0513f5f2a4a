import { date, type Fields, requiredSection, section, texts } from '../body/fields.ts'
import { url } from '../body/url.ts'
import { arrangeJobs } from '../record/arrange-jobs.ts'
import type { PipelineRecord } from '../record/pipeline-record.ts'
import { isFinished } from '../record/status.ts'
import { readCommit, readMergeRequest, readProject, readUser } from './common-shapes.ts'
import { hasUnreadableJobs, readJobs } from './jobs.ts'
import { readRun } from './run-fields.ts'
import { ownRoot, readUpstream } from './upstream.ts'
import { pipelineUrl } from './web-url.ts'

/**
 * Reads a pipeline hook as a record. The field `variables` is never read, because it may contain secrets.
 */
export function readPipelineWebhook(hook: Fields, receivedAtNs: bigint | undefined): PipelineRecord {
  const run = requiredSection(hook, 'object_attributes')
  const shared = readRun(run, receivedAtNs)
  const givenUrl = url(run, 'url')
  const project = readProject(section(hook, 'project'), givenUrl)
  const builds = readJobs(hook, 'builds', project) ?? []
  const bridges = readJobs(hook, 'bridges', project)
  const updatedAtNs = date(run, 'updated_at')
  // A hook does not say when its pipeline started. One with a result ran, so its last update is its end, unless its jobs say more.
  const hasEnd = shared.durationSeconds !== undefined || builds.some(({ finishedAtNs }) => finishedAtNs !== undefined)
  const endsWithUpdate = !hasEnd && isFinished(shared.status) && shared.status !== 'skipped'
  return {
    ...shared,
    stages: texts(run, 'stages'),
    startedAtNs: undefined,
    updatedAtNs,
    finishedAtNs: shared.finishedAtNs ?? (endsWithUpdate ? updatedAtNs : undefined),
    url: givenUrl ?? pipelineUrl(project.webUrl, shared.id),
    rootPipelineId: shared.rootPipelineId ?? ownRoot(hook, shared.id),
    upstream: readUpstream(hook, { pipelineId: shared.id, project, source: shared.source }),
    mergeRequest: readMergeRequest(hook, shared.ref),
    user: readUser(hook),
    commit: readCommit(hook),
    project,
    jobs: arrangeJobs(bridges === undefined ? builds : [...builds, ...bridges]),
    jobsUnreadable: hasUnreadableJobs(hook, ['builds', 'bridges']) || undefined,
    bridgesListed: bridges !== undefined || builds.some((job) => job.bridge),
  }
}
