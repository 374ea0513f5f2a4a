import { isObject, type JsonObject } from '../body/fields.ts'
import { hasAny, isWord } from '../body/shape.ts'
import { OtherHookError } from '../record/record-error.ts'

/** Matches the API of Gitea. That of GitHub has a host of its own, or the path `/api/v3/`. */
const giteaApi = /^https?:\/\/[^?#]*\/api\/v1\//i

/** Members of runs and jobs that only GitHub has. */
const githubMembers = ['node_id', 'check_suite_id', 'check_run_url', 'run_started_at', 'triggering_actor']
/** Members of runs that only Gitea has. GitHub's runs have `run_started_at`, and no end. */
const giteaRunMembers = ['trigger_actor', 'started_at', 'completed_at']
/** Members of a run of either, but of no other forge that lists jobs beside a run. */
const runMembers = ['head_sha', 'run_number', 'run_attempt', 'workflow_id', 'conclusion', 'html_url']

/** Members of runs that only Forgejo has. */
const forgejoMembers = ['index_in_repo', 'commit_sha', 'prettyref', 'trigger_user', 'stopped']

/** Returns whether a body is a hook about a run or a job. An artifact, which has an id, contains its run. */
export function isHook(values: JsonObject, name: 'workflow_run' | 'workflow_job'): boolean {
  return isObject(values[name]) && !hasAny(values, 'object_kind', 'total_count', 'id')
}

/** Returns whether a body is a bundle of a run and its jobs. */
export const isBundle = ({ run, jobs }: JsonObject): boolean =>
  isObject(run) &&
  'id' in run &&
  hasAny(run, ...runMembers) &&
  !isForgejoRun(run) &&
  (Array.isArray(jobs) || isObject(jobs))

/** Returns whether a run has the form of Forgejo, which has other fields. */
export const isForgejoRun = (run: JsonObject): boolean => 'id' in run && hasAny(run, ...forgejoMembers)

/**
 * Returns whether a hook or a bundle is Gitea's. Its format is GitHub's; they differ in the addresses of the API, and in members that only
 * one of the two has.
 */
export function isGitea(values: JsonObject): boolean {
  const subjects = [values.workflow_run, values.workflow_job, values.run].filter(isObject)
  if (subjects.some((subject) => hasAny(subject, ...githubMembers))) return false
  const urls = [...subjects, ...firstJobs(values)].flatMap(({ url, run_url }) => [url, run_url])
  if (isObject(values.repository)) urls.push(values.repository.url)
  if (urls.some((url) => isWord(url) && giteaApi.test(url))) return true
  return [values.workflow_run, values.run].some((run) => isObject(run) && hasAny(run, ...giteaRunMembers))
}

/** Returns the first job of a bundle. All its jobs have the same server. */
function firstJobs({ jobs }: JsonObject): readonly JsonObject[] {
  const listed = isObject(jobs) ? (jobs.jobs ?? jobs.workflow_jobs) : jobs
  return Array.isArray(listed) ? listed.slice(0, 1).filter(isObject) : []
}

/** Objects in hooks about other events, and the name of the event. */
const eventByMember: Readonly<Record<string, string>> = {
  check_run: 'check_run',
  check_suite: 'check_suite',
  deployment_status: 'deployment_status',
  deployment: 'deployment',
  pull_request: 'pull_request',
  issue: 'issues',
  release: 'release',
  pusher: 'push',
  hook: 'ping',
}

/** Returns the error for a hook about another event, which has a sender and usually a repository; `undefined` for other bodies. */
export function otherHook(values: JsonObject): OtherHookError | undefined {
  const { repository, sender } = values
  const isFromForge = isObject(sender) && (isObject(repository) ? 'full_name' in repository : 'hook' in values)
  if (!isFromForge || hasAny(values, 'object_kind', 'workflow_run', 'workflow_job')) return undefined
  const member = Object.keys(eventByMember).find((name) => isObject(values[name]))
  const event = (member && eventByMember[member]) ?? 'another event'
  return new OtherHookError('', event, 'about workflow_run or workflow_job')
}
