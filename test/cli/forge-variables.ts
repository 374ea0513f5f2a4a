/** The variables of a job, and its id and that of its run as the export writes them. */
export interface ForgeJob {
  readonly env: Record<string, string>
  readonly runId: string
  readonly jobId: string | undefined
  /** The flags that name what no variable has. */
  readonly flags?: readonly string[]
}

/** A parsed body. Tests read the fields that the fixtures have. */
// biome-ignore lint/suspicious/noExplicitAny: fixtures have many forms
type Body = any

/** Returns the variables with a value, as texts. */
const present = (values: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => [name, String(value)]),
  )

const listed = (value: Body, key: string): Body[] => (Array.isArray(value) ? value : (value?.[key] ?? []))
const withoutBraces = (uuid: string): string => uuid.slice(1, -1)
const sshUrl = (url: string | undefined) => url?.replace(/^https:\/\/([^/]+)\/(.+)$/, 'git@$1:$2.git')

function circleci({ pipeline, workflow, project, job, jobs }: Body): ForgeJob[] {
  const { vcs, trigger_parameters: parameters } = pipeline
  const repository = sshUrl(vcs?.target_repository_url) ?? parameters?.git?.checkout_url
  const run = {
    CIRCLE_WORKFLOW_ID: workflow.id,
    CIRCLE_BRANCH: vcs?.branch ?? parameters?.git?.branch,
    CIRCLE_TAG: vcs?.tag,
    CIRCLE_SHA1: vcs?.revision ?? parameters?.git?.checkout_sha,
    CIRCLE_REPOSITORY_URL: repository,
    CIRCLE_PROJECT_REPONAME:
      project?.name ??
      repository
        ?.split('/')
        .at(-1)
        ?.replace(/\.git$/, ''),
  }
  return [undefined, ...(job ? [job] : listed(jobs, 'items'))].map((each) => ({
    env: present({ ...run, CIRCLE_WORKFLOW_JOB_ID: each?.id, CIRCLE_JOB: each?.name }),
    runId: workflow.id,
    jobId: each?.id,
  }))
}

function buildkite(body: Body): ForgeJob[] {
  const build = body.build ?? body
  const pipeline = body.pipeline ?? build.pipeline
  const run = {
    BUILDKITE_BUILD_ID: build.id,
    BUILDKITE_BUILD_NUMBER: build.number,
    BUILDKITE_BUILD_URL: build.web_url,
    BUILDKITE_BRANCH: build.branch,
    BUILDKITE_TAG: build.tag ?? '',
    BUILDKITE_COMMIT: build.commit,
    BUILDKITE_SOURCE: build.source,
    BUILDKITE_TRIGGERED_FROM_BUILD_ID: build.triggered_from?.build_id,
    BUILDKITE_PULL_REQUEST: build.pull_request?.id ?? 'false',
    BUILDKITE_PULL_REQUEST_BASE_BRANCH: build.pull_request?.base ?? '',
    BUILDKITE_PIPELINE_ID: pipeline.id,
    BUILDKITE_PIPELINE_NAME: pipeline.name,
    BUILDKITE_PIPELINE_SLUG: pipeline.slug,
    BUILDKITE_REPO: pipeline.repository,
  }
  const jobs = (body.job ? [body.job] : (build.jobs ?? [])).filter(({ type }: Body) => type === 'script')
  return jobs.map((job: Body) => ({
    env: present({
      ...run,
      BUILDKITE_JOB_ID: job.id,
      BUILDKITE_LABEL: job.name ?? job.label,
      BUILDKITE_STEP_KEY: job.step_key,
      BUILDKITE_RETRY_COUNT: job.retries_count ?? 0,
      BUILDKITE_PARALLEL_JOB: job.parallel_group_index,
      BUILDKITE_AGENT_ID: job.agent?.id,
      BUILDKITE_AGENT_NAME: job.agent?.name,
    }),
    runId: build.id,
    jobId: job.id,
  }))
}

function azure(body: Body): ForgeJob[] {
  const build = body.build ?? body.resource
  const [, collection, projectId] = /^(.+\/)([^/]+)\/_apis\//.exec(build.url) ?? []
  const run = {
    BUILD_BUILDID: build.id,
    SYSTEM_TEAMFOUNDATIONCOLLECTIONURI: collection,
    SYSTEM_TEAMPROJECTID: projectId,
    SYSTEM_TEAMPROJECT: build.project?.name,
    BUILD_DEFINITIONNAME: build.definition.name,
    BUILD_REASON: build.reason && build.reason[0].toUpperCase() + build.reason.slice(1),
    BUILD_SOURCEBRANCH: build.sourceBranch,
    BUILD_SOURCEVERSION: build.sourceVersion,
    BUILD_REPOSITORY_URI: build.repository?.url,
    BUILD_REPOSITORY_NAME: build.repository?.name,
    SYSTEM_PULLREQUEST_PULLREQUESTNUMBER: build.triggerInfo?.['pr.number'],
    SYSTEM_PULLREQUEST_SOURCEBRANCH: build.triggerInfo?.['pr.sourceBranch'],
  }
  const records = listed(body.timeline, 'records')
  const stageName = (record: Body): string | undefined => {
    const parent = records.find(({ id }) => id === record.parentId)
    return parent === undefined || parent.type === 'Stage' ? parent?.name : stageName(parent)
  }
  return [undefined, ...records.filter(({ type }) => type === 'Job')].map((job) => ({
    env: present({
      ...run,
      SYSTEM_JOBID: job?.id,
      SYSTEM_JOBDISPLAYNAME: job?.name,
      SYSTEM_JOBATTEMPT: job?.attempt,
      SYSTEM_STAGEDISPLAYNAME: job && stageName(job),
    }),
    runId: String(build.id),
    jobId: job?.id,
  }))
}

function jenkins({ build, stages }: Body): ForgeJob[] {
  const checkouts = build.actions.filter((action: Body) => action?.lastBuiltRevision)
  const { lastBuiltRevision, remoteUrls } = checkouts.at(-1) ?? {}
  const cause = build.actions
    .flatMap((action: Body) => action?.causes ?? [])
    .find(({ upstreamProject }: Body) => upstreamProject)
  const run = {
    BUILD_NUMBER: build.number,
    BUILD_URL: build.url,
    GIT_COMMIT: lastBuiltRevision?.SHA1,
    GIT_BRANCH: lastBuiltRevision?.branch[0].name,
    GIT_URL: remoteUrls?.[0],
    PENSTOCK_ROOT_PIPELINE_ID: cause && `${cause.upstreamProject}#${cause.upstreamBuild}`,
  }
  const names = [...String(build.url).matchAll(/\/job\/([^/]+)/g)].map(([, name = '']) => decodeURIComponent(name))
  return [undefined, ...listed(stages, 'stages')].map((stage) => ({
    env: present({ ...run, STAGE_NAME: stage?.name }),
    runId: `${names.join('/')}#${build.number}`,
    jobId: stage?.id,
    flags: stage === undefined ? [] : ['--job-id', stage.id],
  }))
}

function bitbucket({ pipeline, steps }: Body): ForgeJob[] {
  const { target } = pipeline
  const isTag = target.ref_type === 'tag'
  const run = {
    BITBUCKET_PIPELINE_UUID: pipeline.uuid,
    BITBUCKET_REPO_FULL_NAME: pipeline.repository.full_name,
    BITBUCKET_REPO_UUID: pipeline.repository.uuid,
    BITBUCKET_BUILD_NUMBER: pipeline.build_number,
    BITBUCKET_STEP_RUN_NUMBER: pipeline.run_number,
    BITBUCKET_BRANCH: isTag ? undefined : (target.ref_name ?? target.source),
    BITBUCKET_TAG: isTag ? target.ref_name : undefined,
    BITBUCKET_COMMIT: target.commit?.hash,
    BITBUCKET_PR_ID: target.pullrequest?.id,
    BITBUCKET_PR_DESTINATION_BRANCH: target.destination,
  }
  const own = listed(steps, 'values').filter(
    ({ run_number: number }) => number === undefined || number === pipeline.run_number,
  )
  return [undefined, ...own].map((step) => ({
    env: present({ ...run, BITBUCKET_STEP_UUID: step?.uuid }),
    runId: withoutBraces(pipeline.uuid),
    jobId: step && withoutBraces(step.uuid),
  }))
}

function forgejo({ run, jobs }: Body): ForgeJob[] {
  const [, server, path] = /^(https?:\/\/[^/]+)\/(.+)$/.exec(run.repository.html_url) ?? []
  const env = {
    GITHUB_RUN_ID: run.id,
    GITHUB_RUN_NUMBER: run.index_in_repo,
    GITHUB_SERVER_URL: server,
    GITHUB_REPOSITORY: path,
    GITHUB_WORKFLOW: run.workflow_id,
    GITHUB_EVENT_NAME: run.trigger_event ?? run.event,
    GITHUB_REF_NAME: run.prettyref,
    GITHUB_SHA: run.commit_sha,
  }
  return [undefined, ...listed(jobs, 'jobs')].map((job) => ({
    env: present(env),
    runId: String(run.id),
    jobId: job && String(job.id),
    flags: job === undefined ? [] : ['--job-id', String(job.id)],
  }))
}

/** Returns the jobs of a body, and where a forge may not say the id of the job, a job without it. */
export const jobsOfForge: Readonly<Record<string, (body: unknown) => ForgeJob[]>> = {
  circleci,
  buildkite,
  azure,
  jenkins,
  bitbucket,
  forgejo,
}
