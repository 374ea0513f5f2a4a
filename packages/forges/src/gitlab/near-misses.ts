import { isObject, type JsonObject } from '../body/fields.ts'
import { has, hasAny, isInteger } from '../body/shape.ts'
import { isForeign } from '../forge/foreign-bodies.ts'
import type { NearMiss } from '../forge/forge.ts'
import { bundle, jobLists } from './bodies.ts'
import { isRestJob } from './rest-jobs.ts'

const isDeployment = (values: JsonObject): boolean =>
  has(values, 'id', 'status', 'deployable') && isObject(values.environment)
const isMergeRequest = (values: JsonObject): boolean => has(values, 'iid', 'source_branch', 'target_branch')

/** The answers of the REST API that users mistake for records. Each body has the shape of at most one of them. */
export const nearMisses: readonly NearMiss[] = [
  {
    name: 'REST job',
    matches: isRestJob,
    advice: ({ id, pipeline }) =>
      `is a job of the REST API (job ${numeral(id)} of pipeline ${idText(pipeline)}), not a pipeline: give the array of all its jobs to penstock convert, or ${bundle}`,
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
