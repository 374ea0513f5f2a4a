import { date, type Fields, flag, id, percent, requiredId, seconds, text } from '../body/fields.ts'
import { readBeforeSha, readDetailedStatus, readEnd, readFailureReason, readStatus, readTag } from './common-shapes.ts'

/** Reads the fields that a pipeline has in both hooks and REST. `run` is `object_attributes` or the REST pipeline. */
export function readRun(run: Fields, receivedAtNs: bigint | undefined) {
  const pipelineId = requiredId(run, 'id')
  const status = readStatus(run, 'status')
  const ref = text(run, 'ref')
  const yamlErrors = text(run, 'yaml_errors')
  return {
    forge: 'gitlab',
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
    failureReason: readFailureReason(run, 'failure_reason', status) ?? configError(status, yamlErrors),
    refStatusName: text(run, 'ref_status_name'),
    yamlErrors,
    coverage: percent(run, 'coverage'),
    rootPipelineId: id(run, 'root_pipeline_id'),
    receivedAtNs,
  }
}

/**
 * Returns the error type of a pipeline with an unreadable configuration. Such a pipeline has the parser's messages, no
 * jobs, and often no `failure_reason`.
 */
function configError(status: string, yamlErrors: string | undefined): string | undefined {
  return status === 'failed' && yamlErrors !== undefined ? 'config_error' : undefined
}
