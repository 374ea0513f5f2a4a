import { isObject, type JsonObject, quoted } from './fields.ts'
import { OtherHookError, RecordError } from './record-error.ts'
import { isRestJob } from './rest-jobs.ts'

export type BodyKind = 'pipeline' | 'build' | 'rest'

export const expectedBody = 'must be a pipeline hook, a job hook or { project, pipeline, jobs, bridges }'

/**
 * Returns the kind of a body. `object_kind` decides; if a relay left it out, the shape decides.
 *
 * @throws {OtherHookError} for a hook about another event
 * @throws {RecordError} for every other body. For bodies that are often mistaken for a record, the message has advice.
 */
export function kindOfBody(values: JsonObject): BodyKind {
  const kind = values.object_kind
  if (kind === 'pipeline' || kind === 'build') return kind
  if (isWord(kind)) throw new OtherHookError('object_kind', quoted(kind))
  const run = values.object_attributes
  if (isObject(run) && 'id' in run && 'status' in run) return 'pipeline'
  if ('build_id' in values && 'build_status' in values) return 'build'
  if (isObject(values.pipeline) && !isRestJob(values)) return 'rest'
  if (isWord(values.event_name)) throw new OtherHookError('event_name', quoted(values.event_name))
  throw new RecordError('', nearMisses.find(({ matches }) => matches(values))?.advice(values) ?? expectedBody)
}

const isWord = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''

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

interface NearMiss {
  readonly matches: (values: JsonObject) => boolean
  readonly advice: (values: JsonObject) => string
}

const bundle = '{ project, pipeline, jobs, bridges }'

/** The error message for an answer of `GET …/pipelines/N/jobs` that was given where a single record is expected. */
export const restJobsAdvice = `is a list of jobs of the REST API, not a pipeline: give it to penstock convert, or as ${bundle}`

const has = (values: JsonObject, ...keys: readonly string[]): boolean => keys.every((key) => key in values)

/** The objects at the top level of GitHub's hooks; each hook has one of them. */
const githubObjects = ['workflow_run', 'workflow_job', 'check_run', 'check_suite']
/** Lists that GitHub's API returns beside their `total_count`. */
const githubLists = ['workflow_runs', 'jobs', 'check_runs', 'check_suites']
const otlpMembers = ['resourceSpans', 'resourceMetrics', 'resourceLogs']

/** Tells whether a body is a hook or a list in the format of GitHub. GitLab's test reports have a `total_count`, too. */
function isOfGithub(values: JsonObject): boolean {
  const isList = 'total_count' in values && githubLists.some((name) => Array.isArray(values[name]))
  const isHook = 'sender' in values && isObject(values.repository) && 'full_name' in values.repository
  return isList || isHook || githubObjects.some((name) => isObject(values[name]))
}

/** The bodies that users mistake for records, most specific first. The advice never repeats a text of the body. */
const nearMisses: readonly NearMiss[] = [
  {
    matches: (values) => isRestJob(values),
    advice: ({ id, pipeline }) =>
      `is a job of the REST API (job ${numeral(id)} of pipeline ${numeral((pipeline as JsonObject).id)}), not a pipeline: give the array of all its jobs to penstock convert, or ${bundle}`,
  },
  {
    matches: isOfGithub,
    advice: () => 'is a payload in the format of GitHub; only pipelines in the format of GitLab are read',
  },
  {
    matches: (values) => capturedBody(values) !== undefined,
    advice: () => 'is a captured request ({ headers, body }); give its body alone',
  },
  {
    matches: (values) => otlpMembers.some((name) => Array.isArray(values[name])),
    advice: () => 'is OTLP already; send it to an OTLP endpoint as it is',
  },
  {
    matches: (values) => has(values, 'specversion', 'data'),
    advice: () => 'is an event envelope (CloudEvents); give its data alone',
  },
  {
    matches: (values) => isObject(values.data) || (Array.isArray(values.errors) && !('id' in values)),
    advice: () => `is an answer of a GraphQL API; give ${bundle} of the REST API`,
  },
  {
    matches: (values) => has(values, 'id', 'status', 'deployable') && isObject(values.environment),
    advice: ({ id, deployable }) =>
      `is a deployment of the REST API (${numeral(id)}), not a pipeline: give ${bundle} of ${deployingPipeline(deployable)}`,
  },
  {
    matches: (values) => has(values, 'id', 'cron', 'ref'),
    advice: ({ id }) =>
      `is a pipeline schedule of the REST API (${numeral(id)}), not a pipeline: give ${bundle} of a pipeline that it started`,
  },
  {
    matches: (values) => Array.isArray(values.test_suites) && ('total' in values || 'total_count' in values),
    advice: () => `is the test report of a pipeline, which is not read: give ${bundle} of the pipeline`,
  },
  {
    matches: (values) => has(values, 'id', 'status', 'sha'),
    advice: ({ id }) =>
      `is a pipeline of the REST API (${numeral(id)}) without its jobs: fetch .../pipelines/${numeral(id)}/jobs?include_retried=true and .../pipelines/${numeral(id)}/bridges and give ${bundle} (the README has the commands), or use penstock backfill, which fetches all of it`,
  },
  {
    matches: (values) => has(values, 'id', 'status', 'name'),
    advice: ({ id }) => `is a job (${numeral(id)}) that does not name its pipeline: give ${bundle}`,
  },
  {
    matches: (values) => has(values, 'id', 'path_with_namespace'),
    advice: () => `is a project of the REST API: give ${bundle}`,
  },
  {
    matches: (values) => !('id' in values) && ('message' in values || 'error' in values),
    advice: (values) =>
      `is an error answer of an API${statusIn(values)}, not a record; check the URL and the token of the request that saved it`,
  },
]

/** Returns an id as digits, or a fixed phrase if it is not an integer, because messages must not repeat texts of the body. */
function numeral(id: unknown): string {
  return typeof id === 'bigint' || Number.isSafeInteger(id) ? String(id) : 'without a usable id'
}

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
