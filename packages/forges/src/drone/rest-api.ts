import { apiAddress, bearer } from '../api/address.ts'
import { apiPath, askObject, limitBytes, MAX_RUN_JOBS, memberText, projectNames } from '../api/answers.ts'
import type { ForgeApi } from '../api/rest-api.ts'
import { listNumbered, unixTimeNs } from '../api/run-lists.ts'
import { RecordError } from '../record/record-error.ts'

const PROJECT_FORM = 'owner/name'
const MAX_PAGE = 100

const buildsPath = (project: string): string => `/repos${apiPath(...projectNames(project, PROJECT_FORM))}/builds`

export const api: ForgeApi = {
  apiUrl: apiAddress('/api'),
  credentials: bearer,
  rateLimit: { remaining: 'ratelimit-remaining', reset: 'ratelimit-reset' },
  tokenNeeds: 'to be the personal token of a user who may read the repository',
  isUnnamed: true,
  projectForm: PROJECT_FORM,
  listRuns: (ask, { project, sinceNs, perPage }) =>
    listNumbered(ask, {
      path: buildsPath(project),
      query: { per_page: Math.min(perPage, MAX_PAGE) },
      toRuns: (build) => [
        {
          reference: { project, run: memberText(build, 'number') ?? '' },
          createdAtNs: unixTimeNs(build.created, 1),
          bundle: { ...build, stages: [] },
        },
      ],
      sinceNs,
    }),
  readRun: async (caller, { project, run }) => {
    const path = `${buildsPath(project)}${apiPath(run)}`
    const build = await askObject(limitBytes(caller), path)
    if (build === undefined) return { kind: 'gone' }
    // If the configuration could not be read, there are no stages.
    const stages: unknown = build.stages ?? []
    if (!Array.isArray(stages) || stages.length > MAX_RUN_JOBS) {
      throw new RecordError('', `${path}: stages must be a list of at most ${MAX_RUN_JOBS}`)
    }
    return { kind: 'bundle', bundle: { ...build, stages } }
  },
  findRun: (hook) => {
    const project = memberText(hook, 'repo', 'slug')
    const run = memberText(hook, 'build', 'number')
    if (project === undefined || run === undefined) return undefined
    return { reference: { project, run }, serverUrl: memberText(hook, 'system', 'link') }
  },
}
