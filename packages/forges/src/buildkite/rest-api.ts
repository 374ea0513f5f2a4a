import { apiAddress, bearer } from '../api/address.ts'
import { apiPath, askObject, limitBytes, MAX_RUN_JOBS, memberText, projectNames } from '../api/answers.ts'
import type { ForgeApi } from '../api/rest-api.ts'
import { isoTime, listNumbered } from '../api/run-lists.ts'
import { parseDate } from '../body/date.ts'
import { RecordError } from '../record/record-error.ts'

const PROJECT_FORM = 'organization/pipeline'
const CLOUD = 'https://api.buildkite.com/v2'

function buildsPath(project: string): string {
  const [organization = '', pipeline = ''] = projectNames(project, PROJECT_FORM)
  return `/organizations${apiPath(organization)}/pipelines${apiPath(pipeline)}/builds`
}

export const api: ForgeApi = {
  apiUrl: apiAddress('/v2', { 'buildkite.com': CLOUD, 'api.buildkite.com': CLOUD }),
  credentials: bearer,
  rateLimit: { remaining: 'ratelimit-remaining', reset: 'ratelimit-reset' },
  tokenNeeds: 'the scope read_builds and access to the organization',
  projectForm: PROJECT_FORM,
  listRuns: (ask, { project, sinceNs, untilNs, perPage }) =>
    listNumbered(ask, {
      path: buildsPath(project),
      query: {
        per_page: perPage,
        exclude_jobs: 'true',
        created_from: sinceNs === undefined ? undefined : isoTime(sinceNs),
        created_to: isoTime(untilNs),
      },
      toRuns: (build) => [
        {
          reference: { project, run: memberText(build, 'number') ?? '' },
          createdAtNs: parseDate(build.created_at),
          bundle: { ...build, jobs: [] },
        },
      ],
    }),
  readRun: async (caller, { project, run }) => {
    const path = `${buildsPath(project)}${apiPath(run)}`
    const build = await askObject(limitBytes(caller), path, { include_retried_jobs: 'true' })
    if (build === undefined) return { kind: 'gone' }
    if (!Array.isArray(build.jobs) || build.jobs.length > MAX_RUN_JOBS) {
      throw new RecordError('', `${path}: the build has no list of jobs or more than ${MAX_RUN_JOBS}`)
    }
    return { kind: 'bundle', bundle: build }
  },
  findRun: (hook) => {
    const url = memberText(hook, 'build', 'url')
    const found = /^(https?:\/\/[^/]+)\/v2\/organizations\/([^/]+)\/pipelines\/([^/]+)\/builds\/(\d+)$/.exec(url ?? '')
    if (found === null) return undefined
    const [, serverUrl, organization, pipeline, run = ''] = found
    return { reference: { project: `${organization}/${pipeline}`, run }, serverUrl }
  },
}
