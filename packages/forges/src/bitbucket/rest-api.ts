import { apiAddress, basic, bearer } from '../api/address.ts'
import { apiPath, askList, askObject, limitBytes, memberText, missingPart, projectNames } from '../api/answers.ts'
import type { ForgeApi } from '../api/rest-api.ts'
import { listNumbered } from '../api/run-lists.ts'
import { parseDate } from '../body/date.ts'

const PROJECT_FORM = 'workspace/name'
const CLOUD = 'https://api.bitbucket.org/2.0'
const MAX_PAGE = 100

const pipelinesPath = (project: string): string =>
  `/repositories${apiPath(...projectNames(project, PROJECT_FORM))}/pipelines`

export const api: ForgeApi = {
  apiUrl: apiAddress('/2.0', { 'bitbucket.org': CLOUD, 'api.bitbucket.org': CLOUD }),
  // An API token belongs to an account: `mail address:token`. An access token of a repository stands alone.
  credentials: (token) => (token.includes(':') ? basic(token) : bearer(token)),
  rateLimit: { remaining: 'x-ratelimit-remaining', reset: 'x-ratelimit-reset' },
  tokenNeeds: 'the scope read:pipeline:bitbucket and access to the repository',
  projectForm: PROJECT_FORM,
  listRuns: (ask, { project, sinceNs, perPage }) =>
    listNumbered(ask, {
      path: pipelinesPath(project),
      query: { sort: '-created_on', pagelen: Math.min(perPage, MAX_PAGE) },
      members: ['values'],
      idMember: 'uuid',
      toRuns: (pipeline) => [
        {
          reference: {
            project,
            run: memberText(pipeline, 'uuid') ?? '',
            attempt: Number(memberText(pipeline, 'run_number') ?? 0) || undefined,
          },
          createdAtNs: parseDate(pipeline.created_on),
          bundle: { pipeline, steps: [] },
        },
      ],
      sinceNs,
    }),
  readRun: async (caller, { project, run }) => {
    const ask = limitBytes(caller)
    // A pipeline is found by its UUID in braces and by its number.
    const path = `${pipelinesPath(project)}${apiPath(run)}`
    const pipeline = await askObject(ask, path)
    if (pipeline === undefined) return { kind: 'gone' }
    const stepsPath = `${path}/steps`
    const steps = await askList(ask, {
      path: stepsPath,
      query: { pagelen: MAX_PAGE },
      members: ['values'],
      idMember: 'uuid',
    })
    if (steps !== undefined) return { kind: 'bundle', bundle: { pipeline, steps } }
    if ((await askObject(ask, path)) === undefined) return { kind: 'gone' }
    throw missingPart(stepsPath)
  },
  findRun: (hook) => {
    // A pipeline that is still running has hooks, too.
    if (memberText(hook, 'commit_status', 'state') === 'INPROGRESS') return undefined
    const url = memberText(hook, 'commit_status', 'url') ?? ''
    // Older hooks lead to a page of the repository, with the number after `#!/results/`.
    const found = /^(https?:\/\/[^/]+)\/([^/]+\/[^/]+)\/(?:addon\/)?pipelines\/(?:[^?]*\/)?results\/(\d+)/.exec(url)
    if (found === null) return undefined
    const [, serverUrl, project = '', run = ''] = found
    return { reference: { project: memberText(hook, 'repository', 'full_name') ?? project, run }, serverUrl }
  },
}
