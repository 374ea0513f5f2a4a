import type { Generated, Insertable, Selectable } from 'kysely'
import type { Pipeline } from './pipeline.ts'
import type { PipelineHead } from './prepared-record.ts'
import type { RecordVersion } from './record-version.ts'

export interface PipelinesTable {
  /** The internal key; `pipeline_id` is the id from the record. */
  id: Generated<number>
  project_id: number
  pipeline_id: number
  /** The number in its Global ID, if that differs from `pipeline_id`. */
  number: number | null
  iid: number | null
  name: string | null
  status: string
  source: string | null
  ref: string | null
  is_tag: number | null
  sha: string | null
  user_id: number | null
  username: string | null
  created_at_ms: number | null
  updated_at_ms: number
  as_of_ms: number | null
  /** The path of an upstream pipeline's project; null if it is the same project, or unknown. */
  upstream_project_path: string | null
  upstream_pipeline_id: number | null
  upstream_job_id: number | null
  /** The iid of the merge request of its project for which it ran. */
  merge_request_iid: number | null
  /** The commit of the merge request's source branch that it tests, if that is known. */
  source_sha: string | null
  /** JSON of the fields that are only shown, never searched. */
  details: string
  digest: string
  /**
   * JSON of the names of all stages that the pipeline has ever had, if their numbers differ from the order of its jobs.
   */
  stage_order: Generated<string | null>
  /** Whether it consists of posted statuses. */
  is_posted: Generated<number>
}

/** A pipeline with the path of its project. */
type PipelineRow = Selectable<PipelinesTable> & { project_path: string }

type Details = Pick<
  Pipeline,
  | 'detailedStatus'
  | 'beforeSha'
  | 'user'
  | 'commit'
  | 'upstream'
  | 'startedAtMs'
  | 'finishedAtMs'
  | 'durationSeconds'
  | 'queuedSeconds'
  | 'passedOn'
>

export function columnsOf(draft: PipelineHead, { asOfMs, digest }: RecordVersion) {
  const { detailedStatus, beforeSha, user, commit, upstream } = draft
  const { startedAtMs, finishedAtMs, durationSeconds, queuedSeconds, passedOn } = draft
  const details: Details = {
    detailedStatus,
    beforeSha,
    user,
    commit,
    upstream,
    startedAtMs,
    finishedAtMs,
    durationSeconds,
    queuedSeconds,
    passedOn,
  }
  // The upstream is unknown if it belongs to another project that the record does not name.
  const isNamed = upstream !== undefined && (!upstream.isOtherProject || upstream.projectPath !== undefined)
  return {
    iid: draft.iid ?? null,
    name: draft.name ?? null,
    status: draft.status,
    source: draft.source ?? null,
    ref: draft.ref ?? null,
    is_tag: draft.isTag === undefined ? null : Number(draft.isTag),
    sha: draft.sha ?? null,
    user_id: user?.id ?? null,
    username: user?.username ?? null,
    created_at_ms: draft.createdAtMs ?? null,
    as_of_ms: asOfMs ?? null,
    upstream_project_path: (isNamed && upstream.isOtherProject && upstream.projectPath) || null,
    upstream_pipeline_id: isNamed ? upstream.pipelineId : null,
    upstream_job_id: (isNamed && upstream.jobId) || null,
    merge_request_iid: draft.mergeRequestIid ?? null,
    details: JSON.stringify(details),
    digest,
  } satisfies Partial<Insertable<PipelinesTable>>
}

export function pipelineOf(row: PipelineRow): Pipeline {
  return Object.assign(JSON.parse(row.details) as Details, {
    key: row.id,
    id: row.pipeline_id,
    globalNumber: row.number ?? row.pipeline_id,
    iid: row.iid ?? undefined,
    projectId: row.project_id,
    projectPath: row.project_path,
    name: row.name ?? undefined,
    status: row.status,
    source: row.source ?? undefined,
    ref: row.ref ?? undefined,
    isTag: row.is_tag === null ? undefined : row.is_tag === 1,
    sha: row.sha ?? undefined,
    mergeRequestIid: row.merge_request_iid ?? undefined,
    createdAtMs: row.created_at_ms ?? undefined,
    updatedAtMs: row.updated_at_ms,
    stageOrder: row.stage_order === null ? undefined : (JSON.parse(row.stage_order) as string[]),
  })
}
