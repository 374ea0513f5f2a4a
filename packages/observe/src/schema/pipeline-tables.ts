import type { Generated } from 'kysely'

export type RefKind = 'default_branch' | 'other_branch' | 'tag' | 'merge_request'

/**
 * The rows that the store derives from spans of CI systems, in the transaction that stores the spans. A row is a function of
 * the stored spans of its trace, so it does not depend on the order in which they arrived or on how often.
 */
export interface PipelineTables {
  pipeline_runs: PipelineRunTable
  pipeline_jobs: PipelineJobTable
  pipeline_stages: PipelineStageTable
  pipeline_facts: PipelineFactsTable
  pipeline_rereads: PipelineRereadTable
}

interface DerivedColumns {
  trace_id: string
  span_id: string
  /** '' for a root span. */
  parent_span_id: string
  /** The id in `spans` of the last stored copy of the span. Retention deletes the row with it. */
  span_row_id: number
}

interface TimedColumns extends DerivedColumns {
  service_id: number
  /** `success`, `failed`, `canceled`, `skipped`, `running`, … */
  status: string | null
  /** 1 if the status is one that does not change any more. */
  is_final: number
  start_ns: bigint
  end_ns: bigint
}

/** One pipeline run: the span of a pipeline. */
export interface PipelineRunTable extends TimedColumns {
  id: Generated<number>
  /** 1 if a span of another pipeline in the same trace started the run. */
  is_child: number
  name: string | null
  /** The full path of the project; its name if the path is unknown. */
  project: string | null
  project_name: string | null
  /** The path of the project's group or owner. */
  namespace: string | null
  project_url: string | null
  /** The name of the forge, such as `github`; `null` if the telemetry does not name it. */
  forge: string | null
  pipeline_id: string | null
  pipeline_iid: number | null
  ref: string | null
  ref_kind: RefKind | null
  sha: string | null
  /** The first line of the commit message, or the title of the merge request. */
  title: string | null
  trigger_type: string | null
  username: string | null
  url: string | null
  /** The platform's duration, which leaves out waiting. */
  busy_seconds: number | null
  queue_seconds: number | null
  coverage: number | null
  /** Job spans, bridges and all attempts included. */
  jobs: number
  /** Failed job spans of the run and of its child pipelines, without bridges. */
  jobs_failed: number
  /** A JSON list of at most 5 names: of these jobs, or of failed bridges if there are none. */
  failed_jobs_json: string
  /** A JSON list of the 40 longest jobs in order of start: `[name, stage, status, start_ns, end_ns]`. */
  shape_json: string
}

/** One attempt of a job or bridge. */
export interface PipelineJobTable extends TimedColumns {
  id: Generated<number>
  /** The run in `pipeline_runs`; `null` until its span arrives. */
  run_id: number | null
  name: string
  stage: string | null
  job_id: string | null
  is_bridge: number
  /** 0 if the job never ran; its span has no length then. */
  has_run: number
  is_manual: number
  allow_failure: number
  failure_reason: string | null
  /** Counts from 1; `null` if unknown. */
  attempt: number | null
  /** The platform's duration. */
  duration_seconds: number | null
  queue_seconds: number | null
  /** The time on the critical path of its run; 0 if the job is not on it. For a bridge, the time inside its child is left out. */
  critical_seconds: number
  runner_id: string | null
  runner_name: string | null
  /** A JSON list of texts. */
  runner_tags_json: string | null
  environment: string | null
  username: string | null
  url: string | null
  coverage: number | null
}

/** A span between a run and its jobs, which groups the jobs of a stage. */
export interface PipelineStageTable extends DerivedColumns {
  id: Generated<number>
}

/** The data of one run and its jobs that statistics use, in a form that is fast to read for hundreds of thousands of jobs. */
export interface PipelineFactsTable {
  /** Facts that change get a new id. */
  id: Generated<number>
  /** The run in `pipeline_runs`. */
  run_id: number
  /** The run, and the texts of its jobs. */
  facts_json: string
  /** The numbers of its jobs. */
  jobs: Uint8Array
}

/** The progress of reading stored spans again, because a later version derives more from them. At most one row. */
export interface PipelineRereadTable {
  id: Generated<number>
  /** Spans with smaller ids are not read yet. */
  before_span_row_id: number
}
