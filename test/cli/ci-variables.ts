/** The parts of a pipeline hook that a forge also gives to the pipeline's jobs as variables. */
export interface JobFacts {
  readonly object_attributes: Readonly<Record<string, unknown>>
  readonly project?: Readonly<Record<string, unknown>>
  readonly merge_request?: Readonly<Record<string, unknown>> | null
  readonly source_pipeline?: Readonly<Record<string, unknown>> | null
}
type Section = Readonly<Record<string, unknown>>

/** Returns the predefined variables that GitLab (18.9 and newer) gives to a job of the pipeline that a hook describes. */
export function ciVariables(hook: JobFacts, job: Section): Record<string, string> {
  const run = hook.object_attributes
  const project = hook.project ?? {}
  const request = hook.merge_request ?? {}
  const upstream = hook.source_pipeline ?? {}
  const runner = (job.runner ?? {}) as Section
  const environment = (job.environment ?? {}) as Section
  const variables: Record<string, unknown> = {
    CI_PIPELINE_ID: run.id,
    CI_PIPELINE_NAME: run.name,
    CI_PIPELINE_SOURCE: run.source,
    CI_PIPELINE_URL: run.url,
    CI_COMMIT_REF_NAME: run.ref,
    CI_COMMIT_TAG: run.tag === true ? run.ref : undefined,
    CI_COMMIT_SHA: run.sha,
    CI_COMMIT_BEFORE_SHA: run.before_sha,
    CI_PROJECT_ID: project.id,
    CI_PROJECT_TITLE: project.name,
    CI_PROJECT_URL: project.web_url,
    CI_PROJECT_PATH: project.path_with_namespace,
    CI_MERGE_REQUEST_IID: request.iid,
    CI_MERGE_REQUEST_TITLE: request.title,
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: request.target_branch,
    CI_UPSTREAM_PIPELINE_ID: upstream.pipeline_id,
    CI_UPSTREAM_JOB_ID: upstream.job_id,
    CI_UPSTREAM_PROJECT_ID: (upstream.project as Section | undefined)?.id,
    CI_JOB_ID: job.id,
    CI_JOB_NAME: job.name,
    CI_JOB_STAGE: job.stage,
    CI_RUNNER_ID: runner.id,
    CI_RUNNER_DESCRIPTION: runner.description,
    CI_ENVIRONMENT_NAME: environment.name,
    CI_ENVIRONMENT_ACTION: environment.action,
    CI_ENVIRONMENT_TIER: environment.deployment_tier,
    // The variable that the parent's trigger job passes on.
    PENSTOCK_ROOT_PIPELINE_ID: run.source === 'parent_pipeline' ? run.root_pipeline_id : undefined,
  }
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [[name, String(value)]],
    ),
  )
}
