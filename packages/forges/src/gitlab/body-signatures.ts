import { isObject, type JsonObject, quoted } from '../body/fields.ts'
import { isRestJob } from './rest-jobs.ts'

export type BodyKind = 'pipeline' | 'build' | 'rest' | 'pipeline with jobs'

/** A form of body that is read. */
interface ReadableBody {
  readonly kind: BodyKind
  readonly matches: (values: JsonObject) => boolean
}

/** A form of body that users mistake for a record. The advice repeats no text of the body. */
interface NearMiss {
  readonly name: string
  readonly matches: (values: JsonObject) => boolean
  readonly advice: (values: JsonObject) => string
}

export const isWord = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''

const has = (values: JsonObject, ...keys: readonly string[]): boolean => keys.every((key) => key in values)
const hasAny = (values: JsonObject, ...keys: readonly string[]): boolean => keys.some((key) => key in values)
const isInteger = (value: unknown): boolean => typeof value === 'bigint' || Number.isSafeInteger(value)

const jobLists = ['jobs', 'builds', 'bridges']

/**
 * The forms of bodies that are read. `object_kind` decides; if a relay left it out, the shape decides. A body that has two of
 * these shapes is refused.
 */
export const readableBodies: readonly ReadableBody[] = [
  { kind: 'pipeline', matches: ({ object_kind }) => object_kind === 'pipeline' },
  { kind: 'build', matches: ({ object_kind }) => object_kind === 'build' },
  {
    kind: 'pipeline',
    matches: ({ object_kind, object_attributes: run }) =>
      !isWord(object_kind) && isObject(run) && has(run, 'id', 'status'),
  },
  {
    kind: 'build',
    matches: (values) => !isWord(values.object_kind) && has(values, 'build_id', 'build_status'),
  },
  {
    kind: 'rest',
    matches: (values) =>
      !isWord(values.object_kind) &&
      isObject(values.pipeline) &&
      hasAny(values, ...jobLists) &&
      !hasAny(values, 'id', 'workflow'),
  },
  {
    kind: 'pipeline with jobs',
    matches: (values) =>
      !hasAny(values, 'pipeline', 'object_kind', 'object_attributes') &&
      isInteger(values.id) &&
      isWord(values.status) &&
      Array.isArray(values.jobs),
  },
]

export const bundle = '{ project, pipeline, jobs, bridges }'

/** The objects at the top level of GitHub's hooks; each hook has one of them. */
const githubObjects = ['workflow_run', 'workflow_job', 'check_run', 'check_suite']
/** Lists that GitHub's API returns beside their `total_count`. */
const githubLists = ['workflow_runs', 'workflow_jobs', 'jobs', 'check_runs', 'check_suites']
const otlpMembers = ['resourceSpans', 'resourceMetrics', 'resourceLogs']
const circleciEvents = ['workflow-completed', 'job-completed']

/** Returns whether a body is a hook, a list or an object in the format of GitHub. GitLab's test reports have a `total_count`, too. */
function isGithubBody(values: JsonObject): boolean {
  const isList = 'total_count' in values && githubLists.some((name) => Array.isArray(values[name]))
  const isHook = 'sender' in values && isObject(values.repository) && 'full_name' in values.repository
  const isRun = has(values, 'id', 'run_number', 'head_sha') && hasAny(values, 'workflow_id', 'run_attempt')
  const isJob = has(values, 'id', 'run_id', 'head_sha')
  return isList || isHook || isRun || isJob || githubObjects.some((name) => isObject(values[name]))
}

/** Returns whether a body is a hook or an object of CircleCI's API, or its own bundle. */
function isCircleciBody(values: JsonObject): boolean {
  const isHook = circleciEvents.includes(String(values.type)) && hasAny(values, 'workflow', 'pipeline')
  const isApiObject = isWord(values.project_slug) && hasAny(values, 'pipeline_number', 'job_number', 'vcs', 'errors')
  return isHook || isApiObject || (isObject(values.pipeline) && isObject(values.workflow))
}

/** Returns whether a body is a build of Jenkins: of its API, of its stage view, or both in a bundle. */
function isJenkinsBody(values: JsonObject): boolean {
  const isBuild = isWord(values._class) && has(values, 'number', 'building')
  const isStages = has(values, '_links', 'stages', 'durationMillis')
  return isBuild || isStages || (isObject(values.build) && isObject(values.stages))
}

/** Returns whether a body has the form of another CI system. */
const isForeign = (values: JsonObject): boolean =>
  isGithubBody(values) || isCircleciBody(values) || isJenkinsBody(values)

const onlyGitlab = 'only pipelines in the format of GitLab are read'
const isDeployment = (values: JsonObject): boolean =>
  has(values, 'id', 'status', 'deployable') && isObject(values.environment)
const isMergeRequest = (values: JsonObject): boolean => has(values, 'iid', 'source_branch', 'target_branch')

/** The bodies that users mistake for records. Each body has the shape of at most one of them. */
export const nearMisses: readonly NearMiss[] = [
  {
    name: 'REST job',
    matches: isRestJob,
    advice: ({ id, pipeline }) =>
      `is a job of the REST API (job ${numeral(id)} of pipeline ${idText(pipeline)}), not a pipeline: give the array of all its jobs to penstock convert, or ${bundle}`,
  },
  {
    name: 'GitHub',
    matches: isGithubBody,
    advice: () => `is a payload in the format of GitHub; ${onlyGitlab}`,
  },
  {
    name: 'CircleCI',
    matches: isCircleciBody,
    advice: () => `is a payload in the format of CircleCI; ${onlyGitlab}`,
  },
  {
    name: 'Jenkins',
    matches: isJenkinsBody,
    advice: () => `is a build in the format of Jenkins; ${onlyGitlab}`,
  },
  {
    name: 'captured request',
    matches: (values) => capturedBody(values) !== undefined,
    advice: () => 'is a captured request ({ headers, body }); give its body alone',
  },
  {
    name: 'OTLP',
    matches: (values) => otlpMembers.some((name) => Array.isArray(values[name])),
    advice: () => 'is OTLP already; send it to an OTLP endpoint as it is',
  },
  {
    name: 'CloudEvent',
    matches: (values) => has(values, 'specversion', 'data'),
    advice: () => 'is an event envelope (CloudEvents); give its data alone',
  },
  {
    name: 'GraphQL answer',
    matches: (values) =>
      (isObject(values.data) && !('specversion' in values)) || (Array.isArray(values.errors) && !('id' in values)),
    advice: () => `is an answer of a GraphQL API; give ${bundle} of the REST API`,
  },
  {
    name: 'merge request',
    matches: isMergeRequest,
    advice: ({ iid, head_pipeline, pipeline }) =>
      `is a merge request of the REST API (${numeral(iid)}), not a pipeline: give ${bundle} of ${pipelineNamed(head_pipeline ?? pipeline)}`,
  },
  {
    name: 'merge train',
    matches: (values) => has(values, 'merge_request', 'target_branch', 'pipeline') && !('iid' in values),
    advice: ({ pipeline }) =>
      `is a car of a merge train of the REST API, not a pipeline: give ${bundle} of ${pipelineNamed(pipeline)}`,
  },
  {
    name: 'package',
    matches: (values) => has(values, 'package_type', 'version'),
    advice: ({ pipeline }) =>
      `is a package of the REST API, not a pipeline: give ${bundle} of ${pipelineNamed(pipeline)}`,
  },
  {
    name: 'deployment',
    matches: isDeployment,
    advice: ({ id, deployable }) =>
      `is a deployment of the REST API (${numeral(id)}), not a pipeline: give ${bundle} of ${deployingPipeline(deployable)}`,
  },
  {
    name: 'pipeline schedule',
    matches: (values) => has(values, 'id', 'cron', 'ref'),
    advice: ({ id }) =>
      `is a pipeline schedule of the REST API (${numeral(id)}), not a pipeline: give ${bundle} of a pipeline that it started`,
  },
  {
    name: 'test report',
    matches: (values) => Array.isArray(values.test_suites) && ('total' in values || 'total_count' in values),
    advice: () => `is the test report of a pipeline, which is not read: give ${bundle} of the pipeline`,
  },
  {
    name: 'REST pipeline',
    matches: (values) =>
      has(values, 'id', 'status', 'sha') &&
      !hasAny(values, 'jobs', 'pipeline') &&
      !isDeployment(values) &&
      !isMergeRequest(values) &&
      !isForeign(values),
    advice: ({ id }) => `is a pipeline of the REST API (${numeral(id)}) without its jobs: ${withoutJobs(id)}`,
  },
  {
    name: 'pipeline without jobs',
    matches: ({ pipeline, ...others }) =>
      isObject(pipeline) &&
      has(pipeline, 'id', 'status') &&
      !hasAny(others, 'id', 'iid', 'target_branch', 'package_type', 'workflow', ...jobLists),
    advice: ({ pipeline }) =>
      `holds pipeline ${idText(pipeline)} without its jobs: ${withoutJobs((pipeline as JsonObject).id)}`,
  },
  {
    name: 'job without its pipeline',
    matches: (values) =>
      has(values, 'id', 'status', 'name') &&
      !hasAny(values, 'sha', 'jobs', 'pipeline', 'package_type', 'cron') &&
      !isDeployment(values) &&
      !isForeign(values),
    advice: ({ id }) => `is a job (${numeral(id)}) that does not name its pipeline: give ${bundle}`,
  },
  {
    name: 'project',
    matches: (values) => has(values, 'id', 'path_with_namespace'),
    advice: () => `is a project of the REST API: give ${bundle}`,
  },
  {
    name: 'error answer',
    matches: (values) => !hasAny(values, 'id', 'data', 'errors', 'pipeline') && hasAny(values, 'message', 'error'),
    advice: (values) =>
      `is an error answer of an API${statusIn(values)}, not a record; check the URL and the token of the request that saved it`,
  },
]

/** The members that hold headers and body of a captured request. The last pair is used by GitLab's webhook history. */
const captures = [
  { headers: 'headers', body: 'body' },
  { headers: 'headers', body: 'payload' },
  { headers: 'headers', body: 'content' },
  { headers: 'request_headers', body: 'request_data' },
] as const

/**
 * Returns the request body inside `{ headers, body }`, the form in which tools save webhooks. It is a text or a JSON value;
 * `undefined` if the body is not a captured request.
 */
export function capturedBody(values: JsonObject): unknown {
  const capture = captures.find(({ headers, body }) => {
    return (
      typeof values[headers] === 'object' &&
      values[headers] !== null &&
      (isObject(values[body]) || isWord(values[body]))
    )
  })
  if (capture === undefined) return undefined
  const body = values[capture.body]
  return values.isBase64Encoded === true && typeof body === 'string' ? Buffer.from(body, 'base64').toString() : body
}

const withoutJobs = (id: unknown): string =>
  `fetch .../pipelines/${numeral(id)}/jobs?include_retried=true and .../pipelines/${numeral(id)}/bridges and give ${bundle} (docs/guides/converting.md has the commands), or use penstock backfill, which fetches all of it`

/** Returns an id as digits, or a fixed phrase if it is not an integer, because messages must not repeat texts of the body. */
function numeral(id: unknown): string {
  return isInteger(id) ? String(id) : 'without a usable id'
}

const idText = (pipeline: unknown): string => numeral(isObject(pipeline) ? pipeline.id : undefined)

const pipelineNamed = (pipeline: unknown): string =>
  isObject(pipeline) ? `pipeline ${idText(pipeline)}` : 'its pipeline'

/** Names the pipeline of a deployment's job; a deployment through the API has no job. */
function deployingPipeline(deployable: unknown): string {
  const id = isObject(deployable) && isObject(deployable.pipeline) ? deployable.pipeline.id : undefined
  return id === undefined ? 'the pipeline that deployed' : `pipeline ${numeral(id)}, which it belongs to`
}

/** Returns the status in a REST error, such as ` (401)` for `{"message": "401 Unauthorized"}`. */
function statusIn({ message, error, status }: JsonObject): string {
  const found = [message, error, status].map((each) => /^[45]\d\d\b/.exec(String(each))?.[0]).find(Boolean)
  return found === undefined ? '' : ` (${found})`
}

/** A member with the name of the event of a hook about something else, and that name for messages. */
interface OtherEvent {
  readonly member: 'object_kind' | 'event_name'
  readonly event: string
}

/** Returns the event of a hook about something else; `undefined` for other bodies. */
export function otherEvent({ object_kind, event_name }: JsonObject): OtherEvent | undefined {
  if (isWord(object_kind)) return { member: 'object_kind', event: quoted(object_kind) }
  return isWord(event_name) ? { member: 'event_name', event: quoted(event_name) } : undefined
}
