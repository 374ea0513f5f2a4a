import { isObject, type JsonObject } from '../body/fields.ts'
import { has, hasAny, isWord } from '../body/shape.ts'
import type { NearMiss } from './forge.ts'

/** The objects at the top level of GitHub's hooks; each hook has one of them. */
const githubObjects = ['workflow_run', 'workflow_job', 'check_run', 'check_suite']
/** Lists that GitHub's API returns beside their `total_count`. */
const githubLists = ['workflow_runs', 'workflow_jobs', 'jobs', 'check_runs', 'check_suites']
const otlpMembers = ['resourceSpans', 'resourceMetrics', 'resourceLogs']

/** Returns whether a body is a hook, a list or an object in the format of GitHub. GitLab's test reports have a `total_count`, too. */
function isGithubBody(values: JsonObject): boolean {
  const isList = 'total_count' in values && githubLists.some((name) => Array.isArray(values[name]))
  const isHook = 'sender' in values && isObject(values.repository) && 'full_name' in values.repository
  const isRun = has(values, 'id', 'run_number', 'head_sha') && hasAny(values, 'workflow_id', 'run_attempt')
  const isJob = has(values, 'id', 'run_id', 'head_sha')
  return isList || isHook || isRun || isJob || githubObjects.some((name) => isObject(values[name]))
}

/** Returns whether a body is an object of CircleCI's API, or a pipeline and a workflow without the jobs. */
export function isCircleciPart(values: JsonObject): boolean {
  const isApiObject = isWord(values.project_slug) && hasAny(values, 'pipeline_number', 'job_number', 'vcs', 'errors')
  return isApiObject || (isObject(values.pipeline) && isObject(values.workflow) && !hasAny(values, 'jobs', 'type'))
}

/** Returns whether a body is a build of Jenkins: of its API, of its stage view, or both in a bundle. */
function isJenkinsBody(values: JsonObject): boolean {
  const isBuild = isWord(values._class) && has(values, 'number', 'building')
  const isStages = has(values, '_links', 'stages', 'durationMillis')
  return isBuild || isStages || (isObject(values.build) && isObject(values.stages))
}

/** Returns whether a body has the form of another CI system. */
export const isForeign = (values: JsonObject): boolean =>
  isGithubBody(values) || isCircleciPart(values) || isJenkinsBody(values)

const onlyGitlab = 'only pipelines in the format of GitLab are read'

/** The bodies of no forge that users mistake for records, and those of forges that are not read. */
export const foreignBodies: readonly NearMiss[] = [
  {
    name: 'GitHub',
    matches: isGithubBody,
    advice: () => `is a payload in the format of GitHub; ${onlyGitlab}`,
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
