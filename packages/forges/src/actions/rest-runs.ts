import { urlBefore } from '../api/address.ts'
import { apiPath, askList, askObject, limitBytes, memberText, missingPart, projectNames } from '../api/answers.ts'
import type { AnnouncedRun, ApiRequest, Ask, ListedRun, RunAnswer, RunReference } from '../api/rest-api.ts'
import { parseDate } from '../body/date.ts'
import { isObject, type JsonObject } from '../body/fields.ts'

/** The maximum number of attempts of a run. GitHub allows fewer. */
const MAX_ATTEMPTS = 100

export const PROJECT_FORM = 'owner/name'

export const repositoryPath = (project: string): string => `/repos${apiPath(...projectNames(project, PROJECT_FORM))}`

/**
 * Reads `{ run, jobs }` of one attempt.
 *
 * @param pageSize the query for the largest page of jobs
 */
export async function readActionsRun(
  caller: Ask,
  { project, run: id, attempt }: RunReference,
  pageSize: ApiRequest['query'],
): Promise<RunAnswer> {
  const ask = limitBytes(caller)
  const runPath = `${repositoryPath(project)}/actions/runs${apiPath(id)}`
  const run = await askObject(ask, attempt === undefined ? runPath : `${runPath}/attempts/${attempt}`)
  if (run === undefined) return { kind: 'gone' }
  const number = attempt ?? readAttempt(run)
  const jobsPath = number === undefined ? `${runPath}/jobs` : `${runPath}/attempts/${number}/jobs`
  const jobs = await askList(ask, { path: jobsPath, query: pageSize, members: ['jobs', 'workflow_jobs'] })
  if (jobs !== undefined) return { kind: 'bundle', bundle: { run, jobs } }
  // A run may be deleted at any time. A missing list alone does not mean that.
  if ((await askObject(ask, runPath)) === undefined) return { kind: 'gone' }
  throw missingPart(jobsPath)
}

/** Reads the attempt of a run. Versions of Gitea before 1.27 write 0, and have no addresses of attempts. */
const readAttempt = (run: JsonObject): number | undefined => Number(memberText(run, 'run_attempt') ?? 0) || undefined

/** Returns the attempts of a listed run, the first one first. */
export function toActionsRuns(project: string, run: JsonObject): readonly ListedRun[] {
  const id = memberText(run, 'id') ?? ''
  const attempt = readAttempt(run)
  const createdAtNs = parseDate(run.created_at)
  const earlier = Array.from({ length: Math.min(attempt ?? 1, MAX_ATTEMPTS) - 1 }, (_, at) => ({
    reference: { project, run: id, attempt: at + 1 },
    createdAtNs,
  }))
  return [...earlier, { reference: { project, run: id, attempt }, createdAtNs, bundle: { run, jobs: [] } }]
}

/** Returns the run that a hook is about. */
export function findActionsRun(hook: JsonObject): AnnouncedRun | undefined {
  const project = memberText(hook, 'repository', 'full_name')
  const { workflow_run: run, workflow_job: job } = hook
  const id = memberText(run, 'id') ?? memberText(job, 'run_id')
  if (project === undefined || id === undefined) return undefined
  return {
    reference: { project, run: id, attempt: isObject(run) ? readAttempt(run) : undefined },
    serverUrl: urlBefore(memberText(hook, 'repository', 'html_url'), project),
  }
}
