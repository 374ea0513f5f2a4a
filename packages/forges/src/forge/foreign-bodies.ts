import { isObject, type JsonObject } from '../body/fields.ts'
import { has, hasAny, isWord } from '../body/shape.ts'
import { isReadEvent } from './cdevent-type.ts'
import type { NearMiss } from './forge.ts'

/** Lists that the APIs of GitHub and Gitea return beside their `total_count`. */
const actionsLists = ['workflow_runs', 'workflow_jobs', 'jobs', 'check_runs', 'check_suites']
const otlpMembers = ['resourceSpans', 'resourceMetrics', 'resourceLogs']

/** A piece of a record of GitHub, Gitea or Forgejo. */
export type ActionsPart = 'run' | 'job' | 'list' | 'check' | 'forgejo run' | 'forgejo job'

/** Returns which piece of a record a body is. GitLab's test reports have a `total_count`, too. */
export function actionsPart(values: JsonObject): ActionsPart | undefined {
  const { id, check_run, check_suite } = values
  if ('total_count' in values && actionsLists.some((name) => Array.isArray(values[name]))) {
    return isObject(values.run) ? undefined : 'list'
  }
  if (id === undefined) return isObject(check_run) || isObject(check_suite) ? 'check' : undefined
  if (has(values, 'run_id', 'head_sha') || has(values, 'run_id', 'run_url')) return 'job'
  if (has(values, 'index_in_repo', 'commit_sha')) return 'forgejo run'
  if (has(values, 'task_id', 'runs_on')) return 'forgejo job'
  return has(values, 'run_number', 'head_sha') && hasAny(values, 'workflow_id', 'run_attempt') ? 'run' : undefined
}

/** Returns whether a body is an object of CircleCI's API, or a pipeline and a workflow without the jobs. */
export function isCircleciPart(values: JsonObject): boolean {
  const isApiObject = isWord(values.project_slug) && hasAny(values, 'pipeline_number', 'job_number', 'vcs', 'errors')
  return isApiObject || (isObject(values.pipeline) && isObject(values.workflow) && !hasAny(values, 'jobs', 'type'))
}

/** Returns whether a body is a build of Jenkins alone: of its API, or of its stage view. */
export function isJenkinsPart(values: JsonObject): boolean {
  const isBuild = isWord(values._class) && has(values, 'number', 'building')
  return isBuild || has(values, '_links', 'stages', 'durationMillis')
}

/** Returns whether a body has the form of another CI system. */
export const isForeign = (values: JsonObject): boolean =>
  actionsPart(values) !== undefined || isCircleciPart(values) || isJenkinsPart(values)

/** The bodies of no forge that users mistake for records, and those of forges that are not read. */
export const foreignBodies: readonly NearMiss[] = [
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
    matches: (values) => has(values, 'specversion', 'data') && !isReadEvent(values.type),
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
