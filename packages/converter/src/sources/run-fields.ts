import { readBeforeSha, readDetailedStatus, readEnd, readFailureReason, readStatus, readTag } from './common-shapes.ts'
import { date, type Fields, flag, id, requiredId, seconds, text } from './fields.ts'

/** What hooks and REST say of a pipeline in the same words. `run` is `object_attributes` or the pipeline itself. */
export function readRun(run: Fields, receivedAtNs: bigint | undefined) {
  const pipelineId = requiredId(run, 'id')
  const status = readStatus(run, 'status')
  const ref = text(run, 'ref')
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
    source: text(run, 'source'),
    createdAtNs: date(run, 'created_at'),
    finishedAtNs: readEnd(run, receivedAtNs),
    durationSeconds: seconds(run, 'duration'),
    queuedSeconds: seconds(run, 'queued_duration'),
    protectedRef: flag(run, 'protected_ref'),
    failureReason: readFailureReason(run, 'failure_reason', status),
    rootPipelineId: id(run, 'root_pipeline_id'),
    receivedAtNs,
  }
}
